"""The query of a list of items: filters, search and sorting."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar
from uuid import UUID

from fastapi import Request
from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.config import JsonDict

from catalog_service.fields.definitions import NONE, PREFIX, Fields
from catalog_service.fields.filters import ABOUT_FILTERS, field_of, order_of
from catalog_service.search.windows import by_relevance
from catalog_service.values import PriorityLevel
from catalog_service.verdicts import Basis
from chassis.core.problems import Invalid
from chassis.core.wording import listed
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.facets import Facet
from chassis.web.filters import LONGEST_FILTER
from chassis.web.keyset import By, Order
from chassis.web.listing import Ids, PageQuery, PageRequest
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    UPDATED_SINCE,
    Choice,
    Sort,
    alternatives,
    parse_choice,
    parse_expand,
    parse_moment,
    parse_own_ids,
    parse_sort,
    parse_words,
    sorts,
)

_SORTS = {
    "created_at": By("created_at", datetime),
    "updated_at": By("updated_at", datetime),
    "title": By("title", str, expression="lower({})"),
    "priority": By("priority", str, expression="array_position(ARRAY['low', 'medium', 'high', 'critical'], {})"),
    "external_id": By("external_id", str, nullable=True),
    "position": By("position", str),
}
_RELEVANCE = "relevance"
_NOT_SEARCHED = f"Relevance is to what is searched for: send `search`, too, or sort by {listed(_SORTS)}."
_NEWEST_FIRST = Sort("created_at", descending=True)

FACETS = (
    *(Facet(name, name) for name in ("module", "status", "type", "priority")),
    Facet("tag", "CASE WHEN cardinality(tags) = 0 THEN '{NULL}' ELSE tags END", many=True),
)
"""What items of both kinds are counted by."""

Search = Annotated[
    str | None,
    Field(
        max_length=500,
        description="What GET /search finds: words by their beginning and in their other forms, parts of identifiers,"
        ' "a phrase", -without, this or that, in all texts of an item.',
        examples=["door closing"],
    ),
]
_ABOUT_COVERAGE = (
    "coverage: adds `coverage` to each item: its `state` (none, covered, suspect), and how many"
    " `links`, `suspect_links` and `pending_suggestions` it has."
)
COVERAGE, RELATIONS = "coverage", "relations"
"""What `expand` can add."""
Expand = Annotated[
    str | None,
    Field(description=_ABOUT_COVERAGE, examples=[COVERAGE], json_schema_extra={"enum": [COVERAGE]}),
]
ExpandRequirement = Annotated[
    str | None,
    Field(
        description=f"{_ABOUT_COVERAGE} relations: adds `rolled` and `rolled_coverage`, which tell of the requirement"
        " with all that stand below it. Both: with a comma between them.",
        examples=[COVERAGE],
        json_schema_extra={"enum": [COVERAGE, RELATIONS, f"{COVERAGE},{RELATIONS}"]},
    ),
]
OF_ONE = ("links", "verdict", "timeline")
"""What `expand` of one item can add beside what that of a list can."""


def expand_of_one(expandable: Sequence[str]) -> Any:
    """Return the type of `expand` of one item, whose list can be expanded with `expandable`."""
    names = (*expandable, *OF_ONE)
    about = (
        f"{', '.join(expandable)}: as in lists. links: its links, with who made and confirmed them and the item at the"
        " other end, the newest 200 first. verdict: what results say of it, with the last 10 runs of its test cases."
        " timeline: the first 20 entries. With any of the last three, `etag` is that of the item by itself."
    )
    whole = [",".join((COVERAGE, *OF_ONE)), ",".join(names)]
    extra: JsonDict = {"enum": [*dict.fromkeys((*names, ",".join(expandable), *whole))]}
    return Annotated[str | None, Field(description=about, examples=[COVERAGE], json_schema_extra=extra)]


UpdatedSince = Annotated[
    str | None,
    Field(
        description=f"{UPDATED_SINCE} To keep a copy, with deletions and without a gap, read GET /changes.",
        examples=["2026-01-31T12:00:00Z", "2026-01-31"],
    ),
]

OF_FIELD = f"{PREFIX}KEY"
"""What stands for the names of all filters over fields of the project in a query or a body."""


def gather_fields(data: Any) -> Any:
    """Return the parameters of a query with what is said of fields of the project put together, as OF_FIELD."""
    if not isinstance(data, dict) or not any(str(name).startswith(PREFIX) for name in data):
        return data
    others = {name: said for name, said in data.items() if not str(name).startswith(PREFIX)}
    return {**others, OF_FIELD: {name: said for name, said in data.items() if name not in others and said is not None}}


ByField = Annotated[
    dict[str, Annotated[str, Field(max_length=LONGEST_FILTER)]],
    Field(alias=OF_FIELD),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "maxLength": LONGEST_FILTER}, {"type": "null"}],
            "description": ABOUT_FILTERS,
        }
    ),
]
"""The filters over fields of the project, by their names in the query, `field.KEY`."""


class ItemFilters(PageQuery):
    """What narrows and orders a list of items."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    types: ClassVar[type[StrEnum]]
    statuses: ClassVar[type[StrEnum]]
    of_either: ClassVar[bool] = False
    """Whether the same filters are those of the other kind, too, which may have fields that this one has not."""
    verdicts: ClassVar[type[StrEnum]]
    expandable: ClassVar[tuple[str, ...]] = (COVERAGE,)

    search: Search = None
    type: str | None = None
    priority: Annotated[str | None, alternatives(PriorityLevel)] = None
    status: str | None = None
    module: Annotated[str | None, Field(description=FREE_ALTERNATIVES)] = None
    tag: Annotated[str | None, Field(description=f"has the tag; {FREE_ALTERNATIVES}")] = None
    created_by: Annotated[str | None, Field(description=FREE_ALTERNATIVES)] = None
    external_id: Annotated[str | None, Field(description=f"exactly; {FREE_ALTERNATIVES}")] = None
    ids: Ids = None
    by_field: ByField = Field(default_factory=dict)
    updated_since: UpdatedSince = None
    expand: Expand = None
    sort: Annotated[
        str | None,
        sorts(
            (*_SORTS, "relevance"),
            "Left out: the best first when searching, otherwise the newest first. priority:desc is critical first;"
            " position is the order of the outline; relevance needs a search, and is the best first unless it says"
            " :asc. ",
        ),
    ] = None

    _gather = model_validator(mode="before")(gather_fields)

    @cached_property
    def modules(self) -> Choice[str] | None:
        """The modules that are asked for and excluded; raises Invalid for what cannot be read."""
        return parse_words("module", self.module)

    def of_both_kinds(self) -> Conditions:
        """Return what says the same of requirements and test cases: module and tags; raises Invalid."""
        conditions = Conditions()
        conditions.choose("module", self.modules)
        tags = parse_words("tag", self.tag)
        if tags is not None and tags.included:
            or_none = " OR tags = '{}'" if "" in tags.included else ""
            has_one = "tag_keys(tags) && tag_keys(%(tags_in)s::text[]) AND tags && %(tags_in)s::text[]"
            conditions.add(f"({has_one}{or_none})", of="tag", tags_in=list(tags.included))
        if tags is not None and tags.excluded:
            and_some = " AND tags <> '{}'" if "" in tags.excluded else ""
            conditions.add(f"NOT tags && %(tags_out)s::text[]{and_some}", of="tag", tags_out=list(tags.excluded))
        return conditions

    def conditions(self) -> Conditions:
        """Return what the items must fulfil; raises Invalid for an unknown value."""
        conditions = self.of_both_kinds()
        conditions.choose("type", parse_choice("type", self.type, self.types))
        conditions.choose("priority", parse_choice("priority", self.priority, PriorityLevel))
        conditions.choose("status", parse_choice("status", self.status, self.statuses))
        conditions.choose("created_by", parse_words("created_by", self.created_by))
        conditions.choose("external_id", parse_words("external_id", self.external_id))
        conditions.choose("id", parse_own_ids(self.ids))
        moment = parse_moment("updated_since", self.updated_since)
        if moment is not None:
            conditions.add("updated_at >= %(updated_since)s", updated_since=moment)
        return conditions

    async def of_verdict(self, connection: Connection, basis: Basis) -> list[UUID] | None:
        """Return the ids of what results say of as the list is asked, None where it is not; raises Invalid."""
        return None

    @property
    def expansions(self) -> frozenset[str]:
        """What each item is to tell beside; raises Invalid for what cannot be expanded."""
        return parse_expand(self.expand, self.expandable)

    @property
    def sorts_by_field(self) -> bool:
        """Whether the order is that of a field of the project."""
        return self.sort is not None and self.sort.startswith(PREFIX)

    def wanted(self, request: Request, kind: str, own: Fields = NONE) -> PageRequest:
        """Return the page that is asked for; raises Invalid for an unknown sort, or a position in another list.

        `own` are the fields of the project, which items of the `kind` may be sorted by.
        """
        if self.sort is None:
            return self._best_first(request) if self.searched else self.page(request, _order(_NEWEST_FIRST))
        if self.sorts_by_field:
            field = field_of(own, self.sort.partition(":")[0], (kind,), "sort")
            name = f"{PREFIX}{field.key}"
            sort = parse_sort(self.sort, [name])
            return self.page(request, sort.order({name: order_of(field)}, By("id", UUID)))
        sort = parse_sort(self.sort, [*_SORTS, _RELEVANCE])
        if sort.field == _RELEVANCE:
            if not self.searched:
                raise Invalid.field("/query/sort", _NOT_SEARCHED, "no_search")
            return self._best_first(request, not self.sort.endswith(":asc"))
        return self.page(request, _order(sort))

    def _best_first(self, request: Request, best_first: bool = True) -> PageRequest:
        return self.page(request, by_relevance(best_first=best_first), self.searched)

    @property
    def searched(self) -> str:
        """What to search for; nothing when empty."""
        return (self.search or "").strip()


@cache
def _order(sort: Sort) -> Order:
    return sort.order(_SORTS, By("id", UUID))

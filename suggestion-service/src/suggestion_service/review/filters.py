"""The filters and sorts of the review queue, for the list and for reviews in bulk."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field

from chassis.core.problems import Invalid
from chassis.web.listing import Conditions, Limit, Skip, containing
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    Choice,
    Sort,
    alternatives,
    parse_choice,
    parse_ids,
    parse_moment,
    parse_sort,
    parse_words,
    sorts,
)
from suggestion_service.review.band import BAND, Band
from suggestion_service.review.schemas import SuggestionMethod, SuggestionStatus
from suggestion_service.store.suggestions import REVIEWED

T = TypeVar("T")
U = TypeVar("U")

SORTS = {"score": "similarity_score", "relevance": "relevance", "created_at": "created_at"}
NEWEST_FIRST = Sort("created_at", descending=True)
_LONGEST_SEARCH = 200

_Score = Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)]


class _MethodWord(StrEnum):
    """Methods, and the algorithms by which people ask for them."""

    TFIDF = "tfidf"
    KEYWORD = "keyword"
    HYBRID = "hybrid"
    SEMANTIC_SIMILARITY = "semantic_similarity"
    KEYWORD_MATCH = "keyword_match"
    HEURISTIC = "heuristic"


class FilterFields(BaseModel):
    """The filters as they are written, by their names."""

    status: Annotated[str | None, alternatives(SuggestionStatus)] = None
    method: Annotated[
        str | None, alternatives(_MethodWord, "A method, or the algorithm by which people ask for it. ")
    ] = None
    band: Annotated[str | None, alternatives(Band, "Of hybrid scores; the other methods have none. ")] = None
    module: Annotated[
        str | None, Field(description=f"Of the requirement or of the test case; {FREE_ALTERNATIVES}.")
    ] = None
    requirement_id: Annotated[str | None, Field(description="One id, or several with commas.")] = None
    test_case_id: Annotated[str | None, Field(description="One id, or several with commas.")] = None
    min_score: Annotated[_Score, Field(description="Scores from this one on, 0 to 1.")] = None
    max_score: Annotated[_Score, Field(description="Scores up to this one, 0 to 1.")] = None
    reviewed_by: Annotated[str | None, Field(description=f"Emails; {FREE_ALTERNATIVES}.")] = None
    reviewed_since: Annotated[
        str | None, Field(description="Reviewed at this moment (RFC 3339, or a day) or later.")
    ] = None
    search: Annotated[
        str | None,
        Field(description="What a title, an external id or a text of the pair contains; at most 200 characters."),
    ] = None


Expand = Annotated[
    str | None,
    Field(
        description="`texts`: all that both items say, and `spans`, where the matched terms stand in it.",
        examples=["texts"],
        json_schema_extra={"enum": ["texts"]},
    ),
]


class ListQuery(FilterFields):
    """What narrows and orders the list."""

    sort: Annotated[
        str | None,
        sorts(
            list(SORTS),
            "Left out: the newest first. relevance is the score and what reviews of like pairs say, together, and the"
            " best first unless it says :asc. ",
        ),
    ] = None
    expand: Expand = None
    skip: Skip = 0
    limit: Limit = 50


_ALGORITHMS = {
    _MethodWord.TFIDF: SuggestionMethod.SEMANTIC_SIMILARITY,
    _MethodWord.KEYWORD: SuggestionMethod.KEYWORD_MATCH,
}

# Asked of an item, so that each is read once however many suggestions it has.
_SEARCH = """
    (s.requirement_id IN (SELECT i.id FROM items i WHERE i.side = 'requirement' AND {says})
     OR s.test_case_id IN (SELECT i.id FROM items i WHERE i.side = 'test_case' AND {says}))
""".format(
    says="(i.external_id ILIKE %(search)s OR i.title ILIKE %(search)s"
    " OR EXISTS (SELECT FROM jsonb_each_text(i.text) said WHERE said.value ILIKE %(search)s))"
)
_MODULE = """
    (s.requirement_id IN (SELECT i.id FROM items i WHERE i.side = 'requirement' AND {module})
     OR s.test_case_id IN (SELECT i.id FROM items i WHERE i.side = 'test_case' AND {module}))
""".format(module="coalesce(i.module, '') = ANY({values}::text[])")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which suggestions; what is None does not narrow. Without `status`, expired ones are left out."""

    status: Choice[SuggestionStatus] | None = None
    method: Choice[SuggestionMethod] | None = None
    band: Choice[Band] | None = None
    module: Choice[str] | None = None
    requirement_id: Choice[UUID] | None = None
    test_case_id: Choice[UUID] | None = None
    min_score: float | None = None
    max_score: float | None = None
    reviewed_by: Choice[str] | None = None
    reviewed_since: datetime | None = None
    search: str | None = None

    @classmethod
    def read(cls, fields: FilterFields) -> "Filters":
        """Read what was written; raise Invalid, with pointers into /query, for an unknown value."""
        return cls(
            status=parse_choice("status", fields.status, SuggestionStatus),
            method=_mapped(parse_choice("method", fields.method, _MethodWord), _method),
            band=parse_choice("band", fields.band, Band),
            module=parse_words("module", fields.module),
            requirement_id=parse_ids("requirement_id", fields.requirement_id),
            test_case_id=parse_ids("test_case_id", fields.test_case_id),
            min_score=fields.min_score,
            max_score=fields.max_score,
            reviewed_by=_mapped(parse_words("reviewed_by", fields.reviewed_by), str.lower),
            reviewed_since=parse_moment("reviewed_since", fields.reviewed_since),
            search=_search(fields.search),
        )

    def of(self, status: Choice[SuggestionStatus]) -> "Filters":
        """Return the same filters for suggestions of a status."""
        return replace(self, status=status)

    @property
    def by_status_alone(self) -> bool:
        """Whether nothing narrows but the status: then `conditions` hold for `suggestion_counts s`, too."""
        return replace(self, status=None) == Filters()

    def conditions(self, *always: str) -> Conditions:
        """Return the conditions over `suggestions s`; `always` are further ones."""
        conditions = Conditions(*always, *(["s.status <> 'expired'"] if self.status is None else []))
        conditions.choose("s.status", self.status)
        conditions.choose("s.suggestion_method", self.method)
        conditions.choose("s.requirement_id", self.requirement_id)
        conditions.choose("s.test_case_id", self.test_case_id)
        conditions.match("band", self.band, f"coalesce({BAND}, '') = ANY({{values}}::text[])")
        conditions.match("module", self.module, _MODULE)
        conditions.match("reviewed_by", self.reviewed_by, _reviewed_by(self.reviewed_by))
        if self.min_score is not None:
            conditions.add("s.similarity_score >= %(min_score)s", min_score=self.min_score)
        if self.max_score is not None:
            conditions.add("s.similarity_score <= %(max_score)s", max_score=self.max_score)
        if self.reviewed_since is not None:
            since = {"reviewed_since": self.reviewed_since}
            conditions.add(f"{REVIEWED} AND s.reviewed_at >= %(reviewed_since)s", **since)
        if self.search:
            conditions.add(_SEARCH, search=containing(self.search))
        return conditions


def read_sort(value: str | None) -> Sort:
    """Read `field`, `field:asc` or `field:desc`, None for the newest first; `relevance` alone is the best first."""
    if value is None:
        return NEWEST_FIRST
    return parse_sort("relevance:desc" if value == "relevance" else value, list(SORTS))


def order_by(sort: Sort) -> str:
    """Return the ORDER BY of a sort over `suggestions s`; ties end at id."""
    return f"s.{SORTS[sort.field]} {sort.direction}, s.id {sort.direction}"


def _method(word: _MethodWord) -> SuggestionMethod:
    return _ALGORITHMS.get(word) or SuggestionMethod(word)


def _reviewed_by(people: Choice[str] | None) -> str:
    """Return the condition that one of `{values}` reviewed it, or nobody where an empty text is one of these."""
    if people is not None and "" in people.included + people.excluded:
        return "coalesce(lower(s.reviewed_by), '') = ANY({values}::text[])"
    return f"({REVIEWED} AND lower(s.reviewed_by) = ANY({{values}}::text[]))"


def _mapped(choice: Choice[T] | None, change: Callable[[T], U]) -> Choice[U] | None:
    if choice is None:
        return None
    return Choice(tuple(map(change, choice.included)), tuple(map(change, choice.excluded)))


def _search(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    if len(text) > _LONGEST_SEARCH:
        raise Invalid.field(
            "/query/search", f"Search for at most {_LONGEST_SEARCH} characters, not {len(text)}.", "string_too_long"
        )
    return text.strip()

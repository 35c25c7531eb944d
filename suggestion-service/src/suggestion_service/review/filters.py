"""The filters and sorts of the review queue, for the list and for reviews in bulk."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field

from chassis.core.problems import Invalid
from chassis.web.conditions import Conditions, containing
from chassis.web.facets import Facet
from chassis.web.keyset import By, Order
from chassis.web.listing import Ids, PageQuery
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    Choice,
    Sort,
    alternatives,
    parse_choice,
    parse_ids,
    parse_moment,
    parse_own_ids,
    parse_sort,
    parse_words,
    refuse_nothing_between,
    sorts,
)
from suggestion_service.review.band import BAND, Band
from suggestion_service.review.schemas import SuggestionMethod, SuggestionStatus
from suggestion_service.store.suggestions import REVIEWED

T = TypeVar("T")
U = TypeVar("U")

_SORTS = {
    "score": By("s.similarity_score", float),
    "relevance": By("s.relevance", float, member="exact_relevance"),
    "created_at": By("s.created_at", datetime),
}
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


_ALGORITHMS = {
    _MethodWord.TFIDF: SuggestionMethod.SEMANTIC_SIMILARITY,
    _MethodWord.KEYWORD: SuggestionMethod.KEYWORD_MATCH,
}

_BAND = f"{BAND} = ANY({{values}}::text[])"
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

PAIR = "JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id"
"""Both items of `suggestions s`."""
FACETS = (
    Facet("module", "ARRAY[r.module::text, t.module::text]", many=True, joined=PAIR),
    Facet("band", BAND),
    Facet("method", "s.suggestion_method"),
    Facet("status", "s.status"),
)


class FilterFields(BaseModel):
    """The filters as they are written, by their names."""

    status: Annotated[str | None, alternatives(SuggestionStatus)] = None
    method: Annotated[
        str | None, alternatives(_MethodWord, "A method, or the algorithm by which people ask for it. ")
    ] = None
    band: Annotated[str | None, alternatives(Band)] = None
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

    @property
    def say_status_alone(self) -> bool:
        """Whether nothing narrows but the status: then `conditions` hold for `suggestion_counts s`, too."""
        return all(getattr(self, name) is None for name in FilterFields.model_fields if name != "status")

    def conditions(self, *always: str) -> Conditions:
        """Return the conditions over `suggestions s`, beside `always`; without a status, expired ones are left out.

        Raises Invalid, with pointers into /query, for an unknown value.
        """
        status = parse_choice("status", self.status, SuggestionStatus)
        conditions = Conditions(*always)
        if status is None:
            conditions.always("s.status <> 'expired'", of="status")
        conditions.choose("s.status", status)
        methods = _mapped(parse_choice("method", self.method, _MethodWord), _method)
        conditions.choose("s.suggestion_method", methods, of="method")
        conditions.match("band", parse_choice("band", self.band, Band), _BAND)
        conditions.match("module", parse_words("module", self.module), _MODULE)
        conditions.choose("s.requirement_id", parse_ids("requirement_id", self.requirement_id))
        conditions.choose("s.test_case_id", parse_ids("test_case_id", self.test_case_id))
        reviewers = _mapped(parse_words("reviewed_by", self.reviewed_by), str.lower)
        conditions.match("reviewed_by", reviewers, _reviewed_by(reviewers))
        since = parse_moment("reviewed_since", self.reviewed_since)
        if since is not None:
            conditions.add(f"{REVIEWED} AND s.reviewed_at >= %(reviewed_since)s", reviewed_since=since)
        if self.min_score is not None:
            conditions.add("s.similarity_score >= %(min_score)s", min_score=self.min_score)
        if self.max_score is not None:
            conditions.add("s.similarity_score <= %(max_score)s", max_score=self.max_score)
            is_empty = self.min_score is not None and self.min_score > self.max_score
            refuse_nothing_between("min_score", "max_score", vars(self), is_empty=is_empty)
        if search := _search(self.search):
            conditions.add(_SEARCH, search=containing(search))
        return conditions


Expand = Annotated[
    str | None,
    Field(
        description="`texts`: all that both items say, and `spans`, where the matched terms stand in it.",
        examples=["texts"],
        json_schema_extra={"enum": ["texts"]},
    ),
]


# Of a status: whoever has decided about the best sees the next.
_AMONG_THE_BEST = """
    (SELECT count(*) FROM (SELECT FROM suggestions better WHERE better.requirement_id = s.requirement_id
        AND better.status = s.status AND (better.similarity_score, better.id) > (s.similarity_score, s.id) AND {counts}
        LIMIT %(per_requirement)s) AS counted) < %(per_requirement)s
"""
# `s` is the row; of `better`, too, only the best of its variants is one.
_OF_OTHER_VARIANTS = """
    (better.variant_group IS NULL OR better.variant_group IS DISTINCT FROM s.variant_group
        AND NOT EXISTS (SELECT FROM suggestions best WHERE best.requirement_id = better.requirement_id
            AND best.variant_group = better.variant_group AND best.status = better.status
            AND (best.similarity_score, best.id) > (better.similarity_score, better.id)))
"""
VARIANTS_FOUND = """
    (SELECT s.* FROM suggestions s WHERE s.variant_group IS NOT NULL{also}) other
    WHERE other.requirement_id = s.requirement_id AND other.variant_group = s.variant_group AND other.status = s.status
"""
"""The suggestions of one group with `suggestions s`, itself included, under conditions of their own."""
_BEST_OF_ITS_VARIANTS = f"""
    (s.variant_group IS NULL OR NOT EXISTS (SELECT FROM {VARIANTS_FOUND}
        AND (other.similarity_score, other.id) > (s.similarity_score, s.id)))
"""


class ListQuery(FilterFields, PageQuery):
    """What narrows and orders the list."""

    ids: Ids = None
    per_requirement: Annotated[
        int | None,
        Field(
            ge=1,
            le=100,
            description="At most so many of each requirement, the best of a status: `more_of_requirement` says how many"
            " others a requirement has, and `total_of_all` how many there are without this.",
        ),
    ] = None
    variants: Annotated[
        Literal["together"] | None,
        Field(
            description="`together`: of suggestions of a requirement and a status whose test cases are variants of one"
            " another, only the best is a row, and its `variants` are the others that the filters find."
            " `per_requirement` counts these rows; `total_of_all` counts each suggestion.",
        ),
    ] = None
    sort: Annotated[
        str | None,
        sorts(
            list(_SORTS),
            "Left out: the newest first. relevance is the score and what reviews of like pairs say, together, and the"
            " best first unless it says :asc. ",
        ),
    ] = None
    expand: Expand = None

    @property
    def say_status_alone(self) -> bool:
        """Whether nothing narrows but the status."""
        return self.is_everything and self.ids is None and super().say_status_alone

    @property
    def is_everything(self) -> bool:
        """Whether each suggestion that the filters find is a row."""
        return self.per_requirement is None and self.variants is None

    def found(self) -> Conditions:
        """Return the conditions of the filters, and that it is one of `ids`; raises Invalid."""
        conditions = super().conditions()
        conditions.choose("s.id", parse_own_ids(self.ids))
        return conditions

    def conditions(self, *always: str) -> Conditions:
        """Return the conditions over `suggestions s` of what is a row, beside `always`; raises Invalid."""
        conditions = self.found()
        also, counts = conditions.also, "true"
        for one in always:
            conditions.always(one, of="")
        if self.variants is not None:
            counts = _OF_OTHER_VARIANTS
            conditions.add(_BEST_OF_ITS_VARIANTS.format(also=also))
        if self.per_requirement is not None:
            conditions.add(_AMONG_THE_BEST.format(counts=counts), per_requirement=self.per_requirement)
        return conditions


def read_sort(value: str | None) -> Sort:
    """Read `field`, `field:asc` or `field:desc`, None for the newest first; `relevance` alone is the best first."""
    if value is None:
        return NEWEST_FIRST
    return parse_sort("relevance:desc" if value == "relevance" else value, list(_SORTS))


@cache
def order_by(sort: Sort) -> Order:
    """Return the order of a sort over `suggestions s`; ties end at id."""
    return sort.order(_SORTS, By("s.id", UUID, descending=sort.descending))


def _method(word: _MethodWord) -> SuggestionMethod:
    return _ALGORITHMS.get(word) or SuggestionMethod(word)


def _reviewed_by(people: Choice[str] | None) -> str:
    """Return the condition that one of `{values}` reviewed it; an empty text among these stands for no reviewer."""
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

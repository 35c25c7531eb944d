"""The filters and sorts of the review queue, for the list and for reviews in bulk."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from chassis.http.paging import Choice, Sort, parse_choice, parse_words
from chassis.problems import FieldError, Invalid
from suggestion_service.review.schemas import SuggestionMethod, SuggestionStatus

SORTS = {"score": "similarity_score", "relevance": "relevance", "created_at": "created_at"}
NEWEST_FIRST = Sort("created_at", descending=True)

_SEARCH = """
    (s.requirement_id IN (SELECT id FROM items WHERE title ILIKE %(search)s OR external_id ILIKE %(search)s)
     OR s.test_case_id IN (SELECT id FROM items WHERE title ILIKE %(search)s OR external_id ILIKE %(search)s))
"""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which suggestions; what is None does not narrow. Without `status`, expired ones are left out."""

    status: Choice[SuggestionStatus] | None = None
    method: Choice[SuggestionMethod] | None = None
    requirement_id: Choice[UUID] | None = None
    test_case_id: Choice[UUID] | None = None
    min_score: float | None = None
    max_score: float | None = None
    search: str | None = None

    @classmethod
    def read(
        cls,
        *,
        status: str | None,
        method: str | None,
        requirement_id: str | None,
        test_case_id: str | None,
        min_score: float | None,
        max_score: float | None,
        search: str | None,
    ) -> "Filters":
        """Read the filters of a query; raise Invalid for an unknown value."""
        return cls(
            parse_choice("status", status, SuggestionStatus),
            parse_choice("method", method, SuggestionMethod),
            _ids("requirement_id", requirement_id),
            _ids("test_case_id", test_case_id),
            min_score,
            max_score,
            search.strip() if search is not None else None,
        )

    @property
    def by_status_alone(self) -> bool:
        """Whether nothing narrows but the status: then `condition` holds for `suggestion_counts s`, too."""
        return replace(self, status=None) == Filters()

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Give the condition over `suggestions s` and its parameters."""
        parts: list[str] = []
        parameters: dict[str, Any] = {}
        if self.status is None:
            parts.append("s.status <> 'expired'")
        for column, choice in (
            ("status", self.status),
            ("suggestion_method", self.method),
            ("requirement_id", self.requirement_id),
            ("test_case_id", self.test_case_id),
        ):
            if choice is not None and len(choice.included) == 1:
                # Not ANY: an index on the column and what to sort by is then read in the order asked for.
                parts.append(f"s.{column} = %({column}_in)s")
                parameters[f"{column}_in"] = choice.included[0]
            elif choice is not None and choice.included:
                parts.append(f"s.{column} = ANY(%({column}_in)s)")
                parameters[f"{column}_in"] = list(choice.included)
            if choice is not None and choice.excluded:
                parts.append(f"s.{column} <> ALL(%({column}_out)s)")
                parameters[f"{column}_out"] = list(choice.excluded)
        if self.min_score is not None:
            parts.append("s.similarity_score >= %(min_score)s")
            parameters["min_score"] = self.min_score
        if self.max_score is not None:
            parts.append("s.similarity_score <= %(max_score)s")
            parameters["max_score"] = self.max_score
        if self.search:
            parts.append(_SEARCH)
            parameters["search"] = f"%{_literal(self.search)}%"
        return " AND ".join(parts) if parts else "true", parameters


def order_by(sort: Sort) -> str:
    """Give the ORDER BY of a sort over `suggestions s`; ties end at id."""
    direction = "DESC" if sort.descending else "ASC"
    return f"s.{SORTS[sort.field]} {direction}, s.id {direction}"


def _literal(text: str) -> str:
    """Escape what LIKE would take for a pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _ids(name: str, value: str | None) -> Choice[UUID] | None:
    words = parse_words(value)
    if words is None:
        return None
    try:
        return Choice(_uuids(words.included), _uuids(words.excluded))
    except ValueError:
        raise Invalid.fields(
            [FieldError(f"/query/{name}", "Give one id or several, with commas between them.", "invalid_id")]
        ) from None


def _uuids(words: tuple[str, ...]) -> tuple[UUID, ...]:
    return tuple(UUID(word) for word in words)

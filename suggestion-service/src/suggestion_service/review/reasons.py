"""The reasons of suggestions, made of their facts and of what their items say now, when they are read."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from chassis.core.turns import take_turns
from chassis.db.database import Database
from suggestion_service.engine import Explanation, Reading, explain, unpack
from suggestion_service.review.readings import Readings

Row = dict[str, Any]

_MOST_KEPT = 1_000
"""Explanations that are kept: some 5 MB."""


class _Explained(NamedTuple):
    """An explanation, and what it was made of."""

    score: float
    stored: Row
    requirement: Reading | None
    test_case: Reading | None
    explanation: Explanation

    def is_of(self, score: float, stored: Row, requirement: Reading | None, test_case: Reading | None) -> bool:
        """Check whether it is the explanation of these still."""
        same_texts = self.requirement is requirement and self.test_case is test_case
        return same_texts and self.score == score and self.stored == stored


class Reasons:
    """Gives suggestions their reasons; those that were asked for last are kept."""

    def __init__(self, database: Database) -> None:
        self._readings = Readings(database)
        self._kept: dict[UUID, _Explained] = {}

    async def add(self, rows: Sequence[Row]) -> None:
        """Put `suggestion_reason` and what belongs to it into suggestions; those that have a reason stored keep it."""
        unexplained = [row for row in rows if "facts" in (row["suggestion_metadata"] or {})]
        if not unexplained:
            return
        sides = ("requirement_id", "test_case_id")
        readings = await self._readings.read({row[side] for row in unexplained for side in sides})
        async for row in take_turns(unexplained):
            requirement, test_case = (readings.get(row[side]) for side in sides)
            explanation = self._explain(row, requirement, test_case)
            row["suggestion_reason"] = explanation.reason
            row["suggestion_metadata"] = _answer_with(row["suggestion_metadata"], explanation)

    def _explain(self, row: Row, requirement: Reading | None, test_case: Reading | None) -> Explanation:
        if requirement is None or test_case is None:
            requirement = test_case = None
        score, stored = row["similarity_score"], row["suggestion_metadata"]
        kept = self._kept.pop(row["id"], None)
        if kept is None or not kept.is_of(score, stored, requirement, test_case):
            explanation = explain(unpack(score, stored), requirement, test_case)
            kept = _Explained(score, stored, requirement, test_case, explanation)
        self._kept[row["id"]] = kept
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept.explanation


def _answer_with(stored: Row, explanation: Explanation) -> Row:
    answered = {name: value for name, value in stored.items() if name != "facts"}
    answered |= {
        "matched_terms": explanation.matched_terms,
        "other_terms": explanation.other_terms,
        "other_weight": explanation.other_weight,
        "against": explanation.against,
    }
    return answered if explanation.language is None else answered | {"language": explanation.language}

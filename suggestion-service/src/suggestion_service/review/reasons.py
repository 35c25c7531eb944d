"""The reasons of suggestions, made of their facts and of what their items say now, when they are read."""

from collections.abc import Sequence
from typing import Any

from chassis.core.turns import take_turns
from chassis.db.database import Database
from suggestion_service.engine import Explanation, explain, unpack
from suggestion_service.review.readings import Readings

Row = dict[str, Any]


class Reasons:
    """Gives suggestions their reasons."""

    def __init__(self, database: Database) -> None:
        self._readings = Readings(database)

    async def add(self, rows: Sequence[Row]) -> None:
        """Put `suggestion_reason` and what belongs to it into suggestions; those that have a reason stored keep it."""
        unexplained = [
            (row, facts)
            for row in rows
            if (facts := unpack(row["similarity_score"], row["suggestion_metadata"] or {})) is not None
        ]
        if not unexplained:
            return
        sides = ("requirement_id", "test_case_id")
        readings = await self._readings.of({row[side] for row, _ in unexplained for side in sides})
        async for row, facts in take_turns(unexplained):
            requirement, test_case = (readings.get(row[side]) for side in sides)
            if requirement is None or test_case is None:
                requirement = test_case = None
            explanation = explain(facts, requirement, test_case)
            row["suggestion_reason"] = explanation.reason
            row["suggestion_metadata"] = _as_answered(row["suggestion_metadata"], explanation)


def _as_answered(stored: Row, explanation: Explanation) -> Row:
    answered = {name: value for name, value in stored.items() if name != "facts"}
    answered |= {
        "matched_terms": explanation.matched_terms,
        "other_terms": explanation.other_terms,
        "other_weight": explanation.other_weight,
        "against": explanation.against,
    }
    return answered if explanation.language is None else answered | {"language": explanation.language}

"""Pending pairs compared with the reviewed ones, as their items come; what takes long runs in a thread."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import numpy as np

from chassis.db.database import Database
from suggestion_service.review_model.model import Adjustment, Floats, ReviewModel
from suggestion_service.review_model.repository import PendingPair
from suggestion_service.store import items

_CACHED_ITEMS = 5000


class Comparison:
    """What was found for an item is kept for its next pair, so pairs are best given by requirement."""

    def __init__(self, database: Database, model: ReviewModel) -> None:
        self._database = database
        self._model = model
        self._requirements: dict[UUID, Floats] = {}
        self._test_cases: dict[UUID, Floats] = {}

    async def adjustments(self, pending: Sequence[PendingPair]) -> list[Adjustment | None]:
        """Return for each suggestion what the reviews say of it."""
        requirements = {row.requirement_id for row in pending}
        test_cases = {row.test_case_id for row in pending}
        for cached in (self._requirements, self._test_cases):
            if len(cached) > _CACHED_ITEMS:
                cached.clear()
        missing = (requirements - self._requirements.keys()) | (test_cases - self._test_cases.keys())
        async with self._database.connection() as connection:
            terms = await items.terms(connection, missing)

        def compare() -> list[Adjustment | None]:
            for item_id, words in terms.items():
                if item_id in requirements:
                    self._requirements[item_id] = self._model.like_requirement(words)
                else:
                    self._test_cases[item_id] = self._model.like_test_case(words)
            return self._model.adjustments(
                np.stack([self._requirements[row.requirement_id] for row in pending]),
                np.stack([self._test_cases[row.test_case_id] for row in pending]),
            )

        return await asyncio.to_thread(compare)

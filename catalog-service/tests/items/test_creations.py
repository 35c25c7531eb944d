"""Creations that are stored together: whoever comes in whatever moment gets an answer."""

import asyncio

import psycopg
import pytest

from catalog_service.items.creations import ItemCreations
from catalog_service.items.kinds import REQUIREMENT
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM, NewEvent
from contracts.catalog import CoverageDropped


async def test_one_that_comes_just_when_all_transactions_have_ended_is_not_forgotten() -> None:
    # A database that was never opened fails at once: both transactions end in the step before the third comes.
    database = Database("postgresql://nobody@localhost/nothing")
    creations = ItemCreations(REQUIREMENT, database)
    drop = CoverageDropped(coverage=0, threshold=1, covered_requirements=0, total_requirements=1)

    async def store(*, later: bool = False) -> None:
        if later:
            await asyncio.sleep(0)
        await creations.store({}, NewEvent(drop, "1", SYSTEM), 0)

    coming = [asyncio.create_task(store()), asyncio.create_task(store()), asyncio.create_task(store(later=True))]
    async with asyncio.timeout(120):
        answers = await asyncio.gather(*coming, return_exceptions=True)
    assert [type(answer) for answer in answers] == [type(answers[0])] * 3
    with pytest.raises(psycopg.OperationalError):
        raise answers[0]  # type: ignore[misc]

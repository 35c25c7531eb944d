"""Rows of a table are leased: one worker at a time has a row, and others get it when that one is gone."""

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import psycopg
import pytest

from chassis.db import leases
from chassis.db.database import Connection, Database
from chassis.db.leases import Leases
from chassis.db.rows import fetch_column
from testing.postgres import as_owner

LEASES = Leases("work", "id", 15, where="NOT done")
CLAIM = f"""
UPDATE work w SET {LEASES.taken("w")} WHERE id IN (
    SELECT id FROM work f WHERE NOT done AND {LEASES.free("f")} ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING id
"""


@pytest.fixture
async def work(database: Database) -> Database:
    async with as_owner(database) as connection:
        await connection.execute(
            "CREATE TABLE work AS SELECT id, false AS done, NULL::uuid AS claim, NULL::timestamptz AS claimed_until,"
            " 0 AS attempts FROM generate_series(1, 40) AS id"
        )
    return database


async def claim(connection: Connection, claim_id: UUID, limit: int = 10) -> list[int]:
    return sorted(await fetch_column(connection, CLAIM, {"claim": claim_id, "limit": limit}))


async def claim_once(database: Database, claim_id: UUID, limit: int = 10) -> list[int]:
    async with database.connection() as connection:
        return await claim(connection, claim_id, limit)


async def attempts(database: Database) -> set[int]:
    async with database.connection() as connection:
        return set(await fetch_column(connection, "SELECT attempts FROM work"))


async def run_out(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute("UPDATE work SET claimed_until = now() - interval '1 second'")


async def test_workers_never_have_the_same_row(work: Database) -> None:
    claimed = await asyncio.gather(*(claim_once(work, uuid4()) for _ in range(4)))
    assert sorted(row for rows in claimed for row in rows) == list(range(1, 41))
    assert await claim_once(work, uuid4()) == []


async def test_a_lease_that_has_run_out_is_anothers_and_counts_as_an_attempt(work: Database) -> None:
    dead = uuid4()
    await claim_once(work, dead, 40)
    await run_out(work)
    assert await claim_once(work, uuid4(), 40) == list(range(1, 41))
    async with work.connection() as connection:
        await LEASES.renew(connection, dead)
        await LEASES.release(connection, dead)
    assert await claim_once(work, uuid4()) == [], "who was taken for dead has no say"
    assert await attempts(work) == {2}


async def test_a_renewal_passes_over_rows_that_others_change(work: Database) -> None:
    mine = uuid4()
    await claim_once(work, mine, 40)
    await run_out(work)
    async with work.transaction() as other:
        await other.execute("UPDATE work SET done = false WHERE id = 7")
        async with asyncio.timeout(120), work.connection() as connection:
            await LEASES.renew(connection, mine)
    assert await claim_once(work, uuid4(), 40) == [7]


async def test_a_worker_that_is_stopped_gives_back_at_once(work: Database) -> None:
    mine, begun = uuid4(), asyncio.Event()

    async def labour() -> None:
        await claim_once(work, mine, 40)
        async with LEASES.leased(work, mine):
            begun.set()
            await asyncio.Event().wait()

    working = asyncio.create_task(labour())
    await begun.wait()
    working.cancel()
    await asyncio.wait([working])
    assert working.cancelled()
    assert await attempts(work) == {0}
    assert await claim_once(work, uuid4(), 40) == list(range(1, 41))


async def test_a_worker_that_fails_leaves_its_lease_to_run_out(work: Database) -> None:
    mine = uuid4()
    await claim_once(work, mine, 40)
    with pytest.raises(ZeroDivisionError):
        async with LEASES.leased(work, mine):
            raise ZeroDivisionError
    assert await claim_once(work, uuid4()) == []


async def test_a_lease_is_renewed_for_as_long_as_the_work_takes(
    work: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "_HEARTBEAT", 0.01)
    mine = uuid4()
    await claim_once(work, mine, 40)
    await run_out(work)
    async with LEASES.leased(work, mine), work.connection() as connection:
        for _ in range(1000):
            if await fetch_column(connection, "SELECT id FROM work WHERE claimed_until > now()"):
                break
            await asyncio.sleep(0.01)
    assert await claim_once(work, uuid4()) == []


async def test_that_the_database_takes_nothing_is_no_attempt(work: Database) -> None:
    mine = uuid4()
    await claim_once(work, mine, 40)
    with pytest.raises(psycopg.errors.DiskFull):
        async with LEASES.leased(work, mine), work.connection() as connection:
            await connection.execute("DO $$ BEGIN RAISE 'no room' USING ERRCODE = '53100'; END $$")
    assert await attempts(work) == {0}
    assert await claim_once(work, uuid4(), 40) == list(range(1, 41))


async def test_the_last_attempt_comes_after_a_quiet_time(work: Database) -> None:
    async with work.connection() as connection:
        await connection.execute("UPDATE work SET attempts = 3, claimed_until = now() - interval '1 minute'")
    ending = replace(LEASES, ends=True)
    free = f"SELECT id FROM work w WHERE {ending.free('w')}"
    async with work.connection() as connection:
        assert await fetch_column(connection, free) == []
        await connection.execute("UPDATE work SET claimed_until = now() - interval '6 minutes' WHERE id <= 2")
        assert sorted(await fetch_column(connection, free)) == [1, 2]

"""What PostgreSQL knows of tables that grow."""

import asyncio

from chassis.db import statistics
from chassis.db.database import Database
from chassis.db.rows import fetch_column
from testing.postgres import as_owner

_ROWS = "SELECT reltuples::integer FROM pg_class WHERE relname = 'effects'"


async def _grow(database: Database, rows: int) -> None:
    async with database.connection() as connection:
        await connection.execute("INSERT INTO effects (what) SELECT 'it' FROM generate_series(1, %s)", (rows,))
        await connection.execute("SELECT pg_stat_force_next_flush()")
        await connection.execute("SELECT 1")


async def _known(database: Database) -> int:
    async with database.connection() as connection:
        [rows] = await fetch_column(connection, _ROWS)
    return int(rows)


async def test_a_table_is_known_as_soon_as_it_has_more_than_doubled(database: Database) -> None:
    assert await _known(database) == -1
    await _grow(database, 100)
    assert await statistics.refresh(database) == ["effects"]
    assert await _known(database) == 100
    await _grow(database, 100)
    assert await statistics.refresh(database) == []
    await _grow(database, 100)
    assert await statistics.refresh(database) == ["effects"]
    assert await _known(database) == 300


async def test_a_table_that_somebody_has_locked_is_not_waited_for(database: Database) -> None:
    await _grow(database, 100)
    async with database.connection() as connection, connection.transaction():
        await connection.execute("LOCK TABLE effects")
        async with asyncio.timeout(120):
            await statistics.refresh(database)
    assert await _known(database) == -1


async def test_who_fills_an_unlogged_table_makes_its_statistics(database: Database) -> None:
    await _grow(database, 100)
    async with as_owner(database) as connection:
        await connection.execute("ALTER TABLE effects SET UNLOGGED")
    assert await statistics.refresh(database) == []

"""What the connections of a service's pool keep in their server."""

import psycopg
import pytest

from chassis.db.database import AWAY, Database, Unstorable
from testing.postgres import as_owner
from testing.turns import others_at_work

_KEPT = "SELECT sum(total_bytes) AS bytes FROM pg_backend_memory_contexts WHERE name = 'LocalBufferContext'"


async def test_a_backend_keeps_little_of_what_went_through_its_temporary_tables(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("CREATE TEMPORARY TABLE staged (row text) ON COMMIT DELETE ROWS")
        await connection.execute("INSERT INTO staged SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
    async with as_owner(database) as connection:
        kept = await (await connection.execute(_KEPT)).fetchone()
    assert kept is not None
    assert 0 < kept["bytes"] < 10_000_000


async def test_what_is_too_large_to_be_stored_is_no_database_that_is_away(database: Database) -> None:
    async def store_a_long_name() -> None:
        async with database.transaction() as connection:
            await connection.execute("CREATE TEMPORARY TABLE named (name text UNIQUE) ON COMMIT DROP")
            await connection.execute(
                "INSERT INTO named SELECT string_agg(md5(n::text), '') FROM generate_series(1, 300) AS n"
            )

    with pytest.raises(Unstorable, match="index row") as raised:
        await store_a_long_name()
    assert not isinstance(raised.value, AWAY)


async def test_after_a_migration_statements_are_prepared_anew(database: Database) -> None:
    async def read() -> None:
        async with database.connection() as connection:
            await connection.execute("SELECT * FROM migrated")

    async with as_owner(database) as connection:
        await connection.execute("CREATE TABLE migrated (id int)")
    for _ in range(3):
        await read()
    with psycopg.connect(database.url) as migration:
        migration.execute("ALTER TABLE migrated ADD COLUMN name text")
    with pytest.raises(AWAY, match="cached plan"):
        await read()
    await read()


async def test_others_go_on_while_many_rows_are_read(database: Database) -> None:
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT n, repeat('x', 1000) FROM generate_series(1, 5000) AS n")
        async with others_at_work() as others:
            rows = await cursor.fetchall()
    assert [row["n"] for row in rows] == [*range(1, 5001)]
    assert others.turns > 10

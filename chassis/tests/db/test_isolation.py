"""What a connection sees of the rows of several projects."""

import asyncio
import time
from collections.abc import AsyncIterator

import psycopg
import pytest

from chassis.core import projects
from chassis.db import isolation
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database, in_project
from chassis.db.rows import fetch_column
from testing import PostgresServer
from testing.postgres import as_owner


@pytest.fixture
async def notes(postgres: PostgresServer) -> AsyncIterator[Database]:
    """A database with a note from before there were projects, and one in project B."""
    database = Database(postgres.empty_database(), pool_size=2)
    with psycopg.connect(database.url, autocommit=True) as connection:
        for statement in (
            *isolation.PREPARE,
            "CREATE TABLE notes (text text,"
            f" project_id text NOT NULL DEFAULT {isolation.default_project(optional=False)})",
            "INSERT INTO notes VALUES ('old')",
            *isolation.isolate("notes"),
        ):
            connection.execute(statement)
    await database.open()
    with projects.within("B"):
        await write(database, "of B")
    yield database
    await database.close()
    postgres.drop(database.url)


async def write(database: Database, text: str) -> None:
    async with database.statement() as connection:
        await connection.execute("INSERT INTO notes (text) VALUES (%s)", (text,))


async def seen(database: Database) -> list[str]:
    async with database.connection() as connection:
        return sorted(await fetch_column(connection, "SELECT text FROM notes"))


async def test_a_project_sees_and_changes_its_own_rows_alone(notes: Database) -> None:
    with projects.within(projects.MAIN):
        assert await seen(notes) == ["old"]
    with projects.within("B"):
        assert await seen(notes) == ["of B"]
        async with notes.transaction() as connection:
            assert (await connection.execute("UPDATE notes SET text = 'mine'")).rowcount == 1
    with projects.within(projects.MAIN):
        assert await seen(notes) == ["old"]


async def test_without_a_project_nothing_is_seen_or_written(notes: Database) -> None:
    assert await seen(notes) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await write(notes, "of nobody")


async def test_a_row_of_another_project_cannot_be_written(notes: Database) -> None:
    with projects.within("B"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with notes.statement() as connection:
            await connection.execute("INSERT INTO notes (text, project_id) VALUES ('spy', 'MAIN')")


async def test_what_works_across_projects_sees_all_and_says_whose_it_writes(notes: Database) -> None:
    with projects.across():
        assert await seen(notes) == ["of B", "old"]
        with pytest.raises(psycopg.errors.NotNullViolation):
            await write(notes, "of nobody")
    assert await seen(notes) == []


async def test_a_transaction_across_projects_enters_one_after_the_other(notes: Database) -> None:
    with projects.across():
        async with notes.transaction() as connection:
            for key in ("B", "C"):
                async with in_project(connection, key):
                    assert projects.current.get() == key
                    await connection.execute("INSERT INTO notes VALUES ('more')")
        async with as_owner(notes) as connection:
            written = "SELECT project_id FROM notes WHERE text = 'more' ORDER BY project_id"
            assert await fetch_column(connection, written) == ["B", "C"]
        assert await seen(notes) == ["more", "more", "of B", "old"]


async def test_reads_of_different_projects_share_no_query(notes: Database) -> None:
    async def load(keys: list[str]) -> dict[str, list[str]]:
        texts = await seen(notes)
        return dict.fromkeys(keys, texts)

    texts = Coalesced(load)

    async def ask(project: str) -> list[str] | None:
        with projects.within(project):
            return await texts.get("all")

    asked = await asyncio.gather(ask("B"), ask(projects.MAIN), ask("B"), ask("C"))
    assert asked == [["of B"], ["old"], ["of B"], []]


async def test_whoever_is_cancelled_while_entering_a_project_leaves_no_connection_in_it(notes: Database) -> None:
    async def look(project: str) -> list[str]:
        with projects.within(project):
            return await seen(notes)

    for steps in range(12):
        # One connection is left for the others, and it was in MAIN last.
        assert await look(projects.MAIN) == ["old"]
        async with notes.connection():
            assert await look(projects.MAIN) == ["old"]
            other = asyncio.create_task(look("B"))
            for _ in range(steps):
                await asyncio.sleep(0)
            time.sleep(0.01)  # noqa: ASYNC251 - the server answers meanwhile, and the task has not heard of it
            other.cancel()
            await asyncio.wait([other])
            assert await look(projects.MAIN) == ["old"]

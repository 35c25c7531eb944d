"""What is left of a person in a database that they were erased from."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from chassis.core import projects
from chassis.db import erasure, isolation
from chassis.db.database import Database
from chassis.db.erasure import Person, pattern_of_names
from chassis.db.rows import fetch_column
from testing import PostgresServer

ZORA = Person(7, "zora.quill@example.com", ("Zora Quill", "Kim", 'Zora "Zo" Quill', "Jürgen Groß"))


@pytest.fixture
async def database(postgres: PostgresServer) -> AsyncIterator[Database]:
    database = Database(postgres.empty_database())
    with psycopg.connect(database.url, autocommit=True) as connection:
        for statement in (
            *isolation.PREPARE,
            "CREATE TABLE idempotency_keys (caller_id bigint, body bytea)",
            "CREATE TABLE notes (id int GENERATED ALWAYS AS IDENTITY, by text, text text, document json, file bytea,"
            f" project_id text NOT NULL DEFAULT {isolation.default_project(optional=False)})",
            *isolation.isolate("notes"),
        ):
            connection.execute(statement)
    await database.open()
    yield database
    await database.close()
    postgres.drop(database.url)


async def after_erasing(
    database: Database, column: str, value: object, by: str = ZORA.email, person: Person = ZORA
) -> object:
    """Return what a note of `by` says in a column once Zora is erased."""
    with projects.within(projects.MAIN):
        async with database.transaction() as connection:
            await connection.execute(f"INSERT INTO notes (by, {column}) VALUES (%s, %s)", (by, value))
            await erasure.erase(connection, person)
            (kept,) = await fetch_column(connection, f"SELECT {column} FROM notes")
            return kept


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("seen by Zora.Quill@Example.com.", "seen by erased-7@erased.invalid."),
        ("of zora.quill@example.com.csv", "of erased-7@erased.invalid.csv"),
        ("zora.quill@example.com.au, azora.quill@example.com", "zora.quill@example.com.au, azora.quill@example.com"),
        ("zora.quill@example.com.csv.au", "zora.quill@example.com.csv.au"),
        ("Ask Zora Quill, or Zora Quiller", "Ask Erased user, or Zora Quiller"),
        ("Kim is a word", "Kim is a word"),
        ("by Jürgen Groß", "by Erased user"),
    ],
)
async def test_a_text_names_them_no_more(database: Database, text: str, left: str) -> None:
    assert await after_erasing(database, "text", text) == left


async def test_an_address_that_is_cut_names_them_no_more(database: Database) -> None:
    zora = ZORA._replace(email=f"zora.quill@{'a' * 50}.{'b' * 50}.example")
    cut = zora.email[: erasure.LONGEST_AUTHOR]
    assert await after_erasing(database, "text", f"{cut}; {zora.email}; {cut}c", by=cut, person=zora) == (
        f"{zora.pseudonym}; {zora.pseudonym}; {cut}c"
    )


async def test_a_document_names_them_no_more(database: Database) -> None:
    document = '{"name": "Kim", "role": "Kimono", "by": "Zora \\"Zo\\" Quill", "notes": ["of Zora Quill"]}'
    left = {"name": "Erased user", "role": "Kimono", "by": "Erased user", "notes": ["of Erased user"]}
    assert await after_erasing(database, "document", document) == left


@pytest.mark.parametrize(
    ("file", "left"),
    [
        (
            "Title;Bÿ\nDoor;zora.quill@example.com\nAsk;Jürgen Groß",
            "Title;Bÿ\nDoor;erased-7@erased.invalid\nAsk;Erased user",
        ),
        ("\0zora.quill@example.com", "\0zora.quill@example.com"),
    ],
    ids=["a text", "no text"],
)
async def test_a_file_names_them_no_more_if_it_is_a_text(database: Database, file: str, left: str) -> None:
    kept = await after_erasing(database, "file", file.encode())
    assert isinstance(kept, bytes)
    assert kept.decode() == left


async def test_their_name_stays_where_nothing_says_that_it_is_theirs(database: Database) -> None:
    assert await after_erasing(database, "text", "Ask Zora Quill", by="other@example.com") == "Ask Zora Quill"


async def test_who_has_no_name_takes_nothing_along(database: Database) -> None:
    document = '{"name": "", "note": "of nobody"}'
    kept = await after_erasing(database, "document", document, person=ZORA._replace(names=("", " ")))
    assert kept == {"name": "", "note": "of nobody"}


def test_a_name_is_no_regular_expression() -> None:
    assert pattern_of_names(["A.B (C)"]) == r"(?<![[:alnum:]])A\.B\ \(C\)(?![[:alnum:]])"

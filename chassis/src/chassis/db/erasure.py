"""Takes what a person is called out of everything that a database holds, and leaves everything else as it is."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import orjson
from psycopg import sql

from chassis.core.projects import ALL
from chassis.db.database import Connection, in_another_project
from chassis.db.rows import fetch_all

NAME = "Erased user"
DOMAIN = "erased.invalid"


class Person(NamedTuple):
    """Who is erased: their address, and every full name that they had."""

    id: int
    email: str
    names: Sequence[str]

    @property
    def pseudonym(self) -> str:
        """What stands where the address stood."""
        return pseudonym(self.id)


class _Column(NamedTuple):
    table: str
    name: str
    type: str
    of_project: bool


_TYPES = {name: sql.SQL(name) for name in ("text", "character varying", "json", "jsonb", "text[]")}

# What is made from others is made anew with them.
_COLUMNS = """
SELECT c.relname::text AS "table", a.attname::text AS name, format_type(a.atttypid, NULL) AS type,
    c.relrowsecurity AS of_project
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND has_table_privilege(c.oid, 'UPDATE') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND format_type(a.atttypid, NULL) IN ('text', 'character varying', 'json', 'jsonb', 'text[]')
ORDER BY c.relname, a.attnum
"""


def pseudonym(user_id: int) -> str:
    """Return the address that stands for a user who was erased: one that nobody can have."""
    return f"erased-{user_id}@{DOMAIN}"


def pattern(email: str) -> str:
    """Return the regular expression of PostgreSQL's of an address by itself, not as a part of another."""
    escaped = re.sub(r"([^\w@-])", r"\\\1", email)
    return rf"(?<![[:alnum:]._%+-]){escaped}(?![[:alnum:]-]|\.[[:alnum:]])"


async def erase(connection: Connection, person: Person) -> None:
    """Put the pseudonym in the place of a person's address in every text of the database that the role may change.

    In the rows that have the address their names go, too, where they are a whole value of a JSON document. Stored
    answers to repeated requests are removed instead. In the caller's transaction, which it may take minutes in.
    """
    async with in_another_project(connection, ALL):
        await connection.execute("SELECT set_config('statement_timeout', '15min', true)")
        columns = await fetch_all(connection, _Column, _COLUMNS)
        await connection.execute(
            "DELETE FROM idempotency_keys WHERE caller_id = %s OR position(%s in body) > 0",
            (person.id, person.email.encode()),
        )
        await _erase_in_failed(connection, person)
    for table in dict.fromkeys(column.table for column in columns):
        await _erase_in(connection, person, [column for column in columns if column.table == table])


async def _erase_in_failed(connection: Connection, person: Person) -> None:
    """Do the same in the events that could not be applied: they are kept as they came, and tried again."""
    await connection.execute(
        sql.SQL(
            "UPDATE inbox_failures SET message = convert_to({}, 'UTF8')"
            # One that cannot be read has no type; it is never applied, and may be no text.
            " WHERE CASE WHEN wire_name <> '' THEN convert_from(message, 'UTF8') ~* %(pattern)s END"
        ).format(_without_names(sql.SQL("convert_from(message, 'UTF8')"), len(person.names))),
        _values(person),
    )


async def _erase_in(connection: Connection, person: Person, columns: Sequence[_Column]) -> None:
    table = sql.Identifier(columns[0].table)
    has_it = sql.SQL(" OR ").join(
        sql.SQL("{}::text ~* %(pattern)s").format(sql.Identifier(column.name)) for column in columns
    )
    values = _values(person)
    update = sql.SQL("UPDATE {} SET {} WHERE {}").format(
        table, sql.SQL(", ").join(_cleaned(column, len(person.names)) for column in columns), has_it
    )
    if not columns[0].of_project:
        await connection.execute(update, values)
        return
    # One by one: what triggers write with it belongs to the project, and knows no other.
    async with in_another_project(connection, ALL):
        query = sql.SQL("SELECT DISTINCT project_id FROM {} WHERE {}").format(table, has_it)
        projects = [row["project_id"] for row in await (await connection.execute(query, values)).fetchall()]
    for project in projects:
        async with in_another_project(connection, project):
            await connection.execute(update, values)


def _cleaned(column: _Column, names: int) -> sql.Composable:
    """Return the assignment by which a column says the same without the person."""
    name = sql.Identifier(column.name)
    return sql.SQL("{} = {}::{}").format(name, _without_names(name, names), _TYPES[column.type])


def _without_names(text: sql.Composable, names: int) -> sql.Composable:
    """Return the expression of a text that says the same without the person."""
    text = sql.SQL("regexp_replace({}::text, %(pattern)s, %(pseudonym)s, 'gi')").format(text)
    for place in range(names):
        text = sql.SQL("replace({}, {}, %(erased)s)").format(text, sql.Placeholder(f"name_{place}"))
    return text


def _values(person: Person) -> dict[str, str]:
    values = {"pattern": pattern(person.email), "pseudonym": person.pseudonym, "erased": json_string(NAME)}
    return values | {f"name_{place}": json_string(name) for place, name in enumerate(person.names)}


def json_string(text: str) -> str:
    """Return a text as it stands in a JSON document, in its quotes."""
    return orjson.dumps(text).decode()

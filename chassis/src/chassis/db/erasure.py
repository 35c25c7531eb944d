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
IS_ERASED = f"email = 'erased-' || id || '@{DOMAIN}'"
"""The condition on users that they were erased: see `pseudonym`."""
LONGEST_AUTHOR = 100
"""Characters of an address at most in the fields that say who did something: a longer one is cut there."""


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


_TYPES = {name: sql.SQL(name) for name in ("text", "character varying", "json", "jsonb", "text[]", "bytea")}

_PSEUDONYM = re.compile(rf"\berased-(\d+)@{re.escape(DOMAIN)}")

# Behind an address in the name of a file stands one of these, and no further part of the address.
_EXTENSIONS = "csv|tsv|txt|log|xls|xlsx|xlsm|json|jsonl|ndjson|xml|reqif|reqifz|htm|html|yml|yaml"

# What is made from others is made anew with them.
_COLUMNS = """
SELECT c.relname::text AS "table", a.attname::text AS name, format_type(a.atttypid, NULL) AS type,
    c.relrowsecurity AS of_project
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND has_table_privilege(c.oid, 'UPDATE') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND format_type(a.atttypid, NULL) = ANY(%s)
ORDER BY c.relname, a.attnum
"""


def pseudonym(user_id: int) -> str:
    """Return the address that stands for a user who was erased: one that nobody can have."""
    return f"erased-{user_id}@{DOMAIN}"


def pattern(email: str) -> str:
    """Return the regular expression of PostgreSQL's of an address by itself, whole or cut, not as a part of another."""
    ends = rf"(?![[:alnum:]-]|\.(?!({_EXTENSIONS})(?!\.?[[:alnum:]]))[[:alnum:]])"
    forms = "|".join(map(_literally, dict.fromkeys((email, email[:LONGEST_AUTHOR]))))
    return rf"(?<![[:alnum:]._%+-])(?:{forms}){ends}"


def pattern_of_names(names: Sequence[str]) -> str:
    """Return the regular expression of names, where they stand for the person.

    One of several words does so anywhere. One of a single word may be any word, unless it is a whole value of a JSON
    document. Without any name it finds nothing.
    """
    written = dict.fromkeys(
        form for name in names for form in (name, orjson.dumps(name).decode()[1:-1]) if name.strip()
    )
    return "|".join(map(_pattern_of_name, written)) or r"\Z."


def _pattern_of_name(name: str) -> str:
    if len(name.split()) > 1:
        return rf"(?<![[:alnum:]]){_literally(name)}(?![[:alnum:]])"
    return f'(?<="){_literally(name)}(?=")'


def _literally(text: str) -> str:
    return re.sub(r"([^\w@-])", r"\\\1", text)


def without_pseudonyms(text: str) -> str:
    """Return a text with erased people as such, and not by the address that stands for them and leads nowhere."""
    return _PSEUDONYM.sub(lambda found: f"Erased person {found[1]}", text)


async def erase(connection: Connection, person: Person) -> None:
    """Put the pseudonym in the place of a person's address in every text of the database that the role may change.

    In the rows that have the address their names go, too, as `pattern_of_names` finds them. Bytes are texts as long as
    they hold no zero: files that came, and events that could not be applied. Stored answers to repeated requests are
    removed instead. In the caller's transaction, which it may take minutes in.
    """
    async with in_another_project(connection, ALL):
        await connection.execute("SELECT set_config('statement_timeout', '15min', true)")
        columns = await fetch_all(connection, _Column, _COLUMNS, (list(_TYPES),))
        await connection.execute(
            "DELETE FROM idempotency_keys WHERE caller_id = %s OR position(%s in body) > 0",
            (person.id, person.email.encode()),
        )
    for table in dict.fromkeys(column.table for column in columns):
        await _erase_in(connection, person, [column for column in columns if column.table == table])


async def _erase_in(connection: Connection, person: Person, columns: Sequence[_Column]) -> None:
    table = sql.Identifier(columns[0].table)
    has_it = sql.SQL(" OR ").join(sql.SQL("{} ~* {}").format(*_text_and_pattern(column)) for column in columns)
    values = _values(person)
    update = sql.SQL("UPDATE {} SET {} WHERE {}").format(table, sql.SQL(", ").join(map(_cleaned, columns)), has_it)
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


def _text_and_pattern(column: _Column) -> tuple[sql.Composable, sql.Composable]:
    """Return the expression of what a column says, and the parameter by which the address is found in that."""
    name = sql.Identifier(column.name)
    if column.type != "bytea":
        return sql.SQL("{}::text").format(name), sql.Placeholder("pattern")
    text = sql.SQL("CASE WHEN position('\\x00'::bytea IN {0}) = 0 THEN convert_from({0}, 'LATIN1') END").format(name)
    return text, sql.Placeholder("pattern_in_bytes")


def _cleaned(column: _Column) -> sql.Composable:
    """Return the assignment by which a column says the same without the person."""
    name, (text, found) = sql.Identifier(column.name), _text_and_pattern(column)
    names = sql.Placeholder("names" if column.type != "bytea" else "names_in_bytes")
    text = sql.SQL("regexp_replace(regexp_replace({}, {}, %(pseudonym)s, 'gi'), {}, %(name)s, 'g')").format(
        text, found, names
    )
    if column.type == "bytea":
        return sql.SQL("{0} = coalesce(convert_to({1}, 'LATIN1'), {0})").format(name, text)
    return sql.SQL("{} = {}::{}").format(name, text, _TYPES[column.type])


def _values(person: Person) -> dict[str, str]:
    found, names = pattern(person.email), pattern_of_names(person.names)
    values = {"pattern": found, "names": names, "pseudonym": person.pseudonym, "name": NAME}
    # A byte is a character there.
    return values | {"pattern_in_bytes": _as_bytes(found), "names_in_bytes": _as_bytes(names)}


def _as_bytes(text: str) -> str:
    return text.encode().decode("latin-1")

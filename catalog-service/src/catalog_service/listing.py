"""Pages of items as PostgreSQL writes them, and counts that need no counting."""

from collections.abc import Sequence
from uuid import UUID

import orjson
from psycopg.rows import tuple_row

from chassis.db.database import Connection
from chassis.web.listing import Conditions, Row


def counted(table: str) -> str:
    """Return the query of how many rows a table of items, links or linked items has. It does not count them."""
    return f"SELECT coalesce(sum(rows), 0)::bigint FROM row_counts WHERE table_name = '{table}'"


async def fetch_page_as_json(
    connection: Connection,
    columns: Sequence[str],
    table: str,
    conditions: Conditions,
    order: str,
    skip: int,
    limit: int,
    more: str = "",
) -> tuple[orjson.Fragment, int]:
    """Return one page of a table with an id as one JSON array that PostgreSQL has written, and how many rows there are.

    `more` is an expression over the table, with its name, that each row of the page has as a last member.

    For pages that are answered as they are stored: to make twenty rows into objects only to write them down
    again takes longer than the rest of the query. The page is chosen by ids, which an index gives without the rows.
    """
    cursor = connection.cursor(row_factory=tuple_row)
    await cursor.execute(
        f"""
        SELECT ({f"SELECT count(*) FROM {table} {conditions.where}" if conditions.where else counted(table)}),
               ({
            _as_json(
                columns,
                table,
                f"SELECT id FROM {table} {conditions.where} ORDER BY {order} LIMIT %(limit)s OFFSET %(skip)s",
                order,
                more,
            )
        })
        """,
        {**conditions.parameters, "limit": limit, "skip": skip},
        prepare=conditions.prepare,
    )
    row = await cursor.fetchone()
    assert row is not None
    return orjson.Fragment(row[1]), row[0]


async def fetch_rows_as_json(
    connection: Connection, columns: Sequence[str], table: str, ids: Sequence[UUID], more: str = ""
) -> orjson.Fragment:
    """Return those rows of a table that have one of the ids, in the order of the ids; see fetch_page_as_json."""
    cursor = connection.cursor(row_factory=tuple_row)
    order = "array_position(%(ids)s::uuid[], id)"
    await cursor.execute(
        f"SELECT ({_as_json(columns, table, 'SELECT unnest(%(ids)s::uuid[])', order, more)})", {"ids": list(ids)}
    )
    row = await cursor.fetchone()
    assert row is not None
    return orjson.Fragment(row[0])


def _as_json(columns: Sequence[str], table: str, ids: str, order: str, more: str) -> str:
    selected = ", ".join(_IN_JSON.get(column, column) for column in columns)
    if more:
        selected += f", {more.rpartition(' ')[2]}"
    return f"""
        SELECT coalesce(json_agg(page), '[]')::text FROM (
            SELECT {selected} FROM (
                SELECT {", ".join(columns)}{f", {more}" if more else ""} FROM {table}
                WHERE id = ANY (ARRAY({ids})) ORDER BY {order}
            ) stored
        ) page
    """


_RFC_3339 = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_IN_JSON = {name: f"to_char({name}, '{_RFC_3339}') AS {name}" for name in ("created_at", "updated_at")}
"""PostgreSQL would write +00:00; the connection's time zone is UTC."""


def by_field(row: Row, columns: Sequence[str], prefix: str = "") -> Row:
    """Return the members `columns` of a row in that order, from columns whose names begin with `prefix`."""
    return {column: row[prefix + column] for column in columns}

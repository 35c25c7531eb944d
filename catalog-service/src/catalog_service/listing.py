"""Lists in SQL: conditions put together from fixed fragments, and a page with its total in one query."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import tuple_row

from chassis.db.database import Connection
from chassis.web.paging import Choice

Row = dict[str, Any]


class Conditions:
    """The WHERE of a list; values are parameters, never text."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}
        self._fragments: list[str] = []

    def add(self, fragment: str, **parameters: Any) -> None:
        """Ask that `fragment`, which may name `parameters` as %(name)s, holds."""
        self._fragments.append(fragment)
        self.parameters.update(parameters)

    def choose(self, column: str, choice: Choice[Any] | None) -> None:
        """Ask that the column has one of the included values and none of the excluded; an empty text is NULL."""
        if choice is None:
            return
        name = column.replace(".", "_")
        if choice.included:
            or_none = f" OR {column} IS NULL" if "" in choice.included else ""
            self.add(f"({column} = ANY(%({name}_in)s){or_none})", **{f"{name}_in": list(choice.included)})
        if choice.excluded:
            and_some = f" AND {column} IS NOT NULL" if "" in choice.excluded else ""
            self.add(
                f"({column} = ANY(%({name}_out)s)) IS NOT TRUE{and_some}", **{f"{name}_out": list(choice.excluded)}
            )

    def choose_of(self, fragments: dict[Any, str], choice: Choice[Any] | None) -> None:
        """Like `choose`, for values that are conditions: `fragments` has one for each value."""
        if choice is None:
            return
        if choice.included:
            self.add(f"({' OR '.join(fragments[value] for value in choice.included)})")
        for value in choice.excluded:
            self.add(f"NOT {fragments[value]}")

    @property
    def where(self) -> str:
        """`WHERE ...`, or nothing when there is no condition."""
        return f"WHERE {' AND '.join(self._fragments)}" if self._fragments else ""

    @property
    def also(self) -> str:
        """` AND ...`, to stand behind another condition, or nothing."""
        return "".join(f" AND {fragment}" for fragment in self._fragments)

    @property
    def prepare(self) -> bool | None:
        """Whether a query should be prepared, as psycopg takes it: which plan is good depends on the values."""
        return False if self._fragments else None


def counted(table: str) -> str:
    """Return the query of how many rows a table of items, links or linked items has. It does not count them."""
    return f"SELECT coalesce(sum(rows), 0)::bigint FROM row_counts WHERE table_name = '{table}'"


async def fetch_page(
    connection: Connection,
    columns: str,
    source: str,
    conditions: Conditions,
    order: str,
    skip: int,
    limit: int,
    total: str | None = None,
    joined: str = "",
) -> tuple[list[Row], int]:
    """Return one page of `columns` FROM `source`, `table alias`, and how many rows there are in all.

    Args: `total` is a query for that where counting can be spared. `joined` are joins that give each row exactly
    one: made for the rows of the page only.
    """
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"""
        SELECT counted.total, page.*
        FROM (SELECT ({total or f"SELECT count(*) FROM {source} {conditions.where}"}) AS total) counted
        LEFT JOIN LATERAL (
            SELECT true AS is_row, {columns} FROM (
                SELECT * FROM {source} {conditions.where} ORDER BY {order} LIMIT %(limit)s OFFSET %(skip)s
            ) {source.split()[-1]} {joined} ORDER BY {order}
        ) page ON true
        """,
        {**conditions.parameters, "limit": limit, "skip": skip},
        prepare=conditions.prepare,
    )
    rows = await cursor.fetchall()
    found: int = rows[0]["total"]
    # Beyond the last row, the total stands alone.
    page = rows if rows[0]["is_row"] else []
    for row in page:
        del row["total"], row["is_row"]
    return page, found


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


def ordered(expression: str, *, descending: bool, tie: str, nullable: bool = False) -> str:
    """Return an ORDER BY that is total: rows without a value come last, ties end at column `tie`.

    An index is of use only if the order is spelled as it is: say NULLS only where there are some.
    """
    return f"{expression} {'DESC' if descending else 'ASC'}{' NULLS LAST' if nullable else ''}, {tie}"


def by_field(row: Row, columns: Sequence[str], prefix: str = "") -> Row:
    """Return the members `columns` of a row in that order, from columns whose names begin with `prefix`."""
    return {column: row[prefix + column] for column in columns}

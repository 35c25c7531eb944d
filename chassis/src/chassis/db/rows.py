"""Rows of a query as a dataclass, a NamedTuple or a TypedDict whose fields are the query's columns."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from psycopg import AsyncCursor
from psycopg.rows import class_row, scalar_row

from chassis.db.database import Connection

T = TypeVar("T")
Parameters = Mapping[str, Any] | Sequence[Any] | None


async def fetch_all(
    connection: Connection, row: type[T], query: str, parameters: Parameters = None, *, prepare: bool | None = None
) -> list[T]:
    """Return all rows; `prepare=False` has the query planned each time."""
    return await (await _executed(connection, row, query, parameters, prepare)).fetchall()


async def fetch_one(connection: Connection, row: type[T], query: str, parameters: Parameters = None) -> T | None:
    """Return the first row, None when there is none."""
    return await (await _executed(connection, row, query, parameters, None)).fetchone()


async def fetch_only(connection: Connection, row: type[T], query: str, parameters: Parameters = None) -> T:
    """Return the row of a query that always has one."""
    found = await fetch_one(connection, row, query, parameters)
    assert found is not None, "there is always a row"
    return found


async def fetch_column(connection: Connection, query: str, parameters: Parameters = None) -> list[Any]:
    """Return the first column of all rows."""
    cursor = connection.cursor(row_factory=scalar_row)
    await cursor.execute(query, parameters)
    return await cursor.fetchall()


async def fetch_value(connection: Connection, query: str, parameters: Parameters = None) -> Any:
    """Return the first column of the first row, None when there is none."""
    cursor = connection.cursor(row_factory=scalar_row)
    await cursor.execute(query, parameters)
    return await cursor.fetchone()


async def _executed(
    connection: Connection, row: type[T], query: str, parameters: Parameters, prepare: bool | None
) -> AsyncCursor[T]:
    return await connection.cursor(row_factory=class_row(row)).execute(query, parameters, prepare=prepare)

"""The SQL that links and relations have in common."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from psycopg.types.json import Json

from catalog_service.row_counts import counted
from chassis.db.database import Connection
from chassis.db.rows import fetch_column
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

T = TypeVar("T", bound=Mapping[str, Any])


class JoiningTable(Generic[T]):
    """A table of what joins two items; T is a row with both of them in short."""

    def __init__(self, name: str, alias: str, selected: str, joined: str) -> None:
        """Args: `selected` are the columns of a T over the table as `alias` and its items, which `joined` joins."""
        self._name, self._alias, self._selected, self._joined = name, alias, selected, joined
        self._source = f"{name} {alias}"

    async def find(self, connection: Connection, row_id: UUID) -> T | None:
        """Return a row, or None."""
        cursor = connection.cursor(binary=True)
        await cursor.execute(
            f"SELECT {self._selected} FROM {self._source} {self._joined} WHERE {self._alias}.id = %s", (row_id,)
        )
        return cast("T | None", await cursor.fetchone())

    async def lock(self, connection: Connection, row_id: UUID) -> None:
        """Lock a row, if there is one: what is read after it is the newest of it and of its items."""
        await connection.execute(f"SELECT FROM {self._name} WHERE id = %s FOR UPDATE", (row_id,))

    async def find_ids(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of the rows that fulfil conditions on the alias, in their order."""
        query = f"SELECT {self._alias}.id FROM {self._source} {conditions.where} ORDER BY {self._alias}.id"
        return await fetch_column(connection, query, conditions.parameters)

    async def find_newest(self, connection: Connection, conditions: Conditions, limit: int) -> list[T]:
        """Return the newest of the rows that fulfil conditions on the alias."""
        cursor = connection.cursor(binary=True)
        order = f"ORDER BY {self._alias}.created_at DESC, {self._alias}.id"
        newest = f"SELECT * FROM {self._source} {conditions.where} {order} LIMIT %(limit)s"
        await cursor.execute(
            f"SELECT {self._selected} FROM ({newest}) {self._alias} {self._joined} {order}",
            {**conditions.parameters, "limit": limit},
        )
        return cast("list[T]", await cursor.fetchall())

    async def lock_all(self, connection: Connection, ids: Sequence[UUID], conditions: Conditions) -> list[T]:
        """Return those of the rows that fulfil conditions on the alias, locked in one order."""
        key = f"{self._alias}.id"
        locked = await fetch_column(
            connection,
            f"SELECT {key} FROM {self._source} WHERE {key} = ANY(%(wanted)s){conditions.also}"
            f" ORDER BY {key} FOR UPDATE",
            {**conditions.parameters, "wanted": list(ids)},
        )
        cursor = connection.cursor(binary=True)
        await cursor.execute(
            f"SELECT {self._selected} FROM {self._source} {self._joined} WHERE {key} = ANY(%s) ORDER BY {key}",
            (locked,),
        )
        return cast("list[T]", await cursor.fetchall())

    async def find_page(self, connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
        """Return one page of rows, each a T, under conditions on the alias."""
        total = None if conditions.narrowed else counted(self._name)
        return await fetch_page(
            connection, self._selected, self._source, conditions, wanted, total, joined=self._joined
        )

    async def update(self, connection: Connection, row_id: UUID, fields: Mapping[str, Any], event: NewEvent) -> None:
        """Store fields of a row with its event."""
        assignments = ", ".join(f"{name} = %({name})s" for name in fields)
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}) UPDATE {self._name} SET {assignments} WHERE id = %(id)s",
            {**fields, "id": row_id, **outbox.fields(event)},
        )

    async def update_all(self, connection: Connection, rows: Sequence[Row], names: Sequence[str]) -> None:
        """Store the columns `names` of rows, which must be locked."""
        await connection.execute(
            f"UPDATE {self._source} SET {', '.join(f'{name} = new.{name}' for name in names)}"
            f" FROM json_populate_recordset(NULL::{self._name}, %s) AS new WHERE {self._alias}.id = new.id",
            (Json([{name: row[name] for name in ("id", *names)} for row in rows]),),
        )

    async def delete(self, connection: Connection, row_id: UUID, event: NewEvent) -> None:
        """Delete a row with its event."""
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}) DELETE FROM {self._name} WHERE id = %(id)s",
            {"id": row_id, **outbox.fields(event)},
        )

    async def delete_all(self, connection: Connection, ids: Sequence[UUID]) -> None:
        """Delete rows, which must be locked."""
        await connection.execute(f"DELETE FROM {self._name} WHERE id = ANY(%s)", (list(ids),))

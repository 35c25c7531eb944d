"""Changes of many links, or of many relations, at once."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, cast
from uuid import UUID

from catalog_service.bulk.schemas import BulkChange, BulkStatus
from catalog_service.bulk.service import Outcome, checked
from catalog_service.joining.repository import T
from catalog_service.joining.service import Joining, changes_of
from chassis.core.problems import Problem
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.listing import Row
from chassis.web.responses import encode, etag


class ManyJoinings(Generic[T]):
    """Links or relations, of which many are changed by one request."""

    def __init__(self, joining: Joining[T], path: str, key: str, ends: Callable[[Mapping[str, Any]], Row]) -> None:
        """Args: `path` is the address of their list, `key` their id in SQL; `ends` are both items of one in short."""
        self.label, self.path, self.key = joining.label, path, key
        self._joining, self._ends = joining, ends

    def check(self, asked: BulkChange) -> None:
        """Accept what the model accepts."""

    async def conditions(self, connection: Connection, filters: Any) -> Conditions:
        """Return what the filters ask for; raises Invalid."""
        conditions: Conditions = filters.conditions()
        return conditions

    async def find(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of those that fulfil the conditions."""
        return await self._joining.table.find_ids(connection, conditions)

    async def first(self, connection: Connection, conditions: Conditions, limit: int) -> list[Row]:
        """Return the newest of them, with their items in short."""
        rows = await self._joining.table.find_newest(connection, conditions, limit)
        return [{**self._joining.shown(row), **self._ends(row)} for row in rows]

    async def change(
        self, connection: Connection, ids: Sequence[UUID], conditions: Conditions, asked: BulkChange, actor: Actor
    ) -> dict[UUID, Outcome]:
        """Patch or delete those that fulfil the conditions; return what became of each."""
        rows = await self._joining.table.lock_all(connection, ids, conditions)
        current, outcomes = checked(rows, asked, self._etag)
        if asked.delete:
            await self._joining.table.delete_all(connection, [row["id"] for row in current])
            await outbox.record(connection, [self._joining.deleted(row, actor) for row in current])
            return outcomes | {row["id"]: Outcome(BulkStatus.DELETED) for row in current}
        named = {} if asked.patch is None else asked.patch.model_dump(exclude_unset=True)
        changing = [(row, changed) for row in current if (changed := changes_of(row, named))]
        return outcomes | (await self._patch(connection, changing, actor) if changing else {})

    def not_found(self) -> Problem:
        """Return the problem of an id that none has."""
        return self._joining.not_found()

    async def _patch(
        self, connection: Connection, changing: Sequence[tuple[T, Row]], actor: Actor
    ) -> dict[UUID, Outcome]:
        """Store what changes of each; return what became of them."""
        rows, events = [], []
        for row, changed in changing:
            now = cast(T, {**row, **changed, "updated_at": datetime.now(UTC)})
            rows.append(now)
            events.append(self._joining.updated(row, now, changed, actor))
        names = {name for _, changed in changing for name in changed}
        await self._joining.table.update_all(connection, cast("list[Row]", rows), [*names, "updated_at"])
        await outbox.record(connection, events)
        return {row["id"]: Outcome(BulkStatus.CHANGED, self._etag(row)) for row in rows}

    def _etag(self, row: T) -> str:
        return etag(encode(self._joining.shown(row)))

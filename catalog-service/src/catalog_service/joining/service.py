"""What can be done to links and to relations alike: each change with its event, in one transaction."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Generic, cast
from uuid import UUID

from catalog_service.authorship import author
from catalog_service.items.suspicion import Side
from catalog_service.joining.repository import JoiningTable, T
from chassis.core.problems import NotFound
from chassis.db.database import Connection, Database
from chassis.messaging.events import Actor, NewEvent
from chassis.messaging.payloads import Payload
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row

Check = Callable[[Row], None]
"""Refuses a change, by raising, of a link or relation as it is answered."""
CheckChange = Callable[[Connection, T, Row], Awaitable[None]]
"""Raises Conflict for fields that a row cannot have beside others."""


class Joining(Generic[T]):
    """Links or relations; T is one, read with both of its items in short."""

    def __init__(
        self,
        label: str,
        table: JoiningTable[T],
        sides: Sequence[Side],
        shown: Callable[[Mapping[str, Any]], Row],
        events: tuple[type[Payload], type[Payload]],
    ) -> None:
        """Args: `label` is what one is called; `shown` is one as it is answered; `events` of an update and of an end.

        The payload of an event has it as the member `label`.
        """
        self.label, self.table, self.shown = label, table, shown
        self._versions = {f"{side.name}_version": f"{side.name}_version_now" for side in sides}
        self._updated, self._deleted = events

    async def get(self, connection: Connection, row_id: UUID) -> T:
        """Return one; raises NotFound."""
        row = await self.table.find(connection, row_id)
        if row is None:
            raise self.not_found()
        return row

    def not_found(self) -> NotFound:
        """Return the problem of an id that none has."""
        return NotFound(f"There is no {self.label} with this id.", code=f"{self.label}_not_found")

    async def read(self, database: Database, row_id: UUID) -> T:
        """The same as `get` on a connection of its own."""
        async with database.connection() as connection:
            return await self.get(connection, row_id)

    async def find_page(self, database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
        """Return one page, each a T, under conditions on the alias of the table."""
        async with database.connection() as connection:
            return await self.table.find_page(connection, conditions, wanted)

    async def update(
        self,
        database: Database,
        row_id: UUID,
        fields: Row,
        actor: Actor,
        check: Check,
        check_change: CheckChange[T] | None = None,
    ) -> Row:
        """Bring one to `fields`; return it as it is answered. No change is no update.

        Raises NotFound, what `check` raises of it as it is, and what `check_change` raises of what changes.
        """
        async with self._locked(database, row_id, check) as (connection, row):
            changed = changes_of(row, fields)
            if changed:
                if check_change is not None:
                    await check_change(connection, row, changed)
                row = await self._update(connection, row, changed, {}, actor)
        return self.shown(row)

    async def confirm(self, database: Database, row_id: UUID, actor: Actor, check: Check) -> Row:
        """Confirm that one holds for both items as they are now; return it as it is answered."""
        async with self._locked(database, row_id, check) as (connection, row):
            row = await self.confirm_locked(connection, row, actor)
        return self.shown(row)

    async def confirm_locked(self, connection: Connection, row: T, actor: Actor) -> T:
        """The same of one that is locked; return it as it is then."""
        confirmation = {"confirmed_at": datetime.now(UTC), "confirmed_by": author(actor)}
        versions = {name: row[now] for name, now in self._versions.items()}
        return await self._update(connection, row, confirmation, versions, actor)

    async def bring_back(self, connection: Connection, row: T, before: Row, told: Iterable[str], actor: Actor) -> None:
        """Bring a locked one back to what it was; its event tells the fields `told`."""
        stored: Row = {**before, "updated_at": datetime.now(UTC)}
        event = self.updated(row, cast(T, {**row, **stored}), told, actor)
        await self.table.update(connection, row["id"], stored, event)

    async def delete(self, database: Database, row_id: UUID, actor: Actor, check: Check) -> None:
        """Delete one."""
        async with self._locked(database, row_id, check) as (connection, row):
            await self.table.delete(connection, row_id, self.deleted(row, actor))

    @asynccontextmanager
    async def _locked(self, database: Database, row_id: UUID, check: Check) -> AsyncIterator[tuple[Connection, T]]:
        """A transaction with one that is about to change; raises NotFound, and what `check` raises of it."""
        async with database.transaction() as connection:
            await self.table.lock(connection, row_id)
            row = await self.get(connection, row_id)
            check(self.shown(row))
            yield connection, row

    async def _update(self, connection: Connection, row: T, changed: Row, more: Row, actor: Actor) -> T:
        """Store the `changed` fields of one, which its event tells, and `more`; return it with them."""
        stored: Row = {**changed, **more, "updated_at": changed.get("confirmed_at") or datetime.now(UTC)}
        now = cast(T, {**row, **stored})
        await self.table.update(connection, row["id"], stored, self.updated(row, now, changed, actor))
        return now

    def updated(self, row: T, now: T, names: Iterable[str], actor: Actor) -> NewEvent:
        """Return the event of one that was `row` and whose fields `names` are as in `now`."""
        changes = {name: {"before": row[name], "after": now[name]} for name in names}
        payload = self._updated.model_validate({self.label: now, "changes": changes})
        return NewEvent(payload, str(row["id"]), actor)

    def deleted(self, row: Mapping[str, Any], actor: Actor) -> NewEvent:
        """Return the event of one that was deleted, read with the titles of its items."""
        return NewEvent(self._deleted.model_validate({self.label: row}), str(row["id"]), actor)


def changes_of(row: Mapping[str, Any], fields: Row) -> Row:
    """Return those of the fields that a row has otherwise."""
    return {name: value for name, value in fields.items() if row[name] != value}

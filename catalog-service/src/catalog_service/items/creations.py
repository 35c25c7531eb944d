"""Creations that arrive together are stored together: a transaction costs more than the rows in it."""

import asyncio
from dataclasses import dataclass, field

import psycopg

from catalog_service.items import repository
from catalog_service.items.kinds import ItemKind
from chassis.core import projects
from chassis.db.database import AWAY, Database
from chassis.messaging.events import NewEvent
from chassis.web.listing import Row

_MOST_AT_ONCE = 64
_TRANSACTIONS = 2
"""So that one is made ready while the other is committed."""


@dataclass(eq=False, slots=True)
class _Creation:
    row: Row
    event: NewEvent
    fields_revision: int
    project: str = field(default_factory=projects.current.get)
    stored: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class ItemCreations:
    """Stores new items of one kind, each with its event.

    While transactions are under way, what arrives waits for the next one; one that comes alone does not
    wait. One that is refused does not harm the others.
    """

    def __init__(self, kind: ItemKind, database: Database) -> None:
        self._kind = kind
        self._database = database
        self._waiting: list[_Creation] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._running = 0

    async def store(self, row: Row, event: NewEvent, fields_revision: int) -> None:
        """Return when item and event are committed; raises Conflict when the external_id is taken.

        Raises StaleFields where the fields of the project are at another revision by now.
        """
        creation = _Creation(row, event, fields_revision)
        self._waiting.append(creation)
        if self._running < _TRANSACTIONS:
            self._running += 1
            task = asyncio.create_task(self._run())
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        await asyncio.shield(creation.stored)

    async def _run(self) -> None:
        try:
            while self._waiting:
                with projects.within(self._waiting[0].project):
                    await self._store(self._next_batch())
        finally:
            # In the same step as the last look: what comes later must not count on this one. A callback of the
            # task would run a step later.
            self._running -= 1

    def _next_batch(self) -> list[_Creation]:
        """Take what is stored next: of one project, in the order in which it came."""
        project = self._waiting[0].project
        batch = [creation for creation in self._waiting if creation.project == project][:_MOST_AT_ONCE]
        taken = set(map(id, batch))
        self._waiting = [creation for creation in self._waiting if id(creation) not in taken]
        return batch

    async def _store(self, batch: list[_Creation]) -> None:
        try:
            if len(batch) == 1:
                one = batch[0]
                async with self._database.statement() as connection:
                    await repository.insert(connection, self._kind, one.row, one.event, one.fields_revision)
            else:
                async with self._database.statement() as connection:
                    rows = [(creation.row, creation.event) for creation in batch]
                    # Of several revisions all but the highest are stale, so the lowest finds them out.
                    revision = min(creation.fields_revision for creation in batch)
                    await repository.insert_all(connection, self._kind, rows, revision)
        except Exception as error:  # noqa: BLE001 - handed to those who wait
            if len(batch) > 1 and isinstance(error, psycopg.Error) and not isinstance(error, AWAY):
                # One of them is to blame: store each by itself, so that the others get through.
                for creation in batch:
                    await self._store([creation])
                return
            for creation in batch:
                creation.stored.set_exception(error)
                creation.stored.exception()
        else:
            for creation in batch:
                creation.stored.set_result(None)

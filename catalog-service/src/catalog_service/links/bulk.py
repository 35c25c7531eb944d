"""Changes of many links at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from catalog_service.bulk.schemas import BulkChange, BulkStatus
from catalog_service.bulk.service import Outcome, checked
from catalog_service.links import repository, service
from catalog_service.links.repository import LinkRow
from chassis.core.problems import Problem
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.listing import Row
from chassis.web.responses import encode, etag


class ManyLinks:
    """Links, of which many are changed by one request."""

    label = "link"
    path = "/api/v1/links"
    key = "l.id"

    def check(self, asked: BulkChange) -> None:
        """Accept what the model accepts."""

    async def conditions(self, connection: Connection, filters: Any) -> Conditions:
        """Return what the filters ask for; raises Invalid."""
        conditions: Conditions = filters.conditions()
        return conditions

    async def find(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of the links that fulfil the conditions."""
        return await repository.find_ids(connection, conditions)

    async def first(self, connection: Connection, conditions: Conditions, limit: int) -> list[Row]:
        """Return the newest of them, with their items in short."""
        rows = await repository.find_newest(connection, conditions, limit)
        return [{**service.shown(row), **service.ends(row)} for row in rows]

    async def change(
        self, connection: Connection, ids: Sequence[UUID], conditions: Conditions, asked: BulkChange, actor: Actor
    ) -> dict[UUID, Outcome]:
        """Patch or delete those of the links that fulfil the conditions; return what became of each."""
        rows = await repository.lock_all(connection, ids, conditions)
        current, outcomes = checked(rows, asked, _etag)
        if asked.delete:
            await repository.delete_all(connection, [row["id"] for row in current])
            await outbox.record(connection, [service.deleted(row, actor) for row in current])
            return outcomes | {row["id"]: Outcome(BulkStatus.DELETED) for row in current}
        return outcomes | await _patch(connection, current, asked, actor)

    def not_found(self) -> Problem:
        """Return the problem of an id that no link has."""
        return service.not_found()


async def _patch(
    connection: Connection, rows: Sequence[LinkRow], asked: BulkChange, actor: Actor
) -> dict[UUID, Outcome]:
    named = {} if asked.patch is None else asked.patch.model_dump(exclude_unset=True)
    now, events = [], []
    for row in rows:
        if changed := service.changes_of(row, named):
            link = cast(LinkRow, {**row, **changed, "updated_at": datetime.now(UTC)})
            now.append(link)
            events.append(service.updated(row, link, changed, actor))
    if now:
        await repository.update_all(connection, cast("list[Row]", now), [*named, "updated_at"])
        await outbox.record(connection, events)
    return {link["id"]: Outcome(BulkStatus.CHANGED, _etag(link)) for link in now}


def _etag(row: LinkRow) -> str:
    return etag(encode(service.shown(row)))

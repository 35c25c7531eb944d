"""Changes of many relations at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from catalog_service.bulk.schemas import BulkChange, BulkStatus
from catalog_service.bulk.service import Outcome, checked
from catalog_service.links.service import changes_of
from catalog_service.relations import repository, service
from catalog_service.relations.repository import RelationRow
from chassis.core.problems import Problem
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.listing import Row
from chassis.web.responses import encode, etag


class ManyRelations:
    """Relations, of which many are changed by one request."""

    label = "relation"
    path = "/api/v1/relations"
    key = "n.id"

    def check(self, asked: BulkChange) -> None:
        """Accept what the model accepts."""

    async def conditions(self, connection: Connection, filters: Any) -> Conditions:
        """Return what the filters ask for; raises Invalid."""
        conditions: Conditions = filters.conditions()
        return conditions

    async def find(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of the relations that fulfil the conditions."""
        return await repository.find_ids(connection, conditions)

    async def first(self, connection: Connection, conditions: Conditions, limit: int) -> list[Row]:
        """Return the newest of them, with their requirements in short."""
        rows = await repository.find_newest(connection, conditions, limit)
        return [{**service.shown(row), **service.ends(row)} for row in rows]

    async def change(
        self, connection: Connection, ids: Sequence[UUID], conditions: Conditions, asked: BulkChange, actor: Actor
    ) -> dict[UUID, Outcome]:
        """Patch or delete those of the relations that fulfil the conditions; return what became of each."""
        rows = await repository.lock_all(connection, ids, conditions)
        current, outcomes = checked(rows, asked, _etag)
        if asked.delete:
            await repository.delete_all(connection, [row["id"] for row in current])
            await outbox.record(connection, [service.deleted(row, actor) for row in current])
            return outcomes | {row["id"]: Outcome(BulkStatus.DELETED) for row in current}
        named = {} if asked.patch is None else asked.patch.model_dump(exclude_unset=True)
        for row in current:
            if changed := changes_of(row, named):
                outcomes[row["id"]] = await _patch(connection, row, changed, actor)
        return outcomes

    def not_found(self) -> Problem:
        """Return the problem of an id that no relation has."""
        return service.not_found()


async def _patch(connection: Connection, row: RelationRow, changed: Row, actor: Actor) -> Outcome:
    """Store what changes of a relation: one after the other, since each may close a circle that another opens."""
    try:
        await service.check_change(connection, row, changed)
    except Problem as refused:
        return Outcome(BulkStatus.FAILED, _etag(row), refused)
    now = cast(RelationRow, {**row, **changed, "updated_at": datetime.now(UTC)})
    await repository.update_all(connection, [cast(Row, now)], [*changed, "updated_at"])
    await outbox.record(connection, [service.updated(row, now, changed, actor)])
    return Outcome(BulkStatus.CHANGED, _etag(now))


def _etag(row: RelationRow) -> str:
    return etag(encode(service.shown(row)))

"""Changes of many relations at once."""

from collections.abc import Sequence
from uuid import UUID

from catalog_service.bulk.schemas import BulkStatus
from catalog_service.bulk.service import Outcome
from catalog_service.joining.bulk import ManyJoinings
from catalog_service.relations import service
from catalog_service.relations.repository import RelationRow
from chassis.core.problems import Problem
from chassis.db.database import Connection
from chassis.messaging.events import Actor
from chassis.web.listing import Row


class _ManyRelations(ManyJoinings[RelationRow]):
    async def _patch(
        self, connection: Connection, changing: Sequence[tuple[RelationRow, Row]], actor: Actor
    ) -> dict[UUID, Outcome]:
        """Store one after the other, since each may close a circle that another opens."""
        outcomes: dict[UUID, Outcome] = {}
        for row, changed in changing:
            try:
                await service.check_change(connection, row, changed)
            except Problem as refused:
                outcomes[row["id"]] = Outcome(BulkStatus.FAILED, self._etag(row), refused)
            else:
                outcomes |= await super()._patch(connection, [(row, changed)], actor)
        return outcomes


MANY_RELATIONS = _ManyRelations(service.RELATIONS, "/api/v1/relations", "n.id", service.ends)

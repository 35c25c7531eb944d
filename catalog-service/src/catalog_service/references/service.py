"""What can be done to references that wait."""

from uuid import UUID

from catalog_service.references import repository
from chassis.core.problems import NotFound
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from contracts.catalog import ReferenceDeleted


async def give_up(connection: Connection, reference_id: UUID, actor: Actor) -> None:
    """Delete a reference that waits; raises NotFound where it does not (any more)."""
    row = await repository.take(connection, reference_id)
    if row is None:
        raise NotFound(
            "No reference with this id waits: it was given up, its item was deleted, or it has become a link.",
            code="reference_not_found",
        )
    event = ReferenceDeleted.model_validate({"reference": row})
    await outbox.record(connection, [NewEvent(event, str(reference_id), actor)])

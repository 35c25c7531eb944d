"""The events that say who changed an item what was found for it."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from contracts.suggestion import ItemSuggestionsGenerated
from suggestion_service.scale import Scale
from suggestion_service.store.scoring_queue import ChangedItem


async def record_generated(
    connection: Connection,
    items: Iterable[ChangedItem],
    scale: Scale,
    created: Mapping[UUID, int],
    found: Mapping[UUID, int],
) -> None:
    """Record, for each item that suggestions were created for, an event whose actor is who changed the item."""
    await outbox.record(
        connection,
        [
            NewEvent(
                ItemSuggestionsGenerated(
                    item_type=item.side,
                    item_id=item.item_id,
                    item_title=item.title,
                    item_external_id=item.external_id,
                    algorithm=scale.algorithm,
                    threshold=scale.threshold,
                    suggestions_created=created[item.item_id],
                    suggestions_skipped=found[item.item_id] - created[item.item_id],
                ),
                str(item.item_id),
                item.actor,
                correlation_id=item.correlation_id,
            )
            for item in items
            if item.item_id in created
        ],
    )

"""The event that tells who changed an item what was found for it."""

from chassis.messaging.events import NewEvent
from contracts.suggestion import ItemSuggestionsGenerated
from suggestion_service.scale import Scale
from suggestion_service.store.scoring_queue import ChangedItem


def generated_event(item: ChangedItem, scale: Scale, *, created: int, found: int) -> NewEvent:
    """Return the event of new suggestions for an item, of so many pairs found; its actor is who changed the item."""
    return NewEvent(
        ItemSuggestionsGenerated(
            item_type=item.side,
            item_id=item.item_id,
            item_title=item.title,
            item_external_id=item.external_id,
            algorithm=scale.algorithm,
            threshold=scale.threshold,
            suggestions_created=created,
            suggestions_skipped=found - created,
        ),
        str(item.item_id),
        item.actor,
        correlation_id=item.correlation_id,
    )

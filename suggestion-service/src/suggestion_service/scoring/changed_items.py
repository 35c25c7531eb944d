"""Items that somebody changed, and how those people are told of what was found for them."""

from dataclasses import dataclass
from uuid import UUID

from chassis.messaging.events import Actor, NewEvent
from contracts.suggestion import ItemSuggestionsGenerated
from suggestion_service.engine import Algorithm, Side


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item as `actor` left it, by a request with this correlation id."""

    item_id: UUID
    side: Side
    title: str
    external_id: str | None
    actor: Actor
    correlation_id: str

    def __str__(self) -> str:
        return f"{self.side.replace('_', ' ')} {self.item_id}"


def generated_event(
    item: ChangedItem, algorithm: Algorithm, threshold: float, *, created: int, skipped: int
) -> NewEvent:
    """Return the event of new suggestions for an item; its actor is who changed the item."""
    return NewEvent(
        ItemSuggestionsGenerated(
            item_type=item.side,
            item_id=item.item_id,
            item_title=item.title,
            item_external_id=item.external_id,
            algorithm=algorithm,
            threshold=threshold,
            suggestions_created=created,
            suggestions_skipped=skipped,
        ),
        str(item.item_id),
        item.actor,
        correlation_id=item.correlation_id,
    )

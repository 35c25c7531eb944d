"""What the events of the services tell those who are connected: which things changed, not how.

Several events of one batch that say the same of different things are one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from chassis.messaging.events import Received
from contracts import suggestion
from notification_service.vocabulary import ResourceType, StreamEventName

MOST_IDS = 500
"""Of one event: more are told by several."""

_RUN = {
    "run_id",
    "status",
    "pairs_analyzed",
    "suggestions_created",
    "suggestions_updated",
    "suggestions_withdrawn",
    "suggestions_skipped",
    "error",
}

T = TypeVar("T")


@dataclass(slots=True)
class StreamEvent:
    """One event of the stream, for everybody who is signed in."""

    name: StreamEventName
    data: dict[str, Any]


StreamEvents = Callable[[Sequence[Received[Any]]], Iterable[StreamEvent]]


def item_changed(kind: ResourceType, change: str) -> StreamEvents:
    """Return the events of items that were created, updated or deleted; a payload holds its item under `kind`."""

    def events(received: Sequence[Received[Any]]) -> Iterator[StreamEvent]:
        ids = list(dict.fromkeys(getattr(event.data, kind).id for event in received))
        for some in _parts(ids):
            yield StreamEvent(StreamEventName.ITEM_CHANGED, {"resource_type": kind, "ids": some, "change": change})

    return events


def suggestion_reviewed(received: Sequence[Received[suggestion.SuggestionReviewed]]) -> Iterator[StreamEvent]:
    """Yield what single reviews have decided."""
    for event in received:
        yield from _reviewed(event, event.data.suggestion.status, [event.data.suggestion.id])


def suggestions_bulk_reviewed(
    received: Sequence[Received[suggestion.SuggestionsBulkReviewed]],
) -> Iterator[StreamEvent]:
    """Yield what reviews of many have decided."""
    for event in received:
        status = "accepted" if event.data.action == "accept" else "rejected"
        yield from _reviewed(event, status, [one.id for one in event.data.suggestions])


def suggestions_reopened(received: Sequence[Received[suggestion.SuggestionsReopened]]) -> Iterator[StreamEvent]:
    """Yield what is pending again."""
    for event in received:
        yield from _reviewed(event, "pending", [one.id for one in event.data.suggestions])


def suggestions_expired(received: Sequence[Received[suggestion.SuggestionsExpired]]) -> Iterator[StreamEvent]:
    """Yield what nobody has decided, and nobody can any more."""
    for event in received:
        yield from _reviewed(event, "expired", event.data.suggestion_ids)


def run_finished(received: Sequence[Received[suggestion.RunFinished]]) -> Iterator[StreamEvent]:
    """Yield how runs ended."""
    for event in received:
        run = event.data
        progress = 1.0 if run.status == "completed" else None
        yield StreamEvent(StreamEventName.RUN_PROGRESS, {**run.model_dump(include=_RUN), "progress": progress})


def _reviewed(event: Received[Any], status: str, ids: Sequence[UUID]) -> Iterator[StreamEvent]:
    for some in _parts(ids):
        data = {"suggestion_ids": some, "status": status, "by": event.actor.email, "at": event.time}
        yield StreamEvent(StreamEventName.SUGGESTION_REVIEWED, data)


def _parts(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(ids), MOST_IDS):
        yield ids[start : start + MOST_IDS]

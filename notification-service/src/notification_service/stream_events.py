"""What the events of the services tell those who are connected: which things changed, not how.

Several events of one batch that say the same of different things are one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from chassis.messaging.events import Received
from contracts import catalog, suggestion
from notification_service.vocabulary import ResourceType, StreamEventName

MOST_IDS = 500
"""Of one event: more are told by several."""

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


def import_applied(received: Sequence[Received[catalog.ImportApplied]]) -> Iterator[StreamEvent]:
    """Yield what imports have changed: not each item, of which there may be many, but of which kinds."""
    for event in received:
        for kind in (ResourceType.REQUIREMENT, ResourceType.TEST_CASE, ResourceType.LINK, ResourceType.RELATION):
            for action in ("create", "update", "delete"):
                if event.data.count(kind, action):
                    changed: dict[str, Any] = {"resource_type": kind, "ids": [], "change": f"{action}d"}
                    yield StreamEvent(StreamEventName.ITEM_CHANGED, changed)
        yield StreamEvent(
            StreamEventName.IMPORT_PROGRESS, {"import_id": event.data.import_id, "status": "applied", "progress": 1.0}
        )


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


def proposals_changed(
    received: Sequence[Received[suggestion.ProposalsMade] | Received[suggestion.ProposalsReviewed]],
) -> Iterator[StreamEvent]:
    """Yield which proposals are new, or are not what they were."""
    for event in received:
        by_status: dict[str, list[UUID]] = {}
        for one in event.data.proposals:
            by_status.setdefault(one.status, []).append(one.id)
        for status, ids in by_status.items():
            for some in _parts(ids):
                data = {"proposal_ids": some, "status": status, "by": event.actor.email, "at": event.time}
                yield StreamEvent(StreamEventName.PROPOSAL_CHANGED, data)


def run_progressed(received: Sequence[Received[suggestion.RunProgressed]]) -> Iterator[StreamEvent]:
    """Yield how far runs are: of what was told of each at once, the last."""
    for run in {event.data.run_id: event.data for event in received}.values():
        yield _run(run, "running")


def run_finished(received: Sequence[Received[suggestion.RunFinished]]) -> Iterator[StreamEvent]:
    """Yield how runs ended."""
    for event in received:
        yield _run(event.data, event.data.status)


def import_progressed(received: Sequence[Received[catalog.ImportProgressed]]) -> Iterator[StreamEvent]:
    """Yield how far imports are: of what was told of each at once, the last."""
    for progress in {event.data.import_id: event.data for event in received}.values():
        yield StreamEvent(StreamEventName.IMPORT_PROGRESS, progress.model_dump())


def test_run_completed(received: Sequence[Received[catalog.TestRunCompleted]]) -> Iterator[StreamEvent]:
    """Yield which runs of tests have ended."""
    for event in received:
        data = event.data.model_dump(include={"run_id", "branch", "is_default_branch", "counts"})
        yield StreamEvent(StreamEventName.TEST_RUN_COMPLETED, data)


def coverage_changed(received: Sequence[Received[catalog.CoverageChanged]]) -> Iterator[StreamEvent]:
    """Yield the figures of the record: of what was told at once, the last."""
    yield StreamEvent(StreamEventName.COVERAGE, received[-1].data.model_dump())


def _run(run: suggestion.RunProgressed | suggestion.RunFinished, status: str) -> StreamEvent:
    not_told = {"algorithm", "threshold", "pending_only", "advised_threshold"}
    figures = {"progress": None, "error": None, **run.model_dump(exclude=not_told)}
    return StreamEvent(StreamEventName.RUN_PROGRESS, figures | {"status": status})


def _reviewed(event: Received[Any], status: str, ids: Sequence[UUID]) -> Iterator[StreamEvent]:
    for some in _parts(ids):
        data = {"suggestion_ids": some, "status": status, "by": event.actor.email, "at": event.time}
        yield StreamEvent(StreamEventName.SUGGESTION_REVIEWED, data)


def _parts(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(ids), MOST_IDS):
        yield ids[start : start + MOST_IDS]

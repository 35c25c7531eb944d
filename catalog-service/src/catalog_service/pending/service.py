"""What the events of suggestion-service say about pairs."""

from collections.abc import Sequence

from catalog_service.pending import repository
from chassis.db.database import Connection
from chassis.messaging.events import Received
from contracts.suggestion import PendingPairsChanged, ReviewedSuggestion, SuggestionReviewed, SuggestionsBulkReviewed


async def change(connection: Connection, events: list[Received[PendingPairsChanged]]) -> None:
    """Store which pairs are pending, or are so no more."""
    for event in events:
        pairs = event.data.pairs
        await repository.put(
            connection,
            [requirement_id for requirement_id, test_case_ids in pairs.items() for _ in test_case_ids],
            [test_case_id for test_case_ids in pairs.values() for test_case_id in test_case_ids],
            pending=event.data.pending,
            sequence=event.sequence,
        )


async def review(connection: Connection, events: list[Received[SuggestionReviewed]]) -> None:
    """Store that reviewed pairs are pending no more."""
    for event in events:
        await _settle(connection, [event.data.suggestion], event.sequence)


async def review_many(connection: Connection, events: list[Received[SuggestionsBulkReviewed]]) -> None:
    """Do the same for those of one review."""
    for event in events:
        await _settle(connection, event.data.suggestions, event.sequence)


async def _settle(connection: Connection, reviewed: Sequence[ReviewedSuggestion], sequence: int) -> None:
    await repository.put(
        connection,
        [str(suggestion.requirement_id) for suggestion in reviewed],
        [str(suggestion.test_case_id) for suggestion in reviewed],
        pending=False,
        sequence=sequence,
    )

"""What becomes of proposals with something else: the suggestion of their pair, a link, an item."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from chassis.core import request_context
from chassis.db.database import Connection
from chassis.messaging.events import Received
from contracts import catalog
from suggestion_service.store import proposal_intents, proposals
from suggestion_service.store.proposal_intents import Review

_LINKED = "The requirement and the test case were linked directly."
_GONE = "The requirement or the test case does not exist any more."


async def follow(connection: Connection, suggestion_ids: Sequence[UUID]) -> None:
    """Review the proposals that are attached to suggestions as these have just been reviewed."""
    if suggestion_ids:
        await proposals.follow(connection, suggestion_ids)


async def follow_reopened(connection: Connection, suggestion_ids: Sequence[UUID]) -> None:
    """Have the proposals pending again that were reviewed with suggestions which have just been reopened."""
    if suggestion_ids:
        await proposals.reopen(connection, [], datetime.now(UTC), suggestion_ids)


async def take_links(connection: Connection, made: Sequence[Received[catalog.LinkCreated]]) -> None:
    """End the proposals to link pairs that were linked directly.

    A proposal whose own link was made, although nothing is known of it here, is accepted by `reconcile`: so it is after
    a restore of an older backup.
    """
    pairs = {(event.data.link.requirement_id, event.data.link.test_case_id): event for event in made}
    if not pairs:
        return
    for pair, ids in (await proposals.lock_of_pairs(connection, list(pairs))).items():
        event = pairs[pair]
        if event.data.suggestion_id is None:
            await proposals.end(connection, ids, "expired", _LINKED)
        elif event.data.suggestion_id in ids:
            await proposal_intents.begin(connection, [event.data.suggestion_id], _resumed(event))


def _resumed(event: Received[catalog.LinkCreated]) -> Review:
    now, actor = datetime.now(UTC), event.actor
    return Review(
        action="accept",
        review_id=uuid4(),
        reviewer_id=actor.id,
        email=actor.email,
        feedback=None,
        correlation_id=request_context.request_id.get(),
        now=now,
        due_at=now,
        at_page=actor.at_page,
        link_id=event.data.link.id,
    )


async def end_of_items(connection: Connection, ids: Sequence[UUID]) -> None:
    """End the proposals about items that are gone."""
    waiting = await proposals.lock_of_items(connection, ids)
    if waiting:
        await proposals.end(connection, waiting, "expired", _GONE)

"""What becomes of proposals with something else: the suggestion of their pair, a link, an item."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from chassis.core import request_context
from chassis.core.projects import within as in_project
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent, Received
from contracts import catalog
from contracts.suggestion import ProposalsReviewed, ToldProposal
from suggestion_service.store import proposal_intents, proposals
from suggestion_service.store.proposal_intents import Review
from suggestion_service.store.proposals import Changed

_LINKED = "The requirement and the test case were linked directly."
_LIFETIME = timedelta(days=30)
_OLD = f"Nobody reviewed it within {_LIFETIME.days} days."
_AT_ONCE = 100
_GONE = "The requirement or the test case does not exist any more."


async def follow(connection: Connection, suggestion_ids: Sequence[UUID], actor: Actor) -> None:
    """Review the proposals that are attached to suggestions as these have just been reviewed."""
    if suggestion_ids:
        await tell_reviewed(connection, await proposals.follow(connection, suggestion_ids), actor)


async def follow_reopened(connection: Connection, suggestion_ids: Sequence[UUID], actor: Actor) -> None:
    """Have the proposals pending again that were reviewed with suggestions which have just been reopened."""
    if suggestion_ids:
        await tell_reviewed(
            connection, await proposals.reopen(connection, [], datetime.now(UTC), suggestion_ids), actor
        )


async def tell_reviewed(connection: Connection, changed: Sequence[Changed], actor: Actor) -> None:
    """Record the event of proposals whose status has changed, if there are any."""
    if changed:
        event = ProposalsReviewed(proposals=[told(one) for one in changed])
        await outbox.record(connection, [NewEvent(event, str(changed[0].id), actor)])


def told(changed: Changed) -> ToldProposal:
    """Return a proposal as events tell of it."""
    client = None if changed.client is None else " ".join(filter(None, changed.client.values()))
    return ToldProposal.model_validate({**asdict(changed), "client": client})


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
            await tell_reviewed(connection, await proposals.end(connection, ids, "expired", _LINKED), event.actor)
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
        await tell_reviewed(connection, await proposals.end(connection, waiting, "expired", _GONE), SYSTEM)


async def end_old(database: Database) -> None:
    """End what nobody has reviewed within 30 days, in each project."""
    async with database.across() as connection:
        due = await proposals.projects_with_old(connection, datetime.now(UTC) - _LIFETIME)
    for project in due:
        with in_project(project):
            await _end_old(database)


async def _end_old(database: Database) -> None:
    while True:
        async with database.transaction() as connection:
            old = await proposals.lock_old(connection, datetime.now(UTC) - _LIFETIME, _AT_ONCE)
            await tell_reviewed(connection, await proposals.end(connection, old, "expired", _OLD), SYSTEM)
        if len(old) < _AT_ONCE:
            return

"""Accepting in three steps: the intent is stored, catalog makes the link, the result is stored with its event.

A suggestion with an intent is closed to other reviews. Whoever ends between the steps is finished by `reconcile`.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from uuid import UUID, uuid4

from chassis.core import projects, request_context
from chassis.core.identity import Identity
from chassis.core.problems import Problem, Unavailable
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from chassis.web.peers import Peer
from contracts.catalog import LinkState
from contracts.suggestion import SuggestionReviewed
from suggestion_service.metrics import count_reviews
from suggestion_service.review import following, links
from suggestion_service.review.links import Refused
from suggestion_service.review.withdrawal import expired_event
from suggestion_service.store import accept_intents, suggestions
from suggestion_service.store.accept_intents import Acceptance, AcceptIntent

_log = logging.getLogger(__name__)

_RECONCILED_AT_ONCE = 50

Outcome = UUID | Refused | Problem
"""What became of an intent: the link, a refusal for good, or a problem that leaves the intent to `reconcile`."""


def new_acceptance(reviewer: Identity, feedback: str | None, link_type: str, patience: timedelta) -> Acceptance:
    """Return what `begin` stores with each suggestion. After `patience` what is not finished is reconciled."""
    return _acceptance(actor_of(reviewer), feedback, link_type, None, patience)


def _acceptance(
    actor: Actor, feedback: str | None, link_type: str, link_id: UUID | None, patience: timedelta
) -> Acceptance:
    now, request_id = datetime.now(UTC), request_context.request_id.get()
    return Acceptance(
        uuid4(), actor.id, actor.email, feedback, link_type, link_id, request_id, now, now + patience, actor.at_page
    )


async def begin(database: Database, ids: Sequence[UUID], acceptance: Acceptance) -> list[AcceptIntent]:
    """Store the intent to accept; return the intents of those suggestions that were pending."""
    async with database.statement() as connection:
        return await accept_intents.begin(connection, ids, acceptance)


async def resume(connection: Connection, actor: Actor, link: LinkState, suggestion_id: UUID) -> None:
    """Take up an acceptance that nothing is known of here, although its link was made: `reconcile` finishes it.

    So it is after a restore: this service's backup is from a moment before that of catalog's.
    """
    made = _acceptance(actor, None, link.link_type, link.id, timedelta(0))
    await accept_intents.begin(connection, [suggestion_id], made)


async def link(catalog: Peer, intents: Sequence[AcceptIntent]) -> dict[UUID, Outcome]:
    """Have the links of intents made, many by one call; return the outcome of each."""
    waits = Unavailable(
        "catalog-service does not answer right now. The acceptance is kept and finished by itself when it does; read"
        " the suggestion in a while.",
        retry_after=5,
    )
    outcomes: dict[UUID, Outcome] = dict.fromkeys((intent.suggestion_id for intent in intents), waits)
    for intent, outcome in await links.ask(links.make, catalog, intents):
        if outcome is None:
            _log.error("catalog-service does not understand the link of suggestion %s.", intent.suggestion_id)
        else:
            outcomes[intent.suggestion_id] = outcome
    return outcomes


async def finish_refused(database: Database, intent: AcceptIntent, refused: Refused) -> None:
    """Take a suggestion whose link was refused out of the queue; let it be where its acceptance was undone."""
    async with database.transaction() as connection:
        if refused.reason is None:
            await accept_intents.drop(connection, intent.suggestion_id)
        elif await suggestions.expire_refused(connection, intent.suggestion_id, refused.reason):
            await outbox.record(connection, [expired_event([intent.suggestion_id], refused.reason, intent.reviewer)])


async def finish(database: Database, intent: AcceptIntent, outcome: Outcome) -> None:
    """Do what the outcome asks for; a problem leaves the intent to `reconcile`."""
    if isinstance(outcome, UUID):
        await finish_linked(database, intent, outcome)
    elif isinstance(outcome, Refused):
        await finish_refused(database, intent, outcome)


async def finish_linked(database: Database, intent: AcceptIntent, link_id: UUID) -> None:
    """Accept a suggestion whose link was made, with its event; nothing when somebody else has done so."""
    async with database.transaction() as connection:
        accepted = await suggestions.accept(connection, [(intent.suggestion_id, link_id)])
        await following.follow(connection, [one.id for one in accepted], intent.reviewer)
        events = [SuggestionReviewed(suggestion=one, review_id=intent.review_id) for one in accepted]
        await outbox.record(
            connection,
            [
                NewEvent(event, str(intent.suggestion_id), intent.reviewer, correlation_id=intent.correlation_id)
                for event in events
            ],
        )
    count_reviews(accepted)


async def reconcile(database: Database, catalog: Peer) -> None:
    """Finish what was begun and not finished: a crash, a time-out, catalog away."""
    async with database.across() as connection:
        overdue = await accept_intents.claim_overdue(connection, _RECONCILED_AT_ONCE)
    by_project = attrgetter("project_id")
    for project, intents in groupby(sorted(overdue, key=by_project), key=by_project):
        with projects.within(project):
            await _finish_all(database, catalog, list(intents))


async def _finish_all(database: Database, catalog: Peer, intents: Sequence[AcceptIntent]) -> None:
    outcomes = await link(catalog, intents)
    for intent in intents:
        await finish(database, intent, outcomes[intent.suggestion_id])

"""Accepting in three steps: the intent is stored, catalog makes the link, the result is stored with its event.

A suggestion with an intent is closed to other reviews. Whoever ends between the steps is finished by `reconcile`.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from chassis.core import request_context
from chassis.core.identity import Identity
from chassis.core.problems import Problem, Unavailable
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.peers import Peer
from contracts.catalog import LinkState
from contracts.suggestion import ReviewedSuggestion, SuggestionReviewed
from suggestion_service.metrics import count_reviews
from suggestion_service.review import links, repository
from suggestion_service.review.links import Refused
from suggestion_service.review.withdrawal import expired_event

_log = logging.getLogger(__name__)

_LINKS_AT_ONCE = 200
_RECONCILED_AT_ONCE = 50

Outcome = UUID | Refused | Problem
"""What became of an intent: the link, a refusal for good, or a problem that leaves the intent to `reconcile`."""


def new_intent(reviewer: Identity, feedback: str | None, link_type: str, patience: timedelta) -> dict[str, Any]:
    """Return what `begin` stores with each suggestion. After `patience` what is not finished is reconciled."""
    return _intent(Actor(reviewer.id, reviewer.email), link_type, patience) | {"feedback": feedback}


def _intent(actor: Actor, link_type: str, patience: timedelta) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "review_id": uuid4(),
        "reviewer_id": actor.id,
        "email": actor.email,
        "feedback": None,
        "link_type": link_type,
        "link_id": None,
        "correlation_id": request_context.request_id.get(),
        "now": now,
        "due_at": now + patience,
    }


async def begin(database: Database, ids: Sequence[UUID], intent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Store the intent to accept; return the intents of those suggestions that were pending."""
    async with database.statement() as connection:
        return await repository.begin_accept(connection, ids, intent)


async def resume(connection: Connection, actor: Actor, link: LinkState, suggestion_id: UUID) -> None:
    """Take up an acceptance that nothing is known of here, although its link was made: `reconcile` finishes it.

    So it is after a restore: this service's backup is from a moment before that of catalog's.
    """
    intent = _intent(actor, link.link_type, timedelta(0)) | {"link_id": link.id}
    await repository.begin_accept(connection, [suggestion_id], intent)


async def link(catalog: Peer, intents: Sequence[dict[str, Any]]) -> dict[UUID, Outcome]:
    """Have the links of intents made, many by one call; return the outcome of each."""
    waits = Unavailable(
        "catalog-service does not answer right now. The acceptance is kept and finished by itself when it does; read"
        " the suggestion in a while.",
        retry_after=5,
    )
    outcomes: dict[UUID, Outcome] = dict.fromkeys((intent["suggestion_id"] for intent in intents), waits)
    for begin in range(0, len(intents), _LINKS_AT_ONCE):
        some = intents[begin : begin + _LINKS_AT_ONCE]
        try:
            made = await links.make(catalog, some)
        except Unavailable as problem:
            _log.warning("The links of %d suggestions have to wait: %s", len(intents) - begin, problem)
            break
        for intent, outcome in zip(some, made, strict=True):
            if outcome is None:
                _log.error("catalog-service does not understand the link of suggestion %s.", intent["suggestion_id"])
            else:
                outcomes[intent["suggestion_id"]] = outcome
    return outcomes


async def finish_refused(database: Database, intent: dict[str, Any], refused: Refused) -> None:
    """Take a suggestion whose link was refused out of the queue; let it be where its acceptance was undone."""
    actor = Actor(intent["reviewer_id"], intent["reviewer_email"])
    async with database.transaction() as connection:
        if refused.reason is None:
            await repository.give_up(connection, intent["suggestion_id"])
        elif await repository.finish_refused(connection, intent["suggestion_id"], refused.reason):
            await outbox.record(connection, [expired_event([intent["suggestion_id"]], refused.reason, actor)])


async def finish_linked(database: Database, intent: dict[str, Any], link_id: UUID) -> None:
    """Accept a suggestion whose link was made, with its event; nothing when somebody else has done so."""
    async with database.transaction() as connection:
        accepted = await repository.finish_linked(connection, [(intent["suggestion_id"], link_id)])
        await outbox.record(
            connection,
            [reviewed_event(row, Actor(intent["reviewer_id"], intent["reviewer_email"]), intent) for row in accepted],
        )
    count_reviews(accepted)


def reviewed_event(row: dict[str, Any], actor: Actor, intent: dict[str, Any]) -> NewEvent:
    """Return the event of one accepted suggestion."""
    return NewEvent(
        SuggestionReviewed(suggestion=ReviewedSuggestion(**row), review_id=row["review_id"]),
        str(row["id"]),
        actor,
        correlation_id=intent["correlation_id"],
    )


async def reconcile(database: Database, catalog: Peer) -> None:
    """Finish what was begun and not finished: a crash, a time-out, catalog away."""
    async with database.connection() as connection:
        overdue = await repository.claim_overdue(connection, _RECONCILED_AT_ONCE)
    if not overdue:
        return
    outcomes = await link(catalog, overdue)
    for intent in overdue:
        outcome = outcomes[intent["suggestion_id"]]
        if isinstance(outcome, UUID):
            await finish_linked(database, intent, outcome)
        elif isinstance(outcome, Refused):
            await finish_refused(database, intent, outcome)

"""Reviews: of one suggestion, and of many by one request."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from chassis import outbox
from chassis.database import Connection, Database
from chassis.events import NewEvent, actor_of
from chassis.identity import Identity
from chassis.peers import Peer
from chassis.problems import Conflict, Invalid, NotFound, Problem
from contracts.suggestion import ReviewedSuggestion, SuggestionReviewed, SuggestionsBulkReviewed
from suggestion_service.metrics import count_reviews
from suggestion_service.review import acceptance, repository
from suggestion_service.review.filters import Filters
from suggestion_service.review.links import Refused
from suggestion_service.review.schemas import Accept, Action, BulkReview, Reject

_PATIENCE = timedelta(seconds=5)
_BULK_PATIENCE = timedelta(seconds=60)
_MOST_BY_FILTER = 5000


async def get(database: Database, suggestion_id: UUID) -> dict[str, Any]:
    """Give a suggestion as it is answered; raise NotFound."""
    async with database.connection() as connection:
        suggestion = await repository.get(connection, suggestion_id)
    if suggestion is None:
        raise _not_found()
    return suggestion


async def accept(database: Database, catalog: Peer, suggestion_id: UUID, reviewer: Identity, review: Accept) -> None:
    """Accept a suggestion; its link can be read when this returns.

    Raises NotFound; Conflict when it is not pending or its pair is linked already; Unavailable when catalog does
    not answer: then the acceptance is finished later.
    """
    intents = await acceptance.begin(database, [suggestion_id], reviewer, review.feedback, review.link_type, _PATIENCE)
    if not intents:
        async with database.connection() as connection:
            raise (await _why_not(connection, [suggestion_id]))[suggestion_id]
    outcome = (await acceptance.link(catalog, intents))[suggestion_id]
    if isinstance(outcome, UUID):
        await acceptance.finish_linked(database, intents[0], outcome)
    elif isinstance(outcome, Refused):
        await acceptance.finish_refused(database, intents[0], outcome)
        raise outcome.problem
    else:
        raise outcome


async def reject(connection: Connection, suggestion_id: UUID, reviewer: Identity, review: Reject) -> dict[str, Any]:
    """Reject a suggestion and give it; raise NotFound, or Conflict when it is not pending."""
    rejected = await repository.reject(connection, [suggestion_id], reviewer.email, review.feedback, datetime.now(UTC))
    if not rejected:
        raise (await _why_not(connection, [suggestion_id]))[suggestion_id]
    event = SuggestionReviewed(suggestion=ReviewedSuggestion(**rejected[0]))
    await outbox.record(connection, [NewEvent(event, str(suggestion_id), actor_of(reviewer))])
    return rejected[0]


async def review_in_bulk(
    database: Database, catalog: Peer, reviewer: Identity, review: BulkReview
) -> list[dict[str, Any]]:
    """Review many suggestions; give one result an id, in order. One event tells of all."""
    ids = review.ids if review.ids is not None else await _matching(database, review)
    different = list(dict.fromkeys(ids))
    if review.action is Action.ACCEPT:
        reviewed, problems = await _accept_all(database, catalog, reviewer, review, different)
    else:
        reviewed, problems = await _reject_all(database, reviewer, review, different)
    results = {
        **{
            row["id"]: {
                "id": row["id"],
                "status": row["status"],
                "link_id": row["link_id"],
                "code": None,
                "detail": None,
            }
            for row in reviewed
        },
        **{
            suggestion_id: {
                "id": suggestion_id,
                "status": "error",
                "link_id": None,
                "code": problem.code,
                "detail": problem.detail,
            }
            for suggestion_id, problem in problems.items()
        },
    }
    return [results[suggestion_id] for suggestion_id in ids]


async def _matching(database: Database, review: BulkReview) -> list[UUID]:
    assert review.filter is not None, "the schema asks for ids or a filter"
    try:
        filters = Filters.read(**review.filter.model_dump())
    except Invalid as invalid:
        errors = [
            type(error)(error.pointer.replace("/query/", "/filter/"), error.message, error.code)
            for error in invalid.errors
        ]
        raise Invalid.fields(errors) from None
    async with database.connection() as connection:
        ids = await repository.matching(connection, filters, _MOST_BY_FILTER + 1)
    if len(ids) > _MOST_BY_FILTER:
        raise Invalid.field(
            "/filter",
            f"The filter finds more than {_MOST_BY_FILTER} suggestions; narrow it.",
            "too_many_suggestions",
        )
    return ids


async def _reject_all(
    database: Database, reviewer: Identity, review: BulkReview, ids: Sequence[UUID]
) -> tuple[list[dict[str, Any]], dict[UUID, Problem]]:
    async with database.transaction() as connection:
        reviewed = await repository.reject(connection, ids, reviewer.email, review.feedback, datetime.now(UTC))
        await _record_bulk(connection, reviewer, review.action, reviewed)
        done = {row["id"] for row in reviewed}
        problems = await _why_not(connection, [one for one in ids if one not in done])
    count_reviews(reviewed)
    return reviewed, problems


async def _accept_all(
    database: Database, catalog: Peer, reviewer: Identity, review: BulkReview, ids: Sequence[UUID]
) -> tuple[list[dict[str, Any]], dict[UUID, Problem]]:
    intents = await acceptance.begin(database, ids, reviewer, review.feedback, review.link_type, _BULK_PATIENCE)
    begun = {intent["suggestion_id"] for intent in intents}
    async with database.connection() as connection:
        problems = await _why_not(connection, [one for one in ids if one not in begun])
    outcomes = await acceptance.link(catalog, intents)
    for intent in intents:
        outcome = outcomes[intent["suggestion_id"]]
        if isinstance(outcome, Refused):
            await acceptance.finish_refused(database, intent, outcome)
            problems[intent["suggestion_id"]] = outcome.problem
        elif isinstance(outcome, Problem):
            problems[intent["suggestion_id"]] = outcome
    made = [(one, outcome) for one, outcome in outcomes.items() if isinstance(outcome, UUID)]
    async with database.transaction() as connection:
        reviewed = await repository.finish_linked(connection, made)
        await _record_bulk(connection, reviewer, review.action, reviewed)
        done = {row["id"] for row in reviewed}
        # Finished by somebody else meanwhile: accepted all the same, or gone with its item.
        elsewhere = await repository.statuses(connection, [one for one, _ in made if one not in done])
    count_reviews(reviewed)
    for one, _ in made:
        if one in elsewhere and elsewhere[one][0] == "accepted":
            reviewed.append({"id": one, "status": "accepted", "link_id": elsewhere[one][1]})
        elif one not in done:
            problems[one] = _not_found()
    return reviewed, problems


async def _record_bulk(
    connection: Connection, reviewer: Identity, action: Action, reviewed: Sequence[dict[str, Any]]
) -> None:
    if reviewed:
        event = SuggestionsBulkReviewed(
            action=action.value, suggestions=[ReviewedSuggestion(**row) for row in reviewed]
        )
        await outbox.record(connection, [NewEvent(event, str(reviewed[0]["id"]), actor_of(reviewer))])


async def _why_not(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Problem]:
    """Give for suggestions that could not be reviewed the problem of each."""
    found = await repository.statuses(connection, ids) if ids else {}
    return {
        suggestion_id: _not_pending(found[suggestion_id][0]) if suggestion_id in found else _not_found()
        for suggestion_id in ids
    }


def _not_pending(status: str) -> Conflict:
    now = "being accepted by somebody" if status == "accepting" else status
    return Conflict(f"This suggestion is not pending any more: it is {now}.", code="suggestion_not_pending")


def _not_found() -> NotFound:
    return NotFound("There is no suggestion with this id.", code="suggestion_not_found")

"""Reviews of one suggestion."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent, actor_of
from chassis.web.parameters import Sort
from chassis.web.peers import Peer
from contracts.suggestion import ReviewedSuggestion, SuggestionReviewed
from suggestion_service.review import acceptance, repository
from suggestion_service.review.bodies import Accept, Reject
from suggestion_service.review.filters import Filters
from suggestion_service.review.links import Refused
from suggestion_service.review.precision import tell_precision
from suggestion_service.review.refusals import not_found, why_not
from suggestion_service.review.texts import add_spans

_PATIENCE = timedelta(seconds=5)


async def page(
    database: Database, filters: Filters, sort: Sort, skip: int, limit: int, *, texts: bool
) -> tuple[list[dict[str, Any]], int]:
    """Return one page of suggestions as they are answered, `texts` with the places of matches, and their total."""
    async with database.connection() as connection:
        rows, total = await repository.page(connection, filters, sort, skip, limit, texts=texts)
        await tell_precision(connection, rows)
    if texts:
        await add_spans(rows)
    return rows, total


async def get(database: Database, suggestion_id: UUID, *, texts: bool = False) -> dict[str, Any]:
    """Return a suggestion as it is answered, with `texts` and where terms match in them; raise NotFound."""
    async with database.connection() as connection:
        suggestion = await repository.get(connection, suggestion_id, texts=texts)
        if suggestion is None:
            raise not_found()
        await tell_precision(connection, [suggestion])
    if texts:
        await add_spans([suggestion])
    return suggestion


async def accept(database: Database, catalog: Peer, suggestion_id: UUID, reviewer: Identity, review: Accept) -> None:
    """Accept a suggestion; its link can be read when this returns.

    Raises NotFound; Conflict when it is not pending or its pair is linked already; Unavailable when catalog does
    not answer: then the acceptance is finished later.
    """
    intent = acceptance.new_intent(reviewer, review.feedback, review.link_type, _PATIENCE)
    intents = await acceptance.begin(database, [suggestion_id], intent)
    if not intents:
        async with database.connection() as connection:
            raise (await why_not(connection, [suggestion_id]))[suggestion_id]
    outcome = (await acceptance.link(catalog, intents))[suggestion_id]
    if isinstance(outcome, UUID):
        await acceptance.finish_linked(database, intents[0], outcome)
    elif isinstance(outcome, Refused):
        await acceptance.finish_refused(database, intents[0], outcome)
        raise outcome.problem
    else:
        raise outcome


async def reject(connection: Connection, suggestion_id: UUID, reviewer: Identity, review: Reject) -> dict[str, Any]:
    """Reject a suggestion and return it; raise NotFound, or Conflict when it is not pending."""
    rejection = {
        "review_id": uuid4(),
        "email": reviewer.email,
        "feedback": review.feedback,
        "now": datetime.now(UTC),
    }
    rejected = await repository.reject(connection, [suggestion_id], rejection)
    if not rejected:
        raise (await why_not(connection, [suggestion_id]))[suggestion_id]
    event = SuggestionReviewed(suggestion=ReviewedSuggestion(**rejected[0]), review_id=rejected[0]["review_id"])
    await outbox.record(connection, [NewEvent(event, str(suggestion_id), actor_of(reviewer))])
    return rejected[0]

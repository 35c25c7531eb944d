"""Reviews of one suggestion."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.core.problems import Problem
from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent, actor_of
from chassis.web.facets import Facet, count_facets
from chassis.web.listing import Fetched, PageRequest, Row
from chassis.web.peers import Peer
from contracts.suggestion import SuggestionReviewed
from suggestion_service.metrics import count_reviews
from suggestion_service.review import acceptance, following, repository
from suggestion_service.review.bodies import Accept, Reject
from suggestion_service.review.filters import ListQuery
from suggestion_service.review.links import Refused
from suggestion_service.review.precision import add_precision, measured
from suggestion_service.review.reasons import Reasons
from suggestion_service.review.refusals import not_found, why_not
from suggestion_service.review.texts import add_spans, wants_texts
from suggestion_service.store import suggestions
from suggestion_service.store.suggestions import Rejection

_PATIENCE = timedelta(seconds=5)


async def page(database: Database, reasons: Reasons, query: ListQuery, wanted: PageRequest) -> tuple[Fetched, int]:
    """Return one page of suggestions as they are answered, and how many there are of all requirements' suggestions.

    Raises Invalid for an unknown value.
    """
    # What is wrong with the query is said whether or not the database answers.
    conditions, texts = query.conditions(), wants_texts(query.expand)
    async with database.connection() as connection:
        found = await repository.page(connection, query, conditions, wanted, texts=texts)
        of_bands = await measured(connection, found.rows)
        of_all = found.total if query.is_everything else await repository.count(connection, query.found())
    await reasons.add(found.rows)
    add_precision(found.rows, of_bands)
    if texts:
        await add_spans(found.rows)
    return found, of_all


async def facets(database: Database, query: ListQuery, wanted: Sequence[Facet]) -> Row:
    """Return how many suggestions the filters find, in all and by each facet; raise Invalid for an unknown value."""
    conditions = query.conditions()
    async with database.connection() as connection:
        return await count_facets(connection, "suggestions s", conditions, wanted)


async def get(database: Database, reasons: Reasons, suggestion_id: UUID, expand: str | None = None) -> Row:
    """Return a suggestion as it is answered, expanded as asked for; raise NotFound, or Invalid for an unknown value."""
    texts = wants_texts(expand)
    async with database.connection() as connection:
        suggestion = await repository.get(connection, suggestion_id, texts=texts)
        if suggestion is None:
            raise not_found()
        of_bands = await measured(connection, [suggestion])
    await reasons.add([suggestion])
    add_precision([suggestion], of_bands)
    if texts:
        await add_spans([suggestion])
    return suggestion


async def accept(database: Database, catalog: Peer, suggestion_id: UUID, reviewer: Identity, review: Accept) -> None:
    """Accept a suggestion; its link can be read when this returns.

    Raises NotFound; Conflict when it is not pending or its pair is linked already; Unavailable when catalog does
    not answer: then the acceptance is finished later.
    """
    intent = acceptance.new_acceptance(reviewer, review.feedback, review.link_type, _PATIENCE)
    intents = await acceptance.begin(database, [suggestion_id], intent)
    if not intents:
        async with database.connection() as connection:
            raise (await why_not(connection, [suggestion_id]))[suggestion_id]
    outcome = (await acceptance.link(catalog, intents))[suggestion_id]
    await acceptance.finish(database, intents[0], outcome)
    if isinstance(outcome, Refused):
        raise outcome.problem
    if isinstance(outcome, Problem):
        raise outcome


async def reject(database: Database, suggestion_id: UUID, reviewer: Identity, review: Reject) -> None:
    """Reject a suggestion; raise NotFound, or Conflict when it is not pending."""
    rejection = Rejection(uuid4(), reviewer.email, review.feedback, datetime.now(UTC))
    async with database.transaction() as connection:
        rejected = await suggestions.reject(connection, [suggestion_id], rejection)
        if not rejected:
            raise (await why_not(connection, [suggestion_id]))[suggestion_id]
        await following.follow(connection, [suggestion_id], actor_of(reviewer))
        event = SuggestionReviewed(suggestion=rejected[0], review_id=rejection.review_id)
        await outbox.record(connection, [NewEvent(event, str(suggestion_id), actor_of(reviewer))])
    count_reviews(rejected)

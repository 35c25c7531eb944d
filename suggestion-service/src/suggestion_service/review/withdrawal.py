"""What takes suggestions out of the queue without a review: a direct link, and time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from chassis import outbox
from chassis.database import Connection, Database
from chassis.events import SYSTEM, Actor, NewEvent
from contracts.catalog import LinkCreated
from contracts.suggestion import SuggestionsExpired
from suggestion_service.review import repository

LINKED = "The requirement and the test case were linked directly."
_LIFETIME = timedelta(days=30)
_OLD = f"Nobody reviewed it within {_LIFETIME.days} days."
_AT_ONCE = 1000


def expired_event(ids: Sequence[UUID], reason: str, actor: Actor) -> NewEvent:
    """Give the event of suggestions that left the queue."""
    return NewEvent(SuggestionsExpired(suggestion_ids=list(ids), reason=reason), str(ids[0]), actor)


async def withdraw_linked(connection: Connection, actor: Actor, links: Sequence[LinkCreated]) -> None:
    """Expire the pending suggestions of pairs that `actor` linked, but not those that the links came from."""
    ids = await repository.expire_linked(
        connection,
        [(made.link.requirement_id, made.link.test_case_id, made.suggestion_id) for made in links],
        LINKED,
    )
    if ids:
        await outbox.record(connection, [expired_event(ids, LINKED, actor)])


async def withdraw_old(database: Database) -> None:
    """Expire what has been pending for longer than 30 days."""
    while True:
        async with database.transaction() as connection:
            before = datetime.now(UTC) - _LIFETIME
            ids = await repository.expire_old(connection, before, _OLD, _AT_ONCE)
            if ids:
                await outbox.record(connection, [expired_event(ids, _OLD, SYSTEM)])
        if len(ids) < _AT_ONCE:
            return

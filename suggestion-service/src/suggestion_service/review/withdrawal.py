"""What takes suggestions out of the queue without a review: a direct link, and time."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent
from contracts.suggestion import SuggestionsExpired
from suggestion_service.store import suggestions

LINKED = "The requirement and the test case were linked directly."
_LIFETIME = timedelta(days=30)
_OLD = f"Nobody reviewed it within {_LIFETIME.days} days."
_AT_ONCE = 1000


def expired_event(ids: Sequence[UUID], reason: str, actor: Actor) -> NewEvent:
    """Return the event of suggestions that left the queue."""
    return NewEvent(SuggestionsExpired(suggestion_ids=list(ids), reason=reason), str(ids[0]), actor)


async def withdraw_linked(connection: Connection, actor: Actor, ids: Collection[UUID]) -> None:
    """Expire suggestions, which must be locked, of pairs that `actor` has linked directly."""
    expired = await suggestions.expire(connection, ids, LINKED) if ids else []
    if expired:
        await outbox.record(connection, [expired_event(expired, LINKED, actor)])


async def withdraw_old(database: Database) -> None:
    """Expire what has been pending for longer than 30 days, in each project."""
    async with database.across() as connection:
        due = await suggestions.projects_with_old(connection, datetime.now(UTC) - _LIFETIME)
    for project in due:
        with projects.within(project):
            await _withdraw_old(database)


async def _withdraw_old(database: Database) -> None:
    while True:
        async with database.transaction() as connection:
            before = datetime.now(UTC) - _LIFETIME
            ids = await suggestions.expire_old(connection, before, _OLD, _AT_ONCE)
            if ids:
                await outbox.record(connection, [expired_event(ids, _OLD, SYSTEM)])
        if len(ids) < _AT_ONCE:
            return

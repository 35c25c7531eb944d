"""Listing and ending sessions; each end with its event in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby

from psycopg.rows import DictRow

from auth_service.open_sessions import repository
from auth_service.open_sessions.repository import Seen
from auth_service.users import service as user_service
from chassis.core.identity import Identity
from chassis.core.problems import NotFound
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent, actor_of
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest
from contracts.auth import SessionsEnded

_TOLD_AFTER = timedelta(seconds=90)
"""How long a gateway may take to tell that somebody was seen."""


async def find_page(database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of sessions."""
    async with database.connection() as connection:
        return await repository.find_page(connection, conditions, wanted)


async def end_one(database: Database, identity: Identity, session_id: str) -> None:
    """End a session of the caller; raise NotFound."""
    if not await _end(database, identity.id, actor_of(identity), "one", only=session_id):
        raise NotFound("You have no session with this id; it may have ended by itself.", code="session_not_found")


async def end_others(database: Database, identity: Identity) -> None:
    """End all sessions of the caller but the one of this request."""
    await _end(database, identity.id, actor_of(identity), "elsewhere", but=identity.session_id)


async def end_all(database: Database, admin: Identity, user_id: int) -> None:
    """End all sessions of a user for an admin; raise NotFound when there is no such user."""
    async with database.transaction() as connection:
        await end_all_within(connection, user_id, actor_of(admin))


async def end_all_within(connection: Connection, user_id: int, actor: Actor) -> None:
    """Do the same in the caller's transaction."""
    await _end_within(connection, user_id, actor, "by_admin")


async def end_earlier(connection: Connection, session_id: str) -> None:
    """End the session that a browser had before another one began in it, if it has not ended by itself."""
    user_id = await repository.user_of(connection, session_id)
    if user_id is not None:
        user, _ = await user_service.locked(connection, user_id)
        await _end_within(connection, user_id, Actor(user_id, user["email"]), "one", only=session_id)


async def end_by_provider(connection: Connection, user_id: int, provider_session: str | None) -> None:
    """End the sessions of a user that are of one at the identity provider; None: of any of theirs there."""
    await user_service.locked(connection, user_id)
    ended = await repository.end_of_provider(connection, user_id, provider_session)
    if ended:
        await _tell(connection, user_id, ended, SYSTEM, "by_provider")


async def end_idle(database: Database, idle: timedelta) -> None:
    """End the sessions in which nobody was seen for `idle`, as far as gateways have told."""
    async with database.transaction() as connection:
        rows = await repository.end_idle(connection, idle + _TOLD_AFTER)
        for user_id, ended in groupby(rows, lambda row: row["user_id"]):
            await _tell(connection, user_id, list(ended), SYSTEM, "idle")


async def seen(database: Database, sessions: Mapping[str, Seen]) -> None:
    """Store when and from where sessions were seen last."""
    async with database.statement() as connection:
        await repository.set_seen(connection, sessions)


async def prune(database: Database) -> None:
    """Forget the sessions that have ended by themselves."""
    async with database.statement() as connection:
        await repository.prune(connection)


async def _end(
    database: Database,
    user_id: int | None,
    actor: Actor,
    reason: str,
    *,
    only: str | None = None,
    but: str | None = None,
) -> bool:
    """End sessions; return whether there was any."""
    assert user_id is not None, "only users have sessions"
    async with database.transaction() as connection:
        return await _end_within(connection, user_id, actor, reason, only=only, but=but)


async def _end_within(
    connection: Connection,
    user_id: int,
    actor: Actor,
    reason: str,
    *,
    only: str | None = None,
    but: str | None = None,
) -> bool:
    # A renewal holds the same lock: its token cannot outlive what is ended here.
    await user_service.locked(connection, user_id)
    ended = await repository.end(connection, user_id, only=only, but=but)
    if ended:
        await _tell(connection, user_id, ended, actor, reason)
    return bool(ended)


async def _tell(connection: Connection, user_id: int, ended: Sequence[DictRow], actor: Actor, reason: str) -> None:
    event = SessionsEnded(
        user_id=user_id,
        session_ids=tuple(row["id"] for row in ended),
        expires_at=repository.longest(ended),
        reason=reason,
    )
    await outbox.record(connection, [NewEvent(event, subject=str(user_id), actor=actor)])

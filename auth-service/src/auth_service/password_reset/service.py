"""Resetting passwords. Whoever offers a link, an admin or a mail, never knows the password that is chosen by it."""

from datetime import datetime, timedelta
from typing import Any

from auth_service import one_time_links
from auth_service.password_reset import repository
from auth_service.users import repository as users
from auth_service.users import service as user_service
from auth_service.users import strength
from auth_service.users.passwords import Passwords
from auth_service.users.repository import UserRow
from chassis.core.problems import Conflict, Gone
from chassis.db.database import Connection, Database
from chassis.messaging.events import SYSTEM, Actor, NewEvent
from contracts.auth import PasswordReset, PasswordResetOffered

LIFETIME = timedelta(hours=1)
PAGE = "reset-password"
"""The address of the page on which a link is used."""


async def offer(connection: Connection, user_id: int, actor: Actor) -> tuple[str, datetime]:
    """Return the secret of a new link for a user, and until when it works; earlier ones work no more.

    To be called in a transaction. Raises NotFound, and Conflict account_inactive.
    """
    user, now = await user_service.locked(connection, user_id)
    if not await users.is_person(connection, user_id):
        raise user_service.not_found()
    if not user["is_active"]:
        raise Conflict("This account is not active; activate it first.", code="account_inactive")
    token, expires_at = one_time_links.new(), now + LIFETIME
    payload = PasswordResetOffered(user_id=user_id, email=user["email"], expires_at=expires_at)
    event = NewEvent(payload, subject=str(user_id), actor=actor)
    await repository.insert(connection, user_id, one_time_links.hash_of(token), expires_at, event)
    return token, expires_at


async def use(database: Database, passwords: Passwords, token: str, new_password: str) -> None:
    """Set the password by a link, which ends all sessions and tokens; raise Gone link_invalid, or Invalid."""
    token_hash = one_time_links.hash_of(token)
    async with database.connection() as connection:
        user_id = await repository.user_of(connection, token_hash)
        shown = {} if user_id is None else await users.shown(connection, [user_id])
    if user_id is None:
        raise _works_no_more()
    strength.check(new_password, [shown[user_id]["email"], shown[user_id]["full_name"]], "/new_password")
    password_hash = await passwords.hash(new_password)
    async with database.transaction() as connection:
        user, now = await user_service.locked(connection, user_id)
        if not user["is_active"] or not await repository.take(connection, token_hash):
            raise _works_no_more()
        await _set(connection, user, now, password_hash, "link", Actor(user_id, user["email"]))


async def by_operator(database: Database, passwords: Passwords, email: str, new_password: str, actor: Actor) -> bool:
    """Set the password of an account, to be changed at the next log-in; return whether there is such an account."""
    password_hash = await passwords.hash(new_password)
    async with database.transaction() as connection:
        found = await users.credentials(connection, email)
        if found is None or not await users.is_person(connection, found["id"]):
            return False
        user, now = await user_service.locked(connection, found["id"])
        await _set(connection, user, now, password_hash, "operator", actor, must_change_password=True)
    return True


async def by_provider(connection: Connection, user: UserRow, now: datetime, password_hash: str) -> None:
    """Set a password that nobody knows: who has the account from now on has proved so at the identity provider."""
    await _set(connection, user, now, password_hash, "identity_provider", SYSTEM)


async def forget_old(database: Database) -> None:
    """Delete the links that work no more."""
    async with database.connection() as connection:
        await repository.prune(connection, timedelta(0))


async def _set(
    connection: Connection,
    user: UserRow,
    now: datetime,
    password_hash: str,
    way: str,
    actor: Actor,
    *,
    must_change_password: bool = False,
) -> None:
    values: dict[str, Any] = {
        "password_hash": password_hash,
        "must_change_password": must_change_password,
        "tokens_not_before": now,
        "access_changed_at": now,
    }
    user["tokens_not_before"] = now
    event = NewEvent(PasswordReset(user=user_service.state(user), way=way), subject=str(user["id"]), actor=actor)
    await users.update(connection, user["id"], values, event)
    await users.end_links(connection, user["id"])


def _works_no_more() -> Gone:
    return one_time_links.works_no_more("ask an admin, or ask under “forgotten password”,")

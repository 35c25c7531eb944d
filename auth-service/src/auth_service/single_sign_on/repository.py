"""The SQL of identities at a provider, of sign-ins there that are under way, and of logout tokens."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from chassis.core.identity import Role
from chassis.db.database import Connection
from chassis.db.rows import fetch_value


class Wish(NamedTuple):
    """Where a sign-in is to lead, and the session of the same browser that is to end with it, if there is one."""

    return_to: str
    earlier_session: str | None


async def begin(connection: Connection, state_hash: str, browser_hash: str, wish: Wish, lifetime: timedelta) -> None:
    """Store a sign-in that begins."""
    await connection.execute(
        "INSERT INTO begun_sign_ins (state_hash, browser_hash, return_to, earlier_session, expires_at)"
        " VALUES (%s, %s, %s, %s, now() + %s)",
        (state_hash, browser_hash, *wish, lifetime),
    )


async def take(connection: Connection, state_hash: str, browser_hash: str) -> Wish | None:
    """Delete a sign-in that this browser has begun, and return what was wished of it; None when there is none."""
    cursor = await connection.execute(
        "DELETE FROM begun_sign_ins WHERE state_hash = %s AND browser_hash = %s AND expires_at > now()"
        " RETURNING return_to, earlier_session",
        (state_hash, browser_hash),
    )
    row = await cursor.fetchone()
    return None if row is None else Wish(**row)


async def lock_subject(connection: Connection, issuer: str, subject: str) -> None:
    """Have whoever signs in as the same at the same time wait until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{issuer} {subject}",))


async def user_of(connection: Connection, issuer: str, subject: str) -> int | None:
    """Return the id of the account of somebody."""
    found: int | None = await fetch_value(
        connection, "SELECT user_id FROM identities WHERE issuer = %s AND subject = %s", (issuer, subject)
    )
    return found


async def is_linked(connection: Connection, issuer: str, user_id: int) -> bool:
    """Check whether an account is somebody's at this provider."""
    cursor = await connection.execute("SELECT FROM identities WHERE user_id = %s AND issuer = %s", (user_id, issuer))
    return cursor.rowcount > 0


async def link(connection: Connection, issuer: str, subject: str, user_id: int, at: datetime) -> None:
    """Store whose account one is."""
    await connection.execute(
        "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (%s, %s, %s, %s)",
        (issuer, subject, user_id, at),
    )


async def memberships(connection: Connection, user_id: int) -> Mapping[str, Role]:
    """Return the roles of a user in projects, by their keys."""
    cursor = await connection.execute("SELECT project_key, role FROM project_members WHERE user_id = %s", (user_id,))
    return {row["project_key"]: Role(row["role"]) for row in await cursor.fetchall()}


async def user_of_session(connection: Connection, provider_session: str) -> int | None:
    """Return the id of the user who has a session that is of this one at the provider."""
    found: int | None = await fetch_value(
        connection, "SELECT user_id FROM sessions WHERE provider_session = %s LIMIT 1", (provider_session,)
    )
    return found


async def use_logout_token(connection: Connection, token_id: str, lifetime: timedelta) -> bool:
    """Store that a logout token was used; return whether that was for the first time."""
    cursor = await connection.execute(
        "INSERT INTO used_logout_tokens (token_id, expires_at) VALUES (%s, now() + %s)"
        " ON CONFLICT (token_id) DO NOTHING",
        (token_id, lifetime),
    )
    return cursor.rowcount > 0


async def prune(connection: Connection) -> None:
    """Delete what counts no more."""
    await connection.execute("DELETE FROM begun_sign_ins WHERE expires_at < now()")
    await connection.execute("DELETE FROM used_logout_tokens WHERE expires_at < now()")

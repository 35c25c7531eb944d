"""The SQL of links by which passwords are reset."""

from datetime import datetime, timedelta

from auth_service.users import repository as users
from chassis.db.database import Connection
from chassis.db.rows import fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent


async def insert(connection: Connection, user_id: int, token_hash: str, expires_at: datetime, event: NewEvent) -> None:
    """Store a link in place of all others of the user, and record the event."""
    await users.end_links(connection, user_id)
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO password_resets (token_hash, user_id, expires_at)"
        " VALUES (%(token_hash)s, %(of)s, %(expires_at)s)",
        {"token_hash": token_hash, "of": user_id, "expires_at": expires_at, **outbox.fields(event)},
    )


async def user_of(connection: Connection, token_hash: str) -> int | None:
    """Return whose password a link resets; None when it works no more."""
    found: int | None = await fetch_value(
        connection, "SELECT user_id FROM password_resets WHERE token_hash = %s AND expires_at > now()", (token_hash,)
    )
    return found


async def take(connection: Connection, token_hash: str) -> bool:
    """Use a link up; return whether it worked until now."""
    cursor = await connection.execute(
        "DELETE FROM password_resets WHERE token_hash = %s AND expires_at > now()", (token_hash,)
    )
    return cursor.rowcount > 0


async def prune(connection: Connection, after: timedelta) -> None:
    """Delete the links that expired so long ago."""
    await connection.execute("DELETE FROM password_resets WHERE expires_at < now() - %s", (after,))

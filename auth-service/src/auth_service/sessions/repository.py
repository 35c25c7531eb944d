"""The SQL of passwords and ended tokens."""

from datetime import datetime, timedelta
from typing import Any

from chassis.core.identity import Identity
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent


async def set_password_hash(connection: Connection, user_id: int, password_hash: str) -> None:
    """Store the same password under a newer hash: no event tells of it."""
    await connection.execute("UPDATE users SET password_hash = %s WHERE id = %s", (password_hash, user_id))


async def end_token(connection: Connection, token_id: str, expires_at: datetime, event: NewEvent) -> None:
    """Store that a token does not work any more and record the event, once, in one statement."""
    await connection.execute(
        """
        WITH ended AS (
            INSERT INTO ended_tokens (token_id, expires_at) VALUES (%(token_id)s, %(expires_at)s)
            ON CONFLICT (token_id) DO NOTHING RETURNING token_id
        )
        INSERT INTO outbox (event_id, wire_name, envelope)
        SELECT %(event_id)s::uuid, %(event_wire_name)s::text, %(event_envelope)s::text FROM ended
        """,
        {"token_id": token_id, "expires_at": expires_at, **outbox.fields(event)},
    )


async def is_ended(connection: Connection, identity: Identity) -> bool:
    """Check whether the token that a caller came with, or its session, was ended."""
    cursor = await connection.execute(
        "SELECT FROM ended_tokens WHERE token_id IN (%s, %s)", (identity.token_id, identity.session_id)
    )
    return cursor.rowcount > 0


async def prune_ended_tokens(connection: Connection) -> None:
    """Delete the ended tokens that would have expired by now."""
    await connection.execute("DELETE FROM ended_tokens WHERE expires_at < now()")


async def access_changes(connection: Connection, within: timedelta) -> dict[str, list[dict[str, Any]]]:
    """Return the users whose access changed `within` this time, and the ended tokens that have not expired.

    The owners of API tokens are among the users, whenever theirs changed: such a token says nothing of its owner.
    """
    users = await connection.execute(
        "SELECT id, email, role, is_active, tokens_not_before, access_changed_at AS changed_at"
        " FROM users WHERE access_changed_at > now() - %s"
        " OR id IN (SELECT user_id FROM api_tokens WHERE expires_at > now()) ORDER BY id",
        (within,),
    )
    changed = await users.fetchall()
    tokens = await connection.execute(
        "SELECT token_id, expires_at FROM ended_tokens WHERE expires_at > now() ORDER BY expires_at"
    )
    return {"users": changed, "ended_tokens": await tokens.fetchall()}

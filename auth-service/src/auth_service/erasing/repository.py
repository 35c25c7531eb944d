"""The SQL of erasing people."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from auth_service.users.repository import ERASURES
from chassis.db.database import Connection
from chassis.db.rows import fetch_column
from contracts.auth import UserErased

# What is of the account alone, and of no use without it.
_FORGET = (
    "DELETE FROM sessions WHERE user_id = %(id)s",
    "DELETE FROM second_factors WHERE user_id = %(id)s",
    "DELETE FROM identities WHERE user_id = %(id)s",
    "DELETE FROM password_resets WHERE user_id = %(id)s",
    "DELETE FROM invitations WHERE lower(email) = %(email)s",
    "DELETE FROM asked_mails WHERE lower(email) = %(email)s",
    "DELETE FROM login_attempts WHERE account = %(email)s",
    "DELETE FROM known_networks WHERE account = %(email)s",
    "DELETE FROM api_token_networks WHERE token_id = ANY(ARRAY(SELECT id FROM api_tokens WHERE user_id = %(id)s))",
    "UPDATE api_tokens SET revoked_at = coalesce(revoked_at, now()), name = 'erased' WHERE user_id = %(id)s",
)

_NAMES = """
SELECT DISTINCT name FROM outbox
CROSS JOIN LATERAL (SELECT envelope::json -> 'data' AS data) e
CROSS JOIN LATERAL (VALUES (data -> 'user' ->> 'full_name'), (data -> 'changes' -> 'full_name' ->> 'before')) n (name)
WHERE wire_name IN ('auth.user.created', 'auth.user.updated', 'auth.user.password_changed', 'auth.user.password_reset')
    AND data -> 'user' ->> 'id' = %s AND name IS NOT NULL
ORDER BY name
"""

_PENDING = f"""
SELECT envelope, feed_seq <= least(
    (SELECT position FROM relay_position),
    (SELECT min(coalesce(c.position, 0)) FROM unnest(%(consumers)s::text[]) AS known (consumer)
        LEFT JOIN feed_consumers c USING (consumer))) AS received
FROM outbox WHERE {ERASURES} AND envelope::json -> 'data' ->> 'former' IS NOT NULL
ORDER BY id
"""


class PendingErasure(NamedTuple):
    """An event by which a person is erased that still names them; `received`: by everybody who follows the feed."""

    event: UserErased
    time: datetime
    received: bool


async def forget(connection: Connection, user_id: int, email: str) -> None:
    """Remove what there is of an account but the account itself."""
    for statement in _FORGET:
        await connection.execute(statement, {"id": user_id, "email": email})


async def names_of(connection: Connection, user_id: int) -> list[str]:
    """Return every full name that the feed tells of a user."""
    return await fetch_column(connection, _NAMES, (str(user_id),))


async def pending(connection: Connection, consumers: list[str]) -> list[PendingErasure]:
    """Return the events that still name somebody who was erased, in their order."""
    cursor = await connection.execute(_PENDING, {"consumers": consumers})
    return [_read(row) for row in await cursor.fetchall()]


def _read(row: Mapping[str, Any]) -> PendingErasure:
    envelope = orjson.loads(row["envelope"])
    time = datetime.fromisoformat(envelope["time"])
    return PendingErasure(UserErased.model_validate(envelope["data"]), time, row["received"] is True)


async def forget_former(connection: Connection, user_id: int) -> None:
    """Take from the events what the person was called."""
    await connection.execute(
        "UPDATE outbox SET envelope = jsonb_set(envelope::jsonb, '{data,former}', 'null')::text"
        f" WHERE {ERASURES} AND envelope::json -> 'data' -> 'user' ->> 'id' = %s",
        (str(user_id),),
    )

"""The SQL of sessions: a row a log-in, whatever number of tokens it was renewed by."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from psycopg.rows import DictRow

from chassis.db.database import Connection
from chassis.db.rows import fetch_value
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, fetch_page

_SHOWN = "id, created_at, last_seen_at, address, agent, expires_at"


class Seen(NamedTuple):
    """When somebody was seen, and from where."""

    at: datetime
    address: str
    agent: str


class Begun(NamedTuple):
    """A session as a log-in or a renewal has it."""

    id: str
    user_id: int
    at: datetime
    expires_at: datetime
    address: str
    agent: str


async def begin(connection: Connection, session: Begun) -> None:
    """Store a session that begins, or goes on until its new end; one of an older program may not be there yet."""
    await connection.execute(
        "INSERT INTO sessions (id, user_id, created_at, last_seen_at, expires_at, address, agent)"
        " VALUES (%(id)s, %(user_id)s, %(at)s, %(at)s, %(expires_at)s, %(address)s, %(agent)s)"
        " ON CONFLICT (id) DO UPDATE SET last_seen_at = greatest(sessions.last_seen_at, excluded.last_seen_at),"
        " expires_at = greatest(sessions.expires_at, excluded.expires_at),"
        " address = excluded.address, agent = excluded.agent",
        session._asdict(),
    )


def open_of(user_id: int | None) -> Conditions:
    """Return the condition of the sessions of a user that still work."""
    return Conditions(
        "user_id = %(user)s",
        "expires_at > now()",
        "created_at >= (SELECT coalesce(tokens_not_before, '-infinity') FROM users WHERE users.id = user_id)",
        user=user_id,
    )


async def find_page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of sessions, as the API shows them but for which of them is the caller's own."""
    return await fetch_page(connection, _SHOWN, "sessions", conditions, wanted)


async def end(
    connection: Connection, user_id: int, *, only: str | None = None, but: str | None = None
) -> Sequence[DictRow]:
    """End the sessions of a user: `only` one, or all `but` one, or all; return `id` and `expires_at` of each."""
    cursor = await connection.execute(
        _ended(
            "user_id = %(user_id)s AND (%(only)s::text IS NULL OR id = %(only)s)"
            " AND (%(but)s::text IS NULL OR id <> %(but)s)"
        ),
        {"user_id": user_id, "only": only, "but": but},
    )
    return await cursor.fetchall()


async def end_of_provider(connection: Connection, user_id: int, provider_session: str | None) -> Sequence[DictRow]:
    """End the sessions of a user that are of one at the identity provider, None: of any; return the same."""
    cursor = await connection.execute(
        _ended(
            "user_id = %(user_id)s AND provider_session IS NOT NULL"
            " AND (%(of)s::text IS NULL OR provider_session = %(of)s)"
        ),
        {"user_id": user_id, "of": provider_session},
    )
    return await cursor.fetchall()


async def user_of(connection: Connection, session_id: str) -> int | None:
    """Return whose a session is; None when it has ended."""
    found: int | None = await fetch_value(connection, "SELECT user_id FROM sessions WHERE id = %s", (session_id,))
    return found


async def is_of_provider(connection: Connection, session_id: str) -> bool:
    """Check whether a session began at the identity provider."""
    cursor = await connection.execute(
        "SELECT FROM sessions WHERE id = %s AND provider_session IS NOT NULL", (session_id,)
    )
    return cursor.rowcount > 0


async def set_provider_session(connection: Connection, session_id: str, provider_session: str) -> None:
    """Store of which session at the identity provider a session is; an empty text is none that is known."""
    await connection.execute("UPDATE sessions SET provider_session = %s WHERE id = %s", (provider_session, session_id))


async def forget(connection: Connection, session_id: str) -> datetime | None:
    """Delete a session that ends in another way; return when its last token expires, None when it is not there."""
    found: datetime | None = await fetch_value(
        connection, "DELETE FROM sessions WHERE id = %s RETURNING expires_at", (session_id,)
    )
    return found


async def end_idle(connection: Connection, idle: timedelta) -> Sequence[DictRow]:
    """End the sessions in which nobody was seen for so long; return `id`, `user_id` and `expires_at` of each."""
    cursor = await connection.execute(_ended("last_seen_at < now() - %(idle)s"), {"idle": idle})
    return await cursor.fetchall()


async def set_seen(connection: Connection, seen: Mapping[str, Seen]) -> None:
    """Store when and from where sessions were seen, unless they were seen later."""
    await connection.execute(
        "UPDATE sessions SET last_seen_at = seen.at, address = seen.address, agent = seen.agent"
        " FROM unnest(%s::text[], %s::timestamptz[], %s::text[], %s::text[]) AS seen (id, at, address, agent)"
        " WHERE sessions.id = seen.id AND sessions.last_seen_at < seen.at",
        (
            list(seen),
            [one.at for one in seen.values()],
            [one.address for one in seen.values()],
            [one.agent for one in seen.values()],
        ),
    )


async def prune(connection: Connection) -> None:
    """Delete the sessions of which every token has expired."""
    await connection.execute("DELETE FROM sessions WHERE expires_at < now()")


def _ended(where: str) -> str:
    return f"""
        WITH gone AS (DELETE FROM sessions WHERE {where} RETURNING id, user_id, expires_at),
        ended AS (
            INSERT INTO ended_tokens (token_id, expires_at) SELECT id, expires_at FROM gone
            ON CONFLICT (token_id) DO NOTHING
        )
        SELECT id, user_id, expires_at FROM gone ORDER BY user_id, id
    """


def longest(rows: Sequence[Mapping[str, Any]]) -> datetime:
    """Return when the last token of any of these sessions expires."""
    latest: datetime = max(row["expires_at"] for row in rows)
    return latest

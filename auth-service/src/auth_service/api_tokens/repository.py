"""The SQL of API tokens."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from chassis.db.database import Connection, columns, placeholders
from chassis.db.rows import fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, fetch_page

_SHOWN = "id, name, scopes, projects, created_at, expires_at, last_used_at"
"""The columns of the API's ApiToken, in its order."""

_WORKS = "revoked_at IS NULL AND expires_at > now()"


class TokenRow(TypedDict):
    """An API token, and whose it is."""

    id: int
    user_id: int
    name: str
    scopes: list[str]
    projects: list[str] | None
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


async def next_id(connection: Connection) -> int:
    """Return an id that no token has or had."""
    id_: int = await fetch_value(connection, "SELECT nextval(pg_get_serial_sequence('api_tokens', 'id')) AS id")
    return id_


async def count_working(connection: Connection, user_id: int) -> int:
    """Return how many tokens of a user work."""
    count: int = await fetch_value(
        connection, f"SELECT count(*) AS count FROM api_tokens WHERE user_id = %s AND {_WORKS}", (user_id,)
    )
    return count


async def insert(connection: Connection, row: Mapping[str, Any], event: NewEvent) -> None:
    """Insert a token and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO api_tokens ({columns(row)}) VALUES ({placeholders(row)})",
        {**row, **outbox.fields(event)},
    )


async def find_page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of tokens, as the API shows them."""
    return await fetch_page(connection, _SHOWN, "api_tokens", conditions, wanted)


def working_of(user_id: int | None) -> Conditions:
    """Return the condition of the tokens of a user that were not revoked; who has to renew one sees it expired."""
    return Conditions("revoked_at IS NULL", "user_id = %(owner)s", owner=user_id)


async def find(connection: Connection, token_id: int, *, to_change: bool = False) -> TokenRow | None:
    """Return a token that was not revoked, locked until the transaction ends where it is to be changed."""
    lock = "FOR UPDATE" if to_change else ""
    cursor = await connection.execute(
        f"SELECT user_id, {_SHOWN} FROM api_tokens WHERE id = %s AND revoked_at IS NULL {lock}", (token_id,)
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def revoke(connection: Connection, token_id: int, event: NewEvent) -> None:
    """End a token and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) UPDATE api_tokens SET revoked_at = now() WHERE id = %(token_id)s",
        {"token_id": token_id, **outbox.fields(event)},
    )


async def known(connection: Connection) -> list[dict[str, Any]]:
    """Return every token that has not expired, with its hash and whether it was revoked."""
    cursor = await connection.execute(
        "SELECT id, user_id, name, token_hash, scopes, projects, created_at, expires_at,"
        " revoked_at IS NOT NULL AS is_revoked FROM api_tokens WHERE expires_at > now() ORDER BY id"
    )
    return await cursor.fetchall()


async def set_last_used(connection: Connection, used: Mapping[int, datetime]) -> None:
    """Store when tokens were last used, unless a later time is known."""
    await connection.execute(
        "UPDATE api_tokens SET last_used_at = used.at"
        " FROM unnest(%s::integer[], %s::timestamptz[]) AS used (id, at)"
        " WHERE api_tokens.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)",
        (list(used), list(used.values())),
    )


async def know_network(connection: Connection, token_id: int, network: str, at: datetime) -> TokenRow | None:
    """Store that a token was used from a network; return the token, revoked or not, if that was not known."""
    cursor = await connection.execute(
        "WITH used AS (INSERT INTO api_token_networks AS known (token_id, network, at)"
        " SELECT id, %s, %s FROM api_tokens WHERE id = %s"
        " ON CONFLICT (token_id, network) DO UPDATE SET at = greatest(known.at, excluded.at)"
        " RETURNING token_id, xmax = 0 AS is_new)"
        f" SELECT user_id, {_SHOWN} FROM api_tokens JOIN used ON token_id = id WHERE is_new",
        (network, at, token_id),
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def forget_networks(connection: Connection, since: timedelta) -> None:
    """Delete the networks that tokens were last used from that long ago."""
    await connection.execute("DELETE FROM api_token_networks WHERE at < now() - %s", (since,))


async def forget_old(connection: Connection, since: timedelta) -> None:
    """Delete the tokens that expired that long ago."""
    await connection.execute("DELETE FROM api_tokens WHERE expires_at < now() - %s", (since,))

"""The SQL of invitations."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from chassis.db.database import Connection, columns, placeholders
from chassis.db.rows import fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, fetch_page

_SHOWN = "id, email, role, project, created_at, created_by, expires_at"
"""The columns of the API's Invitation, in its order."""


class InvitationRow(TypedDict):
    """An invitation as the API shows one."""

    id: int
    email: str
    role: str
    project: str | None
    created_at: datetime
    created_by: int | None
    expires_at: datetime


async def next_id(connection: Connection) -> int:
    """Return an id that no invitation has or had."""
    id_: int = await fetch_value(connection, "SELECT nextval(pg_get_serial_sequence('invitations', 'id')) AS id")
    return id_


async def insert(connection: Connection, row: Mapping[str, Any], event: NewEvent) -> None:
    """Insert an invitation and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO invitations ({columns(row)}) VALUES ({placeholders(row)})",
        {**row, **outbox.fields(event)},
    )


async def find_page(connection: Connection, wanted: PageRequest) -> Fetched:
    """Return one page of the invitations that nobody has accepted or revoked."""
    return await fetch_page(connection, _SHOWN, "invitations", Conditions(), wanted)


async def lock(connection: Connection, invitation_id: int) -> InvitationRow | None:
    """Lock an invitation until the transaction ends."""
    cursor = await connection.execute(f"SELECT {_SHOWN} FROM invitations WHERE id = %s FOR UPDATE", (invitation_id,))
    return await cursor.fetchone()  # type: ignore[return-value]


async def lock_working(connection: Connection, token_hash: str) -> InvitationRow | None:
    """Lock the invitation of a link until the transaction ends; None when the link works no more."""
    cursor = await connection.execute(
        f"SELECT {_SHOWN} FROM invitations WHERE token_hash = %s AND expires_at > now() FOR UPDATE", (token_hash,)
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def lock_newest(connection: Connection, email: str) -> InvitationRow | None:
    """Lock the newest invitation of an address that has not expired, until the transaction ends."""
    cursor = await connection.execute(
        f"SELECT {_SHOWN} FROM invitations WHERE email = %s AND expires_at > now() ORDER BY id DESC LIMIT 1 FOR UPDATE",
        (email,),
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def delete(connection: Connection, invitation_id: int, event: NewEvent) -> None:
    """Delete an invitation and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) DELETE FROM invitations WHERE id = %(of)s",
        {"of": invitation_id, **outbox.fields(event)},
    )


async def prune(connection: Connection, after: timedelta) -> None:
    """Delete the invitations that expired so long ago."""
    await connection.execute("DELETE FROM invitations WHERE expires_at < now() - %s", (after,))

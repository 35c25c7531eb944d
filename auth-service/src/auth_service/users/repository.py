"""The SQL of users."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from chassis.core.projects import ALL
from chassis.db.database import Connection, columns, in_another_project, placeholders
from chassis.db.rows import fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, fetch_page
from contracts.auth import UserErased

_SHOWN = "id, email, full_name, role, is_active, created_at"
"""The columns of the API's User, in its order."""
ERASURES = f"wire_name = '{UserErased.wire_name}'"
"""The SQL of whether an event erases somebody; as a literal, so that PostgreSQL knows that an index has all of them."""


class UserRow(TypedDict):
    """A user, with what is never shown."""

    id: int
    email: str
    full_name: str
    role: str
    is_active: bool
    created_at: datetime
    tokens_not_before: datetime | None
    password_hash: str
    must_change_password: bool


class Credentials(TypedDict):
    """What a password is checked against."""

    id: int
    password_hash: str


async def next_id(connection: Connection) -> int:
    """Return an id that no user has or had."""
    id_: int = await fetch_value(connection, "SELECT nextval(pg_get_serial_sequence('users', 'id')) AS id")
    return id_


async def first_admin(connection: Connection, email: str) -> int:
    """Return the id of the active admin with this email, or else of the first one; the last admin always stays one."""
    id_: int = await fetch_value(
        connection,
        "SELECT id FROM users WHERE role = 'admin' AND is_active ORDER BY email <> %s, id LIMIT 1",
        (email,),
    )
    return id_


async def insert(connection: Connection, row: Mapping[str, Any], event: NewEvent) -> None:
    """Insert a user and record the event, in one statement; violates uq_users_email when the email is taken."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO users ({columns(row)}) VALUES ({placeholders(row)})",
        {**row, **outbox.fields(event)},
    )


async def update(connection: Connection, user_id: int, values: Mapping[str, Any], event: NewEvent) -> None:
    """Set the columns of `values` and record the event, in one statement."""
    assignments = ", ".join(f"{name} = %({name})s" for name in values)
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) UPDATE users SET {assignments} WHERE id = %(user_id)s",
        {**values, "user_id": user_id, **outbox.fields(event)},
    )


async def end_links(connection: Connection, user_id: int) -> None:
    """Have no link work any more by which the password of a user could be set."""
    await connection.execute("DELETE FROM password_resets WHERE user_id = %s", (user_id,))


async def is_empty(connection: Connection) -> bool:
    """Check whether there is no user at all."""
    return await (await connection.execute("SELECT FROM users LIMIT 1")).fetchone() is None


async def shown(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the users of these ids, as the API shows them, by id."""
    cursor = await connection.execute(f"SELECT {_SHOWN} FROM users WHERE id = ANY(%s)", (list(ids),))
    return {row["id"]: row for row in await cursor.fetchall()}


async def credentials(connection: Connection, email: str) -> Credentials | None:
    """Return the credentials of the user with this email."""
    cursor = await connection.execute("SELECT id, password_hash FROM users WHERE email = %s", (email,))
    return await cursor.fetchone()  # type: ignore[return-value]


async def is_being_erased(connection: Connection, email: str) -> bool:
    """Check whether an erasure still names somebody with this email."""
    async with in_another_project(connection, ALL):
        cursor = await connection.execute(
            f"SELECT FROM outbox WHERE {ERASURES} AND envelope::json -> 'data' -> 'former' ->> 'email' = %s LIMIT 1",
            (email,),
        )
    return cursor.rowcount > 0


async def is_person(connection: Connection, user_id: int) -> bool:
    """Check whether a user is one who logs in, and no service account."""
    cursor = await connection.execute("SELECT FROM service_accounts WHERE user_id = %s", (user_id,))
    return cursor.rowcount == 0


async def lock(connection: Connection, user_id: int) -> tuple[UserRow, datetime] | None:
    """Lock a user until the transaction ends; return them and the time now, which is after earlier changes of them.

    Times that tokens are compared with come from the database's clock alone: replicas' clocks differ.
    """
    cursor = await connection.execute(
        f"SELECT {_SHOWN}, tokens_not_before, password_hash, must_change_password FROM users WHERE id = %s FOR UPDATE",
        (user_id,),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    # A statement of its own: in the one that locks, the clock is read before the wait for the lock.
    now = await (await connection.execute("SELECT clock_timestamp() AS now")).fetchone()
    assert now is not None
    return row, now["now"]  # type: ignore[return-value]


async def lock_active_admins(connection: Connection) -> list[int]:
    """Lock the active admins, in the order of their ids so that there is no deadlock; return the ids.

    Whoever waits sees the admins as the one before left them.
    """
    cursor = await connection.execute("SELECT id FROM users WHERE role = 'admin' AND is_active ORDER BY id FOR UPDATE")
    return [row["id"] for row in await cursor.fetchall()]


async def find_page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of users, as the API shows them."""
    return await fetch_page(connection, _SHOWN, "users", conditions, wanted)

"""The SQL of service accounts: each is a user, with a row that says of which project."""

from collections.abc import Mapping
from typing import Any

from psycopg.rows import DictRow

from chassis.db.database import Connection, columns, placeholders
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, fetch_page

_ACCOUNTS = (
    "(SELECT s.project_key, s.user_id AS id, s.name, u.email, m.role, s.created_at, s.created_by"
    " FROM service_accounts s JOIN users u ON u.id = s.user_id"
    " JOIN project_members m ON m.user_id = s.user_id AND m.project_key = s.project_key"
    " WHERE s.deleted_at IS NULL)"
)
_SHOWN = "a.id, a.name, a.email, a.role, a.created_at, a.created_by"


def of_project(key: str) -> Conditions:
    """Return the condition of the service accounts of a project."""
    return Conditions("a.project_key = %(key)s", key=key)


async def insert(connection: Connection, row: Mapping[str, Any]) -> None:
    """Insert a service account; violates ix_service_accounts_name when the project has one of this name."""
    await connection.execute(f"INSERT INTO service_accounts ({columns(row)}) VALUES ({placeholders(row)})", row)


async def find_page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of service accounts `a`, as the API shows them."""
    return await fetch_page(connection, _SHOWN, f"{_ACCOUNTS} a", conditions, wanted)


async def find(connection: Connection, key: str, user_id: int) -> DictRow | None:
    """Return a service account of a project, as the API shows it."""
    cursor = await connection.execute(
        f"SELECT {_SHOWN} FROM {_ACCOUNTS} a WHERE a.project_key = %s AND a.id = %s", (key, user_id)
    )
    return await cursor.fetchone()


async def delete(connection: Connection, user_id: int) -> None:
    """Have a service account be none any more: what it did keeps its author."""
    await connection.execute("UPDATE service_accounts SET deleted_at = now() WHERE user_id = %s", (user_id,))

"""The SQL of projects and their members."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from psycopg.types.json import Json

from chassis.db.database import Connection, columns, placeholders
from chassis.db.rows import fetch_column
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page
from contracts.projects import Visibility

_PROJECT = (
    "p.key, p.name, p.description, p.visibility, p.archived, p.settings, p.created_at, p.created_by, p.restorable_until"
)
_MEMBER = "m.user_id, m.email, m.full_name, m.is_active, m.role, m.since"
_MEMBERS = (
    "(SELECT m.project_key, m.user_id, u.email, u.full_name, u.is_active, m.role, m.since"
    " FROM project_members m JOIN users u ON u.id = m.user_id)"
)
_OF_CALLER = "LEFT JOIN project_members own ON own.project_key = p.key AND own.user_id = %(caller)s"


class ProjectRow(TypedDict):
    """A project, and the role of the caller's membership in it, if they are a member."""

    key: str
    name: str
    description: str
    visibility: str
    archived: bool
    settings: dict[str, Any]
    created_at: datetime
    created_by: int | None
    restorable_until: datetime | None
    membership: str | None


async def insert(connection: Connection, row: Mapping[str, Any], event: NewEvent) -> None:
    """Insert a project and record the event, in one statement; violates pk_projects when the key was ever used."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO projects ({columns(row)}) VALUES ({placeholders(row)})",
        {**row, "settings": Json(row["settings"]), **outbox.fields(event)},
    )


async def was_deleted(connection: Connection, key: str) -> bool:
    """Check whether a project with this key was there and is no more."""
    cursor = await connection.execute("SELECT FROM projects WHERE key = %s AND deleted_at IS NOT NULL", (key,))
    return cursor.rowcount > 0


async def find(connection: Connection, key: str, caller: int | None) -> ProjectRow | None:
    """Return a project that was not deleted."""
    cursor = await connection.execute(
        f"SELECT {_PROJECT}, own.role AS membership FROM projects p {_OF_CALLER}"
        " WHERE p.key = %(key)s AND p.deleted_at IS NULL",
        {"key": key, "caller": caller},
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def lock(connection: Connection, key: str) -> bool:
    """Lock a project and its list of members until the transaction ends; return whether it is there."""
    cursor = await connection.execute(
        "SELECT FROM projects WHERE key = %s AND deleted_at IS NULL FOR NO KEY UPDATE", (key,)
    )
    return cursor.rowcount > 0


async def find_page(connection: Connection, conditions: Conditions, wanted: PageRequest, caller: int | None) -> Fetched:
    """Return one page of the `projects p` that fulfil the conditions."""
    conditions.parameters["caller"] = caller
    return await fetch_page(
        connection,
        f"{_PROJECT}, own.role AS membership",
        "projects p",
        conditions,
        wanted,
        joined=_OF_CALLER,
    )


def restorable() -> Conditions:
    """Return the condition of the `projects p` that are deleted, and not gone yet."""
    return Conditions("p.restorable_until IS NOT NULL")


def visible_to(caller: int | None) -> Conditions:
    """Return the conditions of the `projects p` that are there; `caller` None: for whoever sees them all."""
    conditions = Conditions("p.deleted_at IS NULL")
    if caller is not None:
        conditions.always(
            f"(p.visibility = '{Visibility.OPEN}' OR EXISTS (SELECT FROM project_members m"
            " WHERE m.project_key = p.key AND m.user_id = %(caller)s))",
            of="",
        )
    return conditions


async def memberships(connection: Connection, user_id: int, keys: Sequence[str] | None) -> list[tuple[str, str | None]]:
    """Return visibility and role of a user's membership, if any, of each project that is there; `keys`: of these."""
    cursor = await connection.execute(
        f"SELECT p.visibility, own.role AS membership FROM projects p {_OF_CALLER}"
        " WHERE p.deleted_at IS NULL AND (%(keys)s::text[] IS NULL OR p.key = ANY(%(keys)s))",
        {"caller": user_id, "keys": None if keys is None else list(keys)},
    )
    return [(row["visibility"], row["membership"]) for row in await cursor.fetchall()]


async def update(connection: Connection, key: str, values: Mapping[str, Any], event: NewEvent) -> None:
    """Set the columns of `values` and record the event, in one statement."""
    assignments = ", ".join(f"{name} = %({name})s" for name in values)
    given = {name: Json(value) if name == "settings" else value for name, value in values.items()}
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) UPDATE projects SET {assignments} WHERE key = %(of_key)s",
        {**given, "of_key": key, **outbox.fields(event)},
    )


async def plan_deletion(connection: Connection, key: str, until: datetime, event: NewEvent) -> None:
    """Have a project be there for nobody, and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) UPDATE projects SET deleted_at = now(), restorable_until = %(until)s"
        " WHERE key = %(key)s",
        {"key": key, "until": until, **outbox.fields(event)},
    )


async def lock_deleted(connection: Connection, key: str) -> ProjectRow | None:
    """Return a deleted project that is not gone yet, locked until the transaction ends."""
    cursor = await connection.execute(
        f"SELECT {_PROJECT}, NULL AS membership FROM projects p"
        " WHERE p.key = %s AND p.restorable_until IS NOT NULL FOR NO KEY UPDATE",
        (key,),
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def roles_of_members(connection: Connection, key: str) -> dict[int, str]:
    """Return the roles of the members of a project, by their ids."""
    cursor = await connection.execute("SELECT user_id, role FROM project_members WHERE project_key = %s", (key,))
    return {row["user_id"]: row["role"] for row in await cursor.fetchall()}


async def restore(connection: Connection, key: str, event: NewEvent) -> None:
    """Have a deleted project be there again, and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) UPDATE projects SET deleted_at = NULL, restorable_until = NULL"
        " WHERE key = %(key)s",
        {"key": key, **outbox.fields(event)},
    )


async def due_for_deletion(connection: Connection) -> list[str]:
    """Return the keys of the deleted projects that can be restored no more, and are not gone yet."""
    return await fetch_column(
        connection, "SELECT key FROM projects WHERE restorable_until <= now() ORDER BY restorable_until"
    )


async def delete(connection: Connection, key: str, event: NewEvent) -> None:
    """Keep nothing of a deleted project but its key, and record the event, in one statement."""
    await connection.execute(
        f"""
        WITH event AS ({outbox.RECORD}), members AS (DELETE FROM project_members WHERE project_key = %(key)s)
        UPDATE projects SET name = '', description = '', settings = '{{}}', restorable_until = NULL WHERE key = %(key)s
        """,
        {"key": key, **outbox.fields(event)},
    )


async def end_service_accounts(connection: Connection) -> list[int]:
    """Have the service accounts of projects that are gone be none any more; return their ids, in order."""
    cursor = await connection.execute(
        "UPDATE service_accounts s SET deleted_at = now() FROM projects p"
        " WHERE p.key = s.project_key AND p.deleted_at IS NOT NULL AND p.restorable_until IS NULL"
        " AND s.deleted_at IS NULL RETURNING s.user_id"
    )
    return sorted(row["user_id"] for row in await cursor.fetchall())


async def member(connection: Connection, key: str, user_id: int) -> Row | None:
    """Return a member of a project."""
    cursor = await connection.execute(
        f"SELECT {_MEMBER} FROM {_MEMBERS} m WHERE m.project_key = %s AND m.user_id = %s", (key, user_id)
    )
    return await cursor.fetchone()


async def members_page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of the members `m` that fulfil the conditions."""
    return await fetch_page(connection, _MEMBER, f"{_MEMBERS} m", conditions, wanted)


async def other_admins(connection: Connection, key: str, user_id: int) -> bool:
    """Check whether a project has an active member besides this one who is its admin."""
    cursor = await connection.execute(
        f"SELECT FROM {_MEMBERS} m WHERE m.project_key = %s AND m.role = 'admin' AND m.is_active AND m.user_id <> %s"
        " LIMIT 1",
        (key, user_id),
    )
    return cursor.rowcount > 0


async def put_member(connection: Connection, key: str, row: Row, event: NewEvent) -> None:
    """Make somebody a member, or change their role, and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) INSERT INTO project_members (project_key, user_id, role, since)"
        " VALUES (%(key)s, %(user_id)s, %(role)s, %(since)s)"
        " ON CONFLICT (project_key, user_id) DO UPDATE SET role = excluded.role",
        {"key": key, **row, **outbox.fields(event)},
    )


async def remove_member(connection: Connection, key: str, user_id: int, event: NewEvent) -> None:
    """Remove a member and record the event, in one statement."""
    await connection.execute(
        f"WITH event AS ({outbox.RECORD}) DELETE FROM project_members"
        " WHERE project_key = %(key)s AND user_id = %(user_id)s",
        {"key": key, "user_id": user_id, **outbox.fields(event)},
    )


async def access(connection: Connection) -> list[Row]:
    """Return what decides who may enter which project: visibility, archived, and the roles of members by their ids."""
    cursor = await connection.execute(
        """
        SELECT p.key, p.visibility, p.archived,
               coalesce(json_object_agg(m.user_id, m.role) FILTER (WHERE m.user_id IS NOT NULL), '{}') AS members
        FROM projects p LEFT JOIN project_members m ON m.project_key = p.key
        WHERE p.deleted_at IS NULL GROUP BY p.key
        """
    )
    return await cursor.fetchall()

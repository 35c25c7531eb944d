"""The SQL of who may see which project: copies of auth's projects and members, with tombstones."""

from datetime import datetime

from chassis.core.projects import MAIN
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value

MAY_SEE = """
EXISTS (SELECT FROM projects p WHERE p.key = {project} AND p.deleted_at IS NULL AND NOT p.hidden AND (
    p.visibility = 'open'
    OR EXISTS (SELECT FROM members m WHERE m.project_key = p.key AND m.user_id = {user} AND m.role IS NOT NULL)
    OR EXISTS (SELECT FROM recipients r WHERE r.user_id = {user} AND r.role = 'admin')))
"""
"""The condition that a user has access to a project, as `contracts.projects.role_in` says; to be formatted."""

REVIEWS = """
r.is_active AND p.deleted_at IS NULL
AND (r.role = 'admin' OR m.role IN ('reviewer', 'admin') OR p.visibility = 'open' AND r.role = 'reviewer')
"""
"""The condition that recipient `r`, who is perhaps member `m`, may review in project `p`; by the same rule."""


async def put(connection: Connection, key: str, visibility: str, sequence: int, *, hidden: bool = False) -> None:
    """Store a project as it is at a place in auth's feed, unless later news of it are there, or it is deleted.

    `hidden`: nobody has access to it.
    """
    await connection.execute(
        "INSERT INTO projects AS known (key, visibility, sequence, hidden) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (key) DO UPDATE"
        " SET visibility = excluded.visibility, sequence = excluded.sequence, hidden = excluded.hidden"
        " WHERE known.sequence < excluded.sequence AND known.deleted_at IS NULL",
        (key, visibility, sequence, hidden),
    )


async def bury(connection: Connection, key: str, sequence: int, at: datetime) -> None:
    """Mark a project deleted; its key is never used again."""
    await connection.execute(
        "INSERT INTO projects AS known (key, visibility, sequence, deleted_at) VALUES (%s, 'members', %s, %s)"
        " ON CONFLICT (key) DO UPDATE SET sequence = excluded.sequence,"
        " deleted_at = coalesce(known.deleted_at, excluded.deleted_at)",
        (key, sequence, at),
    )


async def put_member(connection: Connection, key: str, user_id: int, role: str | None, sequence: int) -> None:
    """Store the role of a member as of a place in auth's feed, None for who is none any more."""
    await connection.execute(
        "INSERT INTO members AS known (project_key, user_id, role, sequence) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (project_key, user_id) DO UPDATE SET role = excluded.role, sequence = excluded.sequence"
        " WHERE known.sequence < excluded.sequence",
        (key, user_id, role, sequence),
    )


async def is_deleted(connection: Connection, key: str) -> bool:
    """Check whether a project is deleted."""
    found = await fetch_value(connection, "SELECT deleted_at IS NOT NULL FROM projects WHERE key = %s", (key,))
    return bool(found)


async def to_be_removed(connection: Connection) -> list[str]:
    """Return the deleted projects of which something may still be there."""
    return await fetch_column(
        connection,
        "SELECT key FROM projects p WHERE deleted_at IS NOT NULL"
        " AND NOT EXISTS (SELECT FROM removed_projects r WHERE r.key = p.key) ORDER BY deleted_at",
    )


async def mark_removed(connection: Connection, key: str) -> None:
    """Store that nothing of a deleted project is left."""
    await connection.execute("INSERT INTO removed_projects (key) VALUES (%s) ON CONFLICT DO NOTHING", (key,))


async def prepare_rebuild(connection: Connection) -> None:
    """Put the project that nobody made into the temporary copy."""
    await connection.execute("INSERT INTO pg_temp.projects (key, visibility, sequence) VALUES (%s, 'open', 0)", (MAIN,))

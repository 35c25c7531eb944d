"""Table `project_levels`: the levels of a project."""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Json

from chassis.db import isolation
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value


async def read(connection: Connection) -> list[dict[str, Any]]:
    """Return the levels of the project from the top: `key`, `name` and `needs`."""
    cursor = await connection.execute("SELECT key, name, needs FROM project_levels ORDER BY place")
    return await cursor.fetchall()


async def keys(connection: Connection) -> list[str]:
    """Return the keys of the levels of the project, from the top."""
    return await fetch_column(connection, "SELECT key FROM project_levels ORDER BY place")


async def lock(connection: Connection) -> None:
    """Let nobody else change the levels of the project until the transaction ends."""
    await connection.execute(
        f"SELECT pg_advisory_xact_lock(hashtextextended('levels of ' || current_setting('{isolation.SETTING}'), 0))"
    )


async def lock_levels(connection: Connection, removed: Sequence[str]) -> None:
    """Lock levels that are to be removed: who gives one to a requirement waits, and then finds it gone."""
    await connection.execute("SELECT FROM project_levels WHERE key = ANY(%s) ORDER BY key FOR UPDATE", (list(removed),))


async def count_used(connection: Connection, key: str) -> int:
    """Return how many requirements are of a level."""
    return int(await fetch_value(connection, "SELECT count(*) FROM requirements WHERE level = %s", (key,)))


async def put(connection: Connection, levels: Sequence[dict[str, Any]]) -> None:
    """Store the levels of the project in place of those that there are."""
    places = [{**level, "place": place} for place, level in enumerate(levels, start=1)]
    await connection.execute("DELETE FROM project_levels WHERE key <> ALL(%s)", ([level["key"] for level in levels],))
    await connection.execute(
        """
        INSERT INTO project_levels (key, place, name, needs)
        SELECT key, place, name, needs FROM json_to_recordset(%s)
            AS level (key text, place integer, name text, needs text[])
        ON CONFLICT (project_id, key) DO UPDATE
        SET place = excluded.place, name = excluded.name, needs = excluded.needs
        """,
        (Json(places),),
    )

"""The projection that coverage is judged by: links a requirement, as of a position in the feed."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column, fetch_value


@dataclass(slots=True)
class State:
    """How far a project was read (`position`), what it came to, and whether coverage `reached` the threshold.

    `reached` turns true at or above the threshold, and false with the event that tells of the drop; it is as of when
    coverage was last judged. Since then it has changed from `unjudged_since` to `changed_at`, last by `cause`, an
    event's id, correlationid, gatewayrequestid and traceparent; all None when nothing has changed. `open_imports` are
    those whose events were read and whose end was not.
    """

    position: int
    total_requirements: int
    covered_requirements: int
    reached: bool
    unjudged_since: datetime | None
    changed_at: datetime | None
    cause: dict[str, Any] | None
    open_imports: list[UUID]


_BY_MODULE = """
WITH modules AS (
    SELECT module, count(*) AS total, count(c.requirement_id) AS covered,
        row_number() OVER (ORDER BY count(*) DESC, module) AS place
    FROM requirements r LEFT JOIN coverage_requirements c ON c.requirement_id = r.id AND c.links > 0
    GROUP BY module
)
SELECT CASE WHEN place <= %s THEN coalesce(module, 'none') ELSE 'other' END AS module,
    sum(total)::bigint AS total, sum(covered)::bigint AS covered
FROM modules GROUP BY 1 ORDER BY 1
"""


async def by_module(connection: Connection, most: int) -> list[dict[str, Any]]:
    """Return `total` and `covered` requirements of the `most` largest modules, and of all others as one, `other`."""
    return await (await connection.execute(_BY_MODULE, (most,))).fetchall()


async def known_projects(database: Database) -> list[str]:
    """Return the projects in which coverage is followed: all that have had a change."""
    async with database.across() as connection:
        return await fetch_column(connection, "SELECT project_id FROM coverage_state ORDER BY project_id")


async def unjudged_projects(connection: Connection) -> list[str]:
    """Return the projects whose coverage has changed and was not judged or told since."""
    return await fetch_column(
        connection, "SELECT project_id FROM coverage_state WHERE unjudged_since IS NOT NULL ORDER BY project_id"
    )


async def lock_position(connection: Connection) -> int:
    """Return up to where the feed was read, in all projects; one projector at a time gets it."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('coverage projector'))")
    return await position(connection)


async def has_work(connection: Connection) -> bool:
    """Check whether the feed has events that the projection does not know, or a change is still to be judged."""
    cursor = await connection.execute(
        "SELECT FROM feed_head WHERE head > (SELECT coalesce(max(position), 0) FROM coverage_state)"
        " OR EXISTS (SELECT FROM coverage_state WHERE unjudged_since IS NOT NULL)"
    )
    return await cursor.fetchone() is not None


async def position(connection: Connection) -> int:
    """Return up to where the feed was read, in all projects: what comes after it has to stay in it."""
    return int(await fetch_value(connection, "SELECT coalesce(max(position), 0) FROM coverage_state"))


async def lock_state(connection: Connection) -> State:
    """Return the state of the project, locked until the transaction ends; there is one from the first call on."""
    await connection.execute(
        "INSERT INTO coverage_state (only_row, position, total_requirements, covered_requirements, reached)"
        " VALUES (true, 0, 0, 0, false) ON CONFLICT DO NOTHING"
    )
    cursor = await connection.execute(f"SELECT {', '.join(State.__slots__)} FROM coverage_state FOR UPDATE")
    row = await cursor.fetchone()
    assert row is not None, "it was made above"
    return State(**row)


async def save_state(connection: Connection, state: State) -> None:
    """Store the state."""
    await connection.execute(
        "UPDATE coverage_state SET position = %(position)s, total_requirements = %(total_requirements)s,"
        " covered_requirements = %(covered_requirements)s, reached = %(reached)s,"
        " unjudged_since = %(unjudged_since)s, changed_at = %(changed_at)s, cause = %(cause)s,"
        " open_imports = %(open_imports)s",
        {**asdict(state), "cause": None if state.cause is None else Json(state.cause)},
    )


async def read_feed(
    connection: Connection, after: int, wire_names: Iterable[str], limit: int
) -> list[tuple[str, int, str, str | None]]:
    """Return (project, position, wire name, envelope) of up to `limit` events after a position.

    The envelope is left out for other events than `wire_names`.
    """
    cursor = await connection.execute(
        "SELECT project_id, feed_seq, wire_name, CASE WHEN wire_name = ANY(%s) THEN envelope END AS envelope"
        " FROM outbox WHERE feed_seq > %s ORDER BY feed_seq LIMIT %s",
        (list(wire_names), after, limit),
    )
    return [(row["project_id"], row["feed_seq"], row["wire_name"], row["envelope"]) for row in await cursor.fetchall()]


async def link_counts(connection: Connection, requirement_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the number of links of those of the requirements that are known."""
    cursor = await connection.execute(
        "SELECT requirement_id, links FROM coverage_requirements WHERE requirement_id = ANY(%s)",
        (list(requirement_ids),),
    )
    return {row["requirement_id"]: row["links"] for row in await cursor.fetchall()}


async def save_link_counts(connection: Connection, links: Mapping[UUID, int]) -> None:
    """Store the number of links of requirements, known before or not."""
    await connection.execute(
        "INSERT INTO coverage_requirements (requirement_id, links)"
        " SELECT * FROM unnest(%s::uuid[], %s::integer[])"
        " ON CONFLICT (requirement_id) DO UPDATE SET links = excluded.links",
        (list(links), list(links.values())),
    )


async def delete_link_counts(connection: Connection, requirement_ids: Iterable[UUID]) -> None:
    """Delete requirements from the projection."""
    await connection.execute(
        "DELETE FROM coverage_requirements WHERE requirement_id = ANY(%s)", (list(requirement_ids),)
    )

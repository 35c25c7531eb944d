"""The projection that coverage is judged by: links a requirement, as of a position in the feed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.database import Connection


@dataclass(slots=True)
class State:
    """How far the feed was read (`position`), what it came to, and whether coverage `reached` the threshold.

    `reached` turns true at or above the threshold, and false with the event that tells of the drop.
    """

    position: int
    total_requirements: int
    covered_requirements: int
    reached: bool


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
    """Give `total` and `covered` requirements of the `most` largest modules, and of all others as one, `other`."""
    return await (await connection.execute(_BY_MODULE, (most,))).fetchall()


async def is_behind(connection: Connection) -> bool:
    """Tell whether the feed has events that the projection does not know."""
    cursor = await connection.execute("SELECT FROM feed_head, coverage_state WHERE head > position")
    return await cursor.fetchone() is not None


async def lock_state(connection: Connection) -> State:
    """Give the state, locked until the transaction ends: one projector at a time."""
    cursor = await connection.execute(
        "SELECT position, total_requirements, covered_requirements, reached FROM coverage_state FOR UPDATE"
    )
    row = await cursor.fetchone()
    assert row is not None, "the migration puts the one row there"
    return State(**row)


async def save_state(connection: Connection, state: State) -> None:
    """Store the state."""
    await connection.execute(
        "UPDATE coverage_state SET position = %s, total_requirements = %s, covered_requirements = %s, reached = %s",
        (state.position, state.total_requirements, state.covered_requirements, state.reached),
    )


async def read_feed(
    connection: Connection, after: int, wire_names: Iterable[str], limit: int
) -> list[tuple[int, str, str | None]]:
    """Give (position, wire name, envelope) of up to `limit` events after a position.

    The envelope is left out for other events than `wire_names`.
    """
    cursor = await connection.execute(
        "SELECT feed_seq, wire_name, CASE WHEN wire_name = ANY(%s) THEN envelope END AS envelope"
        " FROM outbox WHERE feed_seq > %s ORDER BY feed_seq LIMIT %s",
        (list(wire_names), after, limit),
    )
    return [(row["feed_seq"], row["wire_name"], row["envelope"]) for row in await cursor.fetchall()]


async def link_counts(connection: Connection, requirement_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Give the number of links of those of the requirements that are known."""
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


async def forget(connection: Connection, requirement_ids: Iterable[UUID]) -> None:
    """Take requirements out of the projection."""
    await connection.execute(
        "DELETE FROM coverage_requirements WHERE requirement_id = ANY(%s)", (list(requirement_ids),)
    )

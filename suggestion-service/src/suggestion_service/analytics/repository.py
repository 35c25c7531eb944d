"""SQL of the figures about suggestions."""

from typing import Any, NamedTuple

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value
from suggestion_service.review.band import BAND
from suggestion_service.store.suggestions import REVIEWED


class Count(NamedTuple):
    """How many suggestions there are of a method, a band and a status."""

    method: str
    band: str
    status: str
    number: int


async def counts(connection: Connection) -> list[Count]:
    """Return how many suggestions there are of each kind."""
    query = (
        f"SELECT s.suggestion_method AS method, {BAND} AS band, s.status, count(*) AS number"
        " FROM suggestions s GROUP BY 1, 2, 3"
    )
    return await fetch_all(connection, Count, query)


async def median_hours_to_review(connection: Connection) -> float | None:
    """Return the median of the hours between suggestion and review; None when nothing was reviewed."""
    hours: float | None = await fetch_value(
        connection,
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM reviewed_at - created_at) / 3600)"
        f" FROM suggestions s WHERE {REVIEWED}",
    )
    return hours


async def reviews_from_threshold(connection: Connection) -> list[dict[str, Any]]:
    """Return for each threshold 0.1, 0.2, ... 0.9 what was accepted and rejected of the scores at or above it."""
    cursor = await connection.execute(
        "SELECT step / 10.0::double precision AS threshold,"
        " count(*) FILTER (WHERE s.status = 'accepted') AS accepted,"
        " count(*) FILTER (WHERE s.status = 'rejected') AS rejected"
        f" FROM generate_series(1, 9) AS step LEFT JOIN suggestions s ON {REVIEWED}"
        " AND s.similarity_score >= step / 10.0::double precision GROUP BY step ORDER BY step"
    )
    return await cursor.fetchall()


async def agents(connection: Connection) -> list[dict[str, Any]]:
    """Return what became of the proposals of each agent, by the name that its token had last."""
    states = ", ".join(
        f"count(*) FILTER (WHERE p.status = '{status}') AS {status}"
        for status in ("pending", "accepted", "rejected", "outdated", "withdrawn", "expired")
    )
    cursor = await connection.execute(
        "SELECT p.agent_id, (array_agg(p.agent_name ORDER BY p.created_at DESC))[1] AS name,"
        " (array_agg(p.owner_email ORDER BY p.created_at DESC))[1] AS owner, count(*) AS proposed,"
        f" {states}, percentile_cont(0.5) WITHIN GROUP ("
        " ORDER BY extract(epoch FROM p.reviewed_at - p.created_at) / 3600)"
        " AS median_hours_to_review, max(p.created_at) AS last_proposed_at"
        " FROM proposals p GROUP BY p.agent_id ORDER BY proposed DESC, p.agent_id LIMIT 500"
    )
    return await cursor.fetchall()

"""SQL of the figures about suggestions."""

from typing import Any

from chassis.db.database import Connection
from suggestion_service.review.band import BAND


async def counts(connection: Connection) -> list[dict[str, Any]]:
    """Return how many suggestions there are of each method, band (None where the method has none) and status."""
    cursor = await connection.execute(
        f"SELECT s.suggestion_method AS method, {BAND} AS band, s.status, count(*) AS number"
        " FROM suggestions s GROUP BY 1, 2, 3"
    )
    return await cursor.fetchall()


async def median_hours_to_review(connection: Connection) -> float | None:
    """Return the median of the hours between suggestion and review; None when nothing was reviewed."""
    cursor = await connection.execute(
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM reviewed_at - created_at) / 3600)"
        " AS hours FROM suggestions WHERE status IN ('accepted', 'rejected')"
    )
    row = await cursor.fetchone()
    return None if row is None else row["hours"]


async def reviews_from_threshold(connection: Connection) -> list[dict[str, Any]]:
    """Return for each threshold 0.1, 0.2, ... 0.9 what was accepted and rejected of the scores at or above it."""
    cursor = await connection.execute(
        "SELECT step / 10.0::double precision AS threshold,"
        " count(*) FILTER (WHERE s.status = 'accepted') AS accepted,"
        " count(*) FILTER (WHERE s.status = 'rejected') AS rejected"
        " FROM generate_series(1, 9) AS step LEFT JOIN suggestions s ON s.status IN ('accepted', 'rejected')"
        " AND s.similarity_score >= step / 10.0::double precision GROUP BY step ORDER BY step"
    )
    return await cursor.fetchall()

"""Table `learning`: one row a project, what was measured last of learning from reviews, and whether it re-ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_only

# New suggestions are stored one transaction after the other, under the lock of the corpus: the newest tells of all.
# A review may be undone and another one made between two looks.
_NOW = """
concat_ws(' ', h.head,
    (SELECT count(*) FROM suggestions s WHERE s.project_id = h.project_id AND status IN ('accepted', 'rejected')),
    (SELECT max(reviewed_at) FROM suggestions s
     WHERE s.project_id = h.project_id AND status IN ('accepted', 'rejected')),
    (SELECT max(undone_at) FROM reviews r WHERE r.project_id = h.project_id),
    (SELECT max(created_at) FROM suggestions s WHERE s.project_id = h.project_id))
"""

_STATE = f"""
SELECT coalesce(l.seen, '') AS seen, coalesce(l.active, false) AS active, l.since, l.measured_at,
    coalesce(l.accepted, 0) AS accepted, coalesce(l.rejected, 0) AS rejected, l.by_score, l.with_reviews, l.error,
    {_NOW} AS now
FROM (SELECT) AS always LEFT JOIN corpus_head h ON true LEFT JOIN learning l ON true
"""

_UNSEEN = f"""
SELECT h.project_id FROM corpus_head h LEFT JOIN learning l ON l.project_id = h.project_id
WHERE {_NOW} IS DISTINCT FROM l.seen ORDER BY h.project_id
"""

# There is no row until something was learned of, and nothing to learn from before there is an item.
_PUT = """
INSERT INTO learning (only_row, seen, active, since, measured_at, accepted, rejected, by_score, with_reviews, error)
VALUES (true, '', %(active)s, CASE WHEN %(active)s THEN %(now)s::timestamptz END, %(now)s, %(accepted)s, %(rejected)s,
    %(by_score)s, %(with_reviews)s, %(error)s)
ON CONFLICT (project_id, only_row) DO UPDATE SET active = excluded.active,
    since = CASE WHEN learning.active = excluded.active THEN learning.since ELSE %(now)s END,
    measured_at = excluded.measured_at, accepted = excluded.accepted, rejected = excluded.rejected,
    by_score = excluded.by_score, with_reviews = excluded.with_reviews, error = excluded.error
"""


@dataclass(frozen=True, slots=True)
class State:
    """What was measured last. What `now` names has all been taken into account when it is what was `seen`."""

    seen: str
    active: bool
    since: datetime | None
    measured_at: datetime | None
    accepted: int
    rejected: int
    by_score: float | None
    with_reviews: float | None
    error: float | None
    now: str


async def with_news(connection: Connection) -> list[str]:
    """Return the projects in which there is something new to learn from; those that the connection sees."""
    return await fetch_column(connection, _UNSEEN)


async def state(connection: Connection) -> State:
    """Return how far learning is."""
    return await fetch_only(connection, State, _STATE)


async def put(connection: Connection, figures: Mapping[str, Any], now: datetime, *, active: bool) -> None:
    """Store what was measured (the columns from `accepted` to `error`), and whether what is pending is adjusted."""
    await connection.execute(_PUT, {**figures, "active": active, "now": now})


async def mark_seen(connection: Connection, seen: str) -> None:
    """Store that everything that the state called `now` then has been taken into account."""
    await connection.execute(
        "INSERT INTO learning (only_row, seen, active, accepted, rejected) VALUES (true, %s, false, 0, 0)"
        " ON CONFLICT (project_id, only_row) DO UPDATE SET seen = excluded.seen",
        (seen,),
    )

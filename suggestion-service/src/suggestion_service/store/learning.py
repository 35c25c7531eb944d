"""Table `learning`: one row, what was measured last of learning from reviews, and whether it re-ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chassis.db.database import Connection
from chassis.db.rows import fetch_only

# New suggestions are stored one transaction after the other, under the lock of the corpus: the newest tells of all.
# A review may be undone and another one made between two looks.
_STATE = """
SELECT l.seen, l.active, l.since, l.measured_at, l.accepted, l.rejected, l.by_score, l.with_reviews, l.error,
    concat_ws(' ', h.head,
        (SELECT count(*) FROM suggestions WHERE status IN ('accepted', 'rejected')),
        (SELECT max(reviewed_at) FROM suggestions WHERE status IN ('accepted', 'rejected')),
        (SELECT max(undone_at) FROM reviews),
        (SELECT max(created_at) FROM suggestions)) AS now
FROM learning l, corpus_head h
"""

_PUT = """
UPDATE learning SET active = %(active)s, since = CASE WHEN active = %(active)s THEN since ELSE %(now)s END,
    measured_at = %(now)s, accepted = %(accepted)s, rejected = %(rejected)s, by_score = %(by_score)s,
    with_reviews = %(with_reviews)s, error = %(error)s
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


async def state(connection: Connection) -> State:
    """Return how far learning is."""
    return await fetch_only(connection, State, _STATE)


async def put(connection: Connection, figures: Mapping[str, Any], now: datetime, *, active: bool) -> None:
    """Store what was measured (the columns from `accepted` to `error`), and whether what is pending is adjusted."""
    await connection.execute(_PUT, {**figures, "active": active, "now": now})


async def mark_seen(connection: Connection, seen: str) -> None:
    """Store that everything that the state called `now` then has been taken into account."""
    await connection.execute("UPDATE learning SET seen = %s", (seen,))

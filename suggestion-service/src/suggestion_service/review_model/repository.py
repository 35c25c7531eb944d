"""SQL of learning: what was measured last, the reviews that still say something, and adjusting what is pending."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection
from suggestion_service.locking import lock_suggestions
from suggestion_service.review_model.evaluation import Evaluation

# New suggestions are stored one transaction after the other, under the lock of the corpus: the newest tells of all.
# A review may be undone and another one made between two looks.
_STATE = """
SELECT l.*, concat_ws(' ', h.head,
    (SELECT count(*) FROM suggestions WHERE status IN ('accepted', 'rejected')),
    (SELECT max(reviewed_at) FROM suggestions WHERE status IN ('accepted', 'rejected')),
    (SELECT max(undone_at) FROM reviews),
    (SELECT max(created_at) FROM suggestions)) AS now
FROM learning l, corpus_head h
"""

_REMEMBER = """
UPDATE learning SET active = %(active)s, since = CASE WHEN active = %(active)s THEN since ELSE %(now)s END,
    measured_at = %(now)s, accepted = %(accepted)s, rejected = %(rejected)s, by_score = %(by_score)s,
    with_reviews = %(with_reviews)s, error = %(error)s
"""

# A review is about the texts that were read: it says nothing of later ones, nor when its link was deleted since.
_OF_STATUS = """
(SELECT s.id, s.requirement_id, s.test_case_id, s.status, s.similarity_score, s.reviewed_at,
    r.external_id AS requirement_external_id, r.title AS requirement_title,
    t.external_id AS test_case_external_id, t.title AS test_case_title
FROM suggestions s JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id
WHERE s.status IN ('accepted', 'rejected') AND s.status = '{status}'
    AND s.requirement_text_sequence >= r.text_sequence AND s.test_case_text_sequence >= t.text_sequence
    AND NOT EXISTS (SELECT FROM linked_pairs l WHERE l.link_id = s.link_id AND l.deleted)
ORDER BY s.reviewed_at DESC, s.id LIMIT %(limit)s)
"""

# One of each in turn, until there are enough or one kind is at its end: a thousand that were rejected at once do not
# take the place of the few that were accepted.
_REVIEWS = f"""
SELECT requirement_id, test_case_id, status, similarity_score, requirement_title, test_case_title,
    coalesce(requirement_external_id, requirement_title) AS requirement,
    coalesce(test_case_external_id, test_case_title) AS test_case
FROM ({_OF_STATUS.format(status="accepted")} UNION ALL {_OF_STATUS.format(status="rejected")}) latest
ORDER BY row_number() OVER (PARTITION BY status ORDER BY reviewed_at DESC, id), reviewed_at DESC, id LIMIT %(limit)s
"""

_PENDING = """
SELECT id, requirement_id, test_case_id, review_adjustment AS adjustment, review_evidence AS because FROM suggestions
WHERE status = 'pending' AND (requirement_id, test_case_id) > (%s, %s)
ORDER BY requirement_id, test_case_id LIMIT %s
"""

_ADJUST = """
UPDATE suggestions s SET review_adjustment = n.adjustment, review_evidence = n.because
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, adjustment double precision, because jsonb)
WHERE s.id = n.id AND s.status = 'pending'
"""


@dataclass(frozen=True, slots=True)
class State:
    """What was measured last. What `now` names has all been taken into account when it is what was `seen`."""

    seen: str
    now: str
    active: bool
    since: datetime | None
    measured_at: datetime | None
    evaluation: Evaluation


async def state(connection: Connection) -> State:
    """Return how far learning is."""
    row = await (await connection.execute(_STATE)).fetchone()
    assert row is not None, "the migrations put the rows there"
    figures = {name: row[name] for name in ("accepted", "rejected", "by_score", "with_reviews", "error")}
    shown = {name: row[name] for name in ("seen", "now", "active", "since", "measured_at")}
    return State(**shown, evaluation=Evaluation(**figures))


async def remember(connection: Connection, evaluation: Evaluation, now: datetime) -> None:
    """Store what was measured, and that what is pending is adjusted, or not any more."""
    figures = {
        name: getattr(evaluation, name) for name in ("accepted", "rejected", "by_score", "with_reviews", "error")
    }
    await connection.execute(_REMEMBER, {**figures, "active": evaluation.helps, "now": now})


async def mark_seen(connection: Connection, seen: str) -> None:
    """Store that everything that the state called `now` then has been taken into account."""
    await connection.execute("UPDATE learning SET seen = %s", (seen,))


async def reviews(connection: Connection, limit: int) -> list[dict[str, Any]]:
    """Return the latest reviews of texts that have not changed since, with what to call their items.

    They are half accepted and half rejected, as far as there are as many; the rest is filled with the other kind.
    """
    return await (await connection.execute(_REVIEWS, {"limit": limit})).fetchall()


async def terms(connection: Connection, ids: Collection[UUID]) -> dict[UUID, dict[str, int]]:
    """Return the terms of items, none for those that are not there."""
    cursor = await connection.execute("SELECT id, terms FROM items WHERE id = ANY(%s)", (list(ids),))
    found = {row["id"]: row["terms"] for row in await cursor.fetchall()}
    return {item_id: found.get(item_id, {}) for item_id in ids}


async def pending(connection: Connection, after: tuple[UUID, UUID], limit: int) -> list[dict[str, Any]]:
    """Return pending suggestions by their pairs, from after the pair (requirement, test case) on."""
    return await (await connection.execute(_PENDING, (*after, limit))).fetchall()


async def adjust(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Store for pending suggestions (id, adjustment, because), the latter two None where reviews say nothing."""
    await lock_suggestions(connection, [row["id"] for row in rows])
    await connection.execute(_ADJUST, {"rows": orjson.dumps(list(rows)).decode()})

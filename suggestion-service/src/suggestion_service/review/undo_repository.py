"""SQL of undoing reviews."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from suggestion_service.locking import lock_suggestions

_LOOK = """
SELECT s.id, s.requirement_id, s.test_case_id, s.reviewed_by, s.reviewed_at, s.feedback, s.link_id, s.review_id,
    CASE WHEN a.suggestion_id IS NOT NULL THEN 'accepting' WHEN u.suggestion_id IS NOT NULL THEN 'reopening'
        ELSE s.status END AS status,
    u.actor_email AS undone_by, o.id AS other_id, o.status AS other_status
FROM suggestions s
LEFT JOIN accept_intents a ON a.suggestion_id = s.id
LEFT JOIN undo_intents u ON u.suggestion_id = s.id
LEFT JOIN LATERAL (
    SELECT id, status FROM suggestions o
    WHERE o.requirement_id = s.requirement_id AND o.test_case_id = s.test_case_id AND o.id <> s.id
        AND (o.status = 'pending' OR o.status <> 'expired' AND o.created_at > s.created_at)
    ORDER BY o.created_at DESC LIMIT 1
) o ON true
WHERE s.id = ANY(%s)
"""

_BEGIN = """
WITH intents AS (
    INSERT INTO undo_intents (suggestion_id, actor_id, actor_email, correlation_id, created_at, due_at)
    SELECT id, %(actor_id)s, %(email)s, %(correlation_id)s, %(now)s, %(due_at)s FROM suggestions
    WHERE id = ANY(%(ids)s) AND status IN ('accepted', 'rejected') ORDER BY id
    ON CONFLICT DO NOTHING
    RETURNING *
)
SELECT i.*, s.requirement_id, s.test_case_id, s.link_id, s.review_id
FROM intents i JOIN suggestions s ON s.id = i.suggestion_id
"""

_CLAIM_OVERDUE = """
UPDATE undo_intents u SET due_at = now() + interval '10 seconds' FROM suggestions s
WHERE s.id = u.suggestion_id AND u.suggestion_id IN (
    SELECT suggestion_id FROM undo_intents WHERE due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING u.*, s.requirement_id, s.test_case_id, s.link_id, s.review_id
"""

# Whatever comes later of these links, that they were made among it, is no news.
_BURY_LINKS = """
INSERT INTO linked_pairs (link_id, requirement_id, test_case_id, sequence, deleted)
SELECT s.link_id, s.requirement_id, s.test_case_id, 0, true FROM suggestions s
WHERE s.id = ANY(%(ids)s) AND s.link_id IS NOT NULL ORDER BY s.link_id
ON CONFLICT (link_id) DO UPDATE SET deleted = true WHERE NOT linked_pairs.deleted
"""

_REOPEN = """
WITH done AS (
    DELETE FROM undo_intents WHERE suggestion_id = ANY(%(ids)s) RETURNING suggestion_id
), before AS (
    SELECT s.id, s.requirement_id, s.test_case_id, r.title AS requirement_title, t.title AS test_case_title,
        r.external_id AS requirement_external_id, t.external_id AS test_case_external_id,
        s.similarity_score, s.status, s.reviewed_by, s.reviewed_at, s.link_id, s.review_id,
        s.requirement_text_sequence < r.text_sequence OR s.test_case_text_sequence < t.text_sequence
        OR EXISTS (SELECT FROM runs WHERE status IN ('running', 'completed')
                   AND (finished_at IS NULL OR finished_at > s.reviewed_at)) AS outdated
    FROM suggestions s JOIN done ON done.suggestion_id = s.id
    JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id
), reopened AS (
    UPDATE suggestions s SET status = 'pending', reviewed_at = NULL, reviewed_by = NULL, feedback = NULL,
        link_id = NULL, review_id = NULL, pending_since = %(now)s
    FROM before WHERE s.id = before.id
), undone AS (
    UPDATE reviews SET undone_at = %(now)s, undone_by = %(email)s WHERE id IN (SELECT review_id FROM before)
)
SELECT * FROM before
"""

_QUEUE = """
INSERT INTO scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id)
SELECT id, sequence, actor_id, coalesce(actor_email, 'system'), coalesce(correlation_id, '') FROM items
WHERE id = ANY(%s) AND NOT deleted ORDER BY id
ON CONFLICT (item_id) DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What there is of a suggestion that may be undone; `accepting` and `reopening` are under way.

    `other_*`: of another suggestion of the pair that is pending, or came and was reviewed later.
    """

    requirement_id: UUID
    test_case_id: UUID
    status: str
    reviewed_by: str | None
    reviewed_at: datetime | None
    feedback: str | None
    link_id: UUID | None
    review_id: UUID | None
    undone_by: str | None
    other_id: UUID | None
    other_status: str | None


async def look(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Reviewed]:
    """Return those of the suggestions that exist."""
    cursor = await connection.execute(_LOOK, (list(ids),))
    return {row.pop("id"): Reviewed(**row) for row in await cursor.fetchall()}


async def review(connection: Connection, review_id: UUID) -> dict[str, Any] | None:
    """Return a review: its suggestion_ids, and undone_at and undone_by if some of it was undone."""
    cursor = await connection.execute(
        "SELECT suggestion_ids, reviewed_at, undone_at, undone_by FROM reviews WHERE id = %s", (review_id,)
    )
    return await cursor.fetchone()


async def begin(connection: Connection, ids: Collection[UUID], intent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Store the intent to undo the reviews of suggestions, which must be locked; return the intents and pairs."""
    cursor = await connection.execute(_BEGIN, {**intent, "ids": list(ids)})
    return await cursor.fetchall()


async def claim_overdue(connection: Connection, limit: int) -> list[dict[str, Any]]:
    """Take intents that somebody began and did not finish."""
    cursor = await connection.execute(_CLAIM_OVERDUE, (limit,))
    return await cursor.fetchall()


async def reopen(connection: Connection, ids: Sequence[UUID], email: str, now: datetime) -> list[dict[str, Any]]:
    """Have the suggestions of intents pending again; return those that nobody else had reopened, as they were reviewed.

    The corpus must be locked: events take the tables in another order. `outdated`: the score may not be today's.
    """
    await connection.execute(_BURY_LINKS, {"ids": list(ids)})
    await lock_suggestions(connection, ids)
    cursor = await connection.execute(_REOPEN, {"ids": list(ids), "email": email, "now": now})
    return await cursor.fetchall()


async def score_again(connection: Connection, item_ids: Collection[UUID]) -> None:
    """Queue items for scoring, unless they are."""
    await connection.execute(_QUEUE, (list(item_ids),))


async def give_up(connection: Connection, ids: Sequence[UUID]) -> None:
    """Forget intents: the suggestions stay as they were reviewed."""
    await lock_suggestions(connection, ids)
    await connection.execute("DELETE FROM undo_intents WHERE suggestion_id = ANY(%s)", (list(ids),))

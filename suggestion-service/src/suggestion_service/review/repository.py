"""SQL of the review queue."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from chassis.web.parameters import Sort
from suggestion_service.locking import lock_suggestions
from suggestion_service.review.band import BAND
from suggestion_service.review.filters import Filters, order_by


def _object(alias: str, *names: str) -> str:
    fields = ", ".join(f"'{name}', {alias}.{name}" for name in names)
    return f"jsonb_build_object({fields})"


def _short(alias: str) -> str:
    return _object(alias, "id", "external_id", "title", "module")


def _said(alias: str, *may_be_missing: str) -> str:
    """Return all that an item says; `items.text` does not have what is null."""
    missing = ", ".join(f"'{name}', null" for name in may_be_missing)
    rest = _object(alias, "id", "external_id", "title", "module", "tags", "priority")
    return f"jsonb_build_object({missing}) || {rest} || {alias}.text"


# What reviews of other pairs say is part of the explanation; the score does not know of it.
_METADATA = (
    "CASE WHEN s.review_adjustment IS NULL THEN s.suggestion_metadata ELSE coalesce(s.suggestion_metadata, '{}')"
    " || jsonb_build_object('reviews', jsonb_build_object('adjustment', s.review_adjustment,"
    " 'because', s.review_evidence)) END AS suggestion_metadata"
)
_FIELDS = (
    f"s.id, s.requirement_id, s.test_case_id, s.similarity_score, {BAND} AS band, s.suggestion_method,"
    f" s.suggestion_reason, {_METADATA}, s.status, s.created_at, s.reviewed_at, s.reviewed_by,"
    " s.feedback, s.link_id, s.review_id, round(s.relevance::numeric, 6)::double precision AS relevance"
)
_ANSWER = f"{_FIELDS}, {_short('r')} AS requirement, {_short('t')} AS test_case"
_WITH_TEXTS = (
    f"{_FIELDS}, {_said('r')} AS requirement, {_said('t', 'preconditions', 'steps', 'postconditions')} AS test_case"
)
_PAIR = "JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id"
_COUNT = "SELECT count(*) AS total FROM suggestions s"
_KEPT_COUNT = "SELECT coalesce(sum(s.rows), 0)::bigint AS total FROM suggestion_counts s"
_BEST_FIRST = order_by(Sort("score", descending=True))
_UNTOUCHED = "s.status = 'pending' AND NOT EXISTS (SELECT FROM accept_intents a WHERE a.suggestion_id = s.id)"
_AS_REVIEWED = (
    "s.id, s.requirement_id, s.test_case_id, r.title AS requirement_title, t.title AS test_case_title,"
    " r.external_id AS requirement_external_id, t.external_id AS test_case_external_id,"
    " s.similarity_score, s.suggestion_method, s.status, s.feedback, s.link_id, s.review_id"
)

# Not those that are being accepted: the event of an accepted suggestion's link comes while it is being finished.
_LOCK_PAIRS = f"""
SELECT s.id, s.requirement_id, s.test_case_id FROM suggestions s
JOIN unnest(%(requirements)s::uuid[], %(test_cases)s::uuid[]) AS pair(requirement_id, test_case_id)
    ON s.requirement_id = pair.requirement_id AND s.test_case_id = pair.test_case_id
WHERE {_UNTOUCHED} ORDER BY s.id FOR UPDATE OF s
"""

_EXPIRE = f"""
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
WHERE s.id = ANY(%(ids)s) AND {_UNTOUCHED}
RETURNING s.id
"""

_EXPIRE_OLD = f"""
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
WHERE s.id IN (SELECT id FROM suggestions s WHERE s.created_at < %(before)s AND {_UNTOUCHED}
                   AND (s.pending_since IS NULL OR s.pending_since < %(before)s)
               ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    AND {_UNTOUCHED}
RETURNING s.id
"""

# One row a request, of what it reviews, in the order in which that was asked for; none when there is nothing.
_NOTE = """
INSERT INTO reviews (id, action, suggestion_ids, reviewed_by, reviewed_at)
SELECT %(review_id)s, '{action}', array_agg(id ORDER BY place), %(email)s, %(now)s
FROM (SELECT id, min(place) AS place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS asked(id, place) GROUP BY id) asked
WHERE id IN ({reviewed}) HAVING count(*) > 0
"""

# The text that was reviewed is the text as it is now: only a later one makes the pair worth suggesting again.
_REJECT = f"""
WITH rejected AS (
    UPDATE suggestions s SET status = 'rejected', reviewed_at = %(now)s, reviewed_by = left(%(email)s, 100),
        feedback = %(feedback)s, review_id = %(review_id)s, requirement_text_sequence = r.text_sequence,
        test_case_text_sequence = t.text_sequence
    FROM items r, items t
    WHERE s.id = ANY(%(ids)s) AND r.id = s.requirement_id AND t.id = s.test_case_id AND {_UNTOUCHED}
    RETURNING {_AS_REVIEWED}
), noted AS ({_NOTE.format(action="reject", reviewed="SELECT id FROM rejected")})
SELECT * FROM rejected
"""

_BEGIN_ACCEPT = f"""
WITH locked AS (
    SELECT id, requirement_id, test_case_id, similarity_score FROM suggestions
    WHERE id = ANY(%(ids)s) AND status = 'pending' ORDER BY id FOR UPDATE
), intents AS (
    INSERT INTO accept_intents (suggestion_id, reviewer_id, reviewer_email, feedback, link_type, correlation_id,
        created_at, due_at, review_id, link_id)
    SELECT id, %(reviewer_id)s, %(email)s, %(feedback)s, %(link_type)s, %(correlation_id)s, %(now)s, %(due_at)s,
        %(review_id)s, %(link_id)s
    FROM locked ON CONFLICT DO NOTHING
    RETURNING *
), noted AS ({_NOTE.format(action="accept", reviewed="SELECT suggestion_id FROM intents")})
SELECT intents.*, requirement_id, test_case_id, similarity_score FROM intents JOIN locked ON id = suggestion_id
"""

_CLAIM_OVERDUE = """
UPDATE accept_intents a SET due_at = now() + interval '10 seconds' FROM suggestions s
WHERE s.id = a.suggestion_id AND a.suggestion_id IN (
    SELECT suggestion_id FROM accept_intents WHERE due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING a.*, s.requirement_id, s.test_case_id, s.similarity_score
"""

# The link exists, so the suggestion is accepted, whatever happened to it meanwhile.
_FINISH_LINKED = f"""
WITH made AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(links)s::uuid[]) AS m(suggestion_id, link_id)
), done AS (
    DELETE FROM accept_intents a USING made WHERE a.suggestion_id = made.suggestion_id
    RETURNING a.*, made.link_id AS made_link_id
)
UPDATE suggestions s SET status = 'accepted', reviewed_at = done.created_at,
    reviewed_by = left(done.reviewer_email, 100), feedback = done.feedback, link_id = done.made_link_id,
    review_id = done.review_id,
    requirement_text_sequence = r.text_sequence, test_case_text_sequence = t.text_sequence
FROM done, items r, items t
WHERE s.id = done.suggestion_id AND r.id = s.requirement_id AND t.id = s.test_case_id
RETURNING {_AS_REVIEWED}
"""

_FINISH_REFUSED = """
WITH done AS (DELETE FROM accept_intents WHERE suggestion_id = %(id)s RETURNING suggestion_id)
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
FROM done WHERE s.id = done.suggestion_id AND s.status = 'pending'
RETURNING s.id
"""


async def page(
    connection: Connection, filters: Filters, sort: Sort, skip: int, limit: int, *, texts: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Return one page of suggestions as they are answered, with the items' texts if asked for, and their total."""
    condition, parameters = filters.condition()
    order = order_by(sort)
    total = _KEPT_COUNT if filters.by_status_alone else _COUNT
    cursor = await connection.execute(
        f"""
        SELECT counted.total, page.* FROM ({total} WHERE {condition}) counted
        LEFT JOIN LATERAL (
            SELECT {_WITH_TEXTS if texts else _ANSWER} FROM (
                SELECT * FROM suggestions s WHERE {condition} ORDER BY {order} LIMIT %(limit)s OFFSET %(skip)s
            ) s {_PAIR} ORDER BY {order}
        ) page ON true
        """,
        {**parameters, "limit": limit, "skip": skip},
    )
    rows = await cursor.fetchall()
    found = rows[0]["total"]
    # Beyond the last one, the total stands alone.
    page = rows if rows[0]["id"] is not None else []
    for row in page:
        del row["total"]
    return page, found


async def get(connection: Connection, suggestion_id: UUID, *, texts: bool = False) -> dict[str, Any] | None:
    """Return a suggestion as it is answered, with all that the items say if asked for."""
    answer = _WITH_TEXTS if texts else _ANSWER
    cursor = await connection.execute(f"SELECT {answer} FROM suggestions s {_PAIR} WHERE s.id = %s", (suggestion_id,))
    return await cursor.fetchone()


async def reviewable(connection: Connection, filters: Filters, limit: int) -> list[UUID]:
    """Return the ids of the suggestions that a filter finds and that can be reviewed, best first."""
    condition, parameters = filters.condition()
    cursor = await connection.execute(
        f"SELECT s.id FROM suggestions s WHERE {condition} AND {_UNTOUCHED} ORDER BY {_BEST_FIRST} LIMIT %(limit)s",
        {**parameters, "limit": limit},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def count_reviewable(connection: Connection, filters: Filters) -> int:
    """Return how many suggestions a filter finds that can be reviewed."""
    condition, parameters = filters.condition()
    row = await (await connection.execute(f"{_COUNT} WHERE {condition} AND {_UNTOUCHED}", parameters)).fetchone()
    assert row is not None, "a count is one row"
    total: int = row["total"]
    return total


async def best_reviewable(connection: Connection, filters: Filters, limit: int) -> list[dict[str, Any]]:
    """Give, as they are answered, the best suggestions that a filter finds and that can be reviewed."""
    condition, parameters = filters.condition()
    cursor = await connection.execute(
        f"SELECT {_ANSWER} FROM (SELECT * FROM suggestions s WHERE {condition} AND {_UNTOUCHED}"
        f" ORDER BY {_BEST_FIRST} LIMIT %(limit)s) s {_PAIR} ORDER BY {_BEST_FIRST}",
        {**parameters, "limit": limit},
    )
    return await cursor.fetchall()


async def still_reviewable(connection: Connection, ids: Sequence[UUID], filters: Filters | None = None) -> set[UUID]:
    """Lock these suggestions; return those that can be reviewed and that the filter finds."""
    await lock_suggestions(connection, ids)
    # By a statement of its own: it sees what was changed before the lock was had.
    condition, parameters = filters.condition() if filters is not None else ("true", {})
    cursor = await connection.execute(
        f"SELECT s.id FROM suggestions s WHERE s.id = ANY(%(ids)s) AND {condition} AND {_UNTOUCHED}",
        {**parameters, "ids": list(ids)},
    )
    return {row["id"] for row in await cursor.fetchall()}


@dataclass(frozen=True, slots=True)
class State:
    """What has become of a suggestion; being accepted is the status `accepting`, and `by` is who does it."""

    status: str
    by: str | None
    at: datetime | None
    feedback: str | None
    link_id: UUID | None


async def states(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, State]:
    """Return the states of those of the suggestions that exist."""
    cursor = await connection.execute(
        "SELECT s.id, s.link_id, s.feedback, CASE WHEN a.suggestion_id IS NULL THEN s.status ELSE 'accepting' END"
        " AS status, coalesce(a.reviewer_email, s.reviewed_by) AS by, coalesce(a.created_at, s.reviewed_at) AS at"
        " FROM suggestions s LEFT JOIN accept_intents a ON a.suggestion_id = s.id WHERE s.id = ANY(%s)",
        (list(ids),),
    )
    return {row.pop("id"): State(**row) for row in await cursor.fetchall()}


async def reject(connection: Connection, ids: Sequence[UUID], review: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Reject those of the suggestions that are pending; return them. `review`: review_id, email, feedback, now."""
    # By a statement of its own: the next one then sees an acceptance that began meanwhile.
    await lock_suggestions(connection, ids)
    cursor = await connection.execute(_REJECT, {**review, "ids": list(ids)})
    return await cursor.fetchall()


async def begin_accept(connection: Connection, ids: Sequence[UUID], intent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Store the intent to accept those of the suggestions that are pending; return the intents with their pairs.

    `intent`: review_id, reviewer_id, email, feedback, link_type, link_id, correlation_id, now, due_at.
    """
    cursor = await connection.execute(_BEGIN_ACCEPT, {**intent, "ids": list(ids)})
    return await cursor.fetchall()


async def claim_overdue(connection: Connection, limit: int) -> list[dict[str, Any]]:
    """Take intents that somebody began and did not finish."""
    cursor = await connection.execute(_CLAIM_OVERDUE, (limit,))
    return await cursor.fetchall()


async def finish_linked(connection: Connection, links: Sequence[tuple[UUID, UUID]]) -> list[dict[str, Any]]:
    """Accept the suggestions of these (suggestion, link); return those that nobody else had finished."""
    await lock_suggestions(connection, [suggestion_id for suggestion_id, _ in links])
    cursor = await connection.execute(
        _FINISH_LINKED, {"ids": [made[0] for made in links], "links": [made[1] for made in links]}
    )
    return await cursor.fetchall()


async def finish_refused(connection: Connection, suggestion_id: UUID, reason: str) -> bool:
    """Expire a suggestion whose link was refused; return whether it was still pending."""
    await lock_suggestions(connection, [suggestion_id])
    cursor = await connection.execute(_FINISH_REFUSED, {"id": suggestion_id, "reason": reason})
    return cursor.rowcount > 0


async def give_up(connection: Connection, suggestion_id: UUID) -> None:
    """Forget the intent to accept a suggestion, which stays as it is."""
    await connection.execute("DELETE FROM accept_intents WHERE suggestion_id = %s", (suggestion_id,))


async def lock_pairs(connection: Connection, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], UUID]:
    """Lock the pending suggestions of these (requirement, test case) that nobody is accepting; return them by pair."""
    cursor = await connection.execute(
        _LOCK_PAIRS, {"requirements": [pair[0] for pair in pairs], "test_cases": [pair[1] for pair in pairs]}
    )
    return {(row["requirement_id"], row["test_case_id"]): row["id"] for row in await cursor.fetchall()}


async def expire(connection: Connection, ids: Collection[UUID], reason: str) -> list[UUID]:
    """Expire those of the suggestions that are pending and that nobody is accepting; they must be locked."""
    cursor = await connection.execute(_EXPIRE, {"ids": list(ids), "reason": reason})
    return [row["id"] for row in await cursor.fetchall()]


async def expire_old(connection: Connection, before: datetime, reason: str, limit: int) -> list[UUID]:
    """Expire up to `limit` suggestions that were made before then and are still pending."""
    cursor = await connection.execute(_EXPIRE_OLD, {"before": before, "reason": reason, "limit": limit})
    return [row["id"] for row in await cursor.fetchall()]

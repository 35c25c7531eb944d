"""SQL of the review queue: what is shown, what may be reviewed, and what has become of suggestions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page
from chassis.web.parameters import Sort
from suggestion_service.review.band import BAND
from suggestion_service.review.filters import PAIR, VARIANTS_FOUND, ListQuery, order_by
from suggestion_service.review.item_objects import said, short
from suggestion_service.store import suggestions

# What reviews of other pairs say is part of the explanation; the score does not know of it.
_REVIEWS = (
    "jsonb_build_object('reviews', jsonb_build_object('adjustment', s.review_adjustment, 'because', s.review_evidence))"
)
_METADATA = (
    "CASE WHEN s.review_adjustment IS NULL AND s.variant_group IS NULL THEN s.suggestion_metadata"
    " ELSE coalesce(s.suggestion_metadata, '{}')"
    " || CASE WHEN s.variant_group IS NULL THEN '{}' ELSE jsonb_build_object('group', s.variant_group) END"
    f" || CASE WHEN s.review_adjustment IS NULL THEN '{{}}' ELSE {_REVIEWS} END END AS suggestion_metadata"
)
_FIELDS = (
    f"s.id, s.requirement_id, s.test_case_id, s.similarity_score, {BAND} AS band, s.suggestion_method,"
    f" s.suggestion_reason, {_METADATA}, s.status, s.created_at, s.reviewed_at, s.reviewed_by,"
    " s.feedback, s.link_id, s.review_id, round(s.relevance::numeric, 6)::double precision AS relevance"
)
_ANSWER = f"{_FIELDS}, {short('r')} AS requirement, {short('t')} AS test_case"
_WITH_TEXTS = (
    f"{_FIELDS}, {said('r')} AS requirement, {said('t', 'preconditions', 'steps', 'postconditions')} AS test_case"
)
_MORE = """
    greatest(0, (SELECT {count} FROM suggestions o WHERE o.requirement_id = s.requirement_id AND o.status = s.status)
        - %(per_requirement)s) AS more_of_requirement
"""
_VARIANTS_TOGETHER = "count(*) FILTER (WHERE o.variant_group IS NULL) + count(DISTINCT o.variant_group)"
_MOST_VARIANTS = 99
_VARIANT = (
    f"jsonb_build_object('id', s.id, 'similarity_score', s.similarity_score, 'band', {BAND}, 'test_case', {short('t')})"
)
_VARIANTS = f"""
    coalesce((SELECT jsonb_agg({_VARIANT} ORDER BY s.similarity_score DESC, s.id DESC)
        FROM (SELECT other.* FROM {VARIANTS_FOUND} AND other.id <> s.id
            ORDER BY other.similarity_score DESC, other.id DESC LIMIT {_MOST_VARIANTS}) s
        JOIN items t ON t.id = s.test_case_id), '[]') AS variants
"""
_COUNT_BY_STATUS = "SELECT coalesce(sum(s.rows), 0)::bigint FROM suggestion_counts s"
_BEST_FIRST = order_by(Sort("score", descending=True))

_STATES = """
SELECT s.id, s.link_id, s.feedback, CASE WHEN a.suggestion_id IS NULL THEN s.status ELSE 'accepting' END AS status,
    coalesce(a.reviewer_email, s.reviewed_by) AS by, coalesce(a.created_at, s.reviewed_at) AS at
FROM suggestions s LEFT JOIN accept_intents a ON a.suggestion_id = s.id WHERE s.id = ANY(%s)
"""

_UNDOABLE = """
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


@dataclass(frozen=True, slots=True)
class State:
    """What has become of a suggestion; being accepted is the status `accepting`, and `by` is who does it."""

    status: str
    by: str | None
    at: datetime | None
    feedback: str | None
    link_id: UUID | None


@dataclass(frozen=True, slots=True)
class Undoable:
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


async def page(
    connection: Connection, query: ListQuery, conditions: Conditions, wanted: PageRequest, *, texts: bool
) -> Fetched:
    """Return one page of suggestions as they are answered, with the items' texts if asked for.

    `conditions` are those of the query.
    """
    columns = _WITH_TEXTS if texts else _ANSWER
    if query.per_requirement is not None:
        columns = f"{columns}, {_MORE.format(count='count(*)' if query.variants is None else _VARIANTS_TOGETHER)}"
    if query.variants is not None:
        columns = f"{columns}, {_VARIANTS.format(also=query.found().also)}"
    # Answered rounded, which is no position.
    by_relevance = wanted.order.columns[0].name == "exact_relevance"
    if by_relevance:
        columns = f"s.relevance AS exact_relevance, {columns}"
    total = f"{_COUNT_BY_STATUS} {conditions.where}" if query.say_status_alone else None
    found = await fetch_page(connection, columns, "suggestions s", conditions, wanted, total, joined=PAIR)
    if by_relevance:
        for row in found.rows:
            del row["exact_relevance"]
    return found


async def count(connection: Connection, conditions: Conditions) -> int:
    """Return how many suggestions there are under conditions on `suggestions s`."""
    query = f"SELECT count(*) FROM suggestions s {conditions.where}"
    return int(await fetch_value(connection, query, conditions.parameters))


async def get(connection: Connection, suggestion_id: UUID, *, texts: bool = False) -> Row | None:
    """Return a suggestion as it is answered, with all that the items say if asked for."""
    answer = _WITH_TEXTS if texts else _ANSWER
    cursor = await connection.execute(f"SELECT {answer} FROM suggestions s {PAIR} WHERE s.id = %s", (suggestion_id,))
    return await cursor.fetchone()


async def reviewable(connection: Connection, conditions: Conditions, limit: int) -> list[UUID]:
    """Return the ids of the suggestions that these conditions, of reviewable ones, find, best first."""
    query = f"SELECT s.id FROM suggestions s {conditions.where} ORDER BY {_BEST_FIRST.sql} LIMIT %(limit)s"
    return await fetch_column(connection, query, {**conditions.parameters, "limit": limit})


async def count_reviewable(connection: Connection, conditions: Conditions) -> int:
    """Return how many suggestions these conditions find."""
    query = f"SELECT count(*) FROM suggestions s {conditions.where}"
    return int(await fetch_value(connection, query, conditions.parameters))


async def best_reviewable(connection: Connection, conditions: Conditions, limit: int) -> tuple[list[Row], int]:
    """Return, as they are answered, the best suggestions that these conditions find, and how many."""
    wanted = PageRequest(_BEST_FIRST, limit)
    found = await fetch_page(connection, _ANSWER, "suggestions s", conditions, wanted, joined=PAIR)
    return found.rows, found.total


async def still_reviewable(connection: Connection, ids: Sequence[UUID], conditions: Conditions) -> int:
    """Lock these suggestions; return how many of them the conditions find."""
    await suggestions.lock(connection, ids)
    # By a statement of its own: it sees what was changed before the lock was had.
    query = f"SELECT count(*) FROM suggestions s WHERE s.id = ANY(%(ids)s){conditions.also}"
    return int(await fetch_value(connection, query, {**conditions.parameters, "ids": list(ids)}))


async def states(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, State]:
    """Return the states of those of the suggestions that exist."""
    cursor = await connection.execute(_STATES, (list(ids),))
    return {row.pop("id"): State(**row) for row in await cursor.fetchall()}


async def undoable(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Undoable]:
    """Return those of the suggestions that exist, with what decides whether their review can be undone."""
    cursor = await connection.execute(_UNDOABLE, (list(ids),))
    return {row.pop("id"): Undoable(**row) for row in await cursor.fetchall()}

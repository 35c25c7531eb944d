"""SQL of the rescore sweep: how far it is, what is pending, and taking back what would not be suggested any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from chassis.messaging.events import SYSTEM, Actor
from suggestion_service.scoring.changed_items import ChangedItem

_STATE = """
SELECT h.head, s.position,
    EXISTS (SELECT FROM scoring_queue WHERE due_at <= now() OR claimed_until > now())
        OR EXISTS (SELECT FROM runs WHERE status IN ('queued', 'running')) AS scoring
FROM corpus_head h, settlement s
"""

_MANY_CHANGED = """
SELECT (SELECT count(*) FROM items WHERE change > %(position)s)
    >= %(share)s * (SELECT count(*) FROM items WHERE NOT deleted) AS many
"""

# All but what a run has added that was to leave pending ones alone, and with them their scale.
_PENDING_IN_SCALE = """
SELECT s.id, s.requirement_id, s.test_case_id FROM suggestions s
WHERE s.status = 'pending' AND s.id > %(after)s AND (s.suggestion_method = %(method)s
    OR NOT EXISTS (SELECT FROM runs r WHERE r.id = s.run_id AND NOT r.rescore))
ORDER BY s.id LIMIT %(limit)s
"""

_WITHDRAW = """
DELETE FROM suggestions s
WHERE s.id = ANY(%(ids)s) AND s.status = 'pending' AND s.run_id IS NULL
    AND (s.similarity_score < %(threshold)s OR s.similarity_score = 0)
    AND NOT EXISTS (SELECT FROM accept_intents a WHERE a.suggestion_id = s.id)
"""


@dataclass(frozen=True, slots=True)
class State:
    """The copy is at `head`; up to `position` everything is reconciled. `scoring`: something is scored just now."""

    head: int
    position: int
    scoring: bool


async def state(connection: Connection) -> State:
    """Return how far the copy is, and how far the sweep."""
    row = await (await connection.execute(_STATE)).fetchone()
    assert row is not None, "the migrations put the rows there"
    return State(**row)


async def remember(connection: Connection, before: State) -> None:
    """Store that everything up to the head of `before` is reconciled, unless that was reset since."""
    await connection.execute("UPDATE settlement SET position = %s WHERE position = %s", (before.head, before.position))


async def many_changed(connection: Connection, position: int, share: float) -> bool:
    """Check whether at least this share of the items has changed since `position`."""
    row = await (await connection.execute(_MANY_CHANGED, {"position": position, "share": share})).fetchone()
    return row is not None and row["many"]


async def reset(connection: Connection) -> None:
    """Have everything reconciled again: pending suggestions may have a score of another scale, or of the past."""
    await connection.execute("UPDATE settlement SET position = position - 1")


async def pending_in_scale(connection: Connection, method: str, after: UUID, limit: int) -> list[dict[str, Any]]:
    """Give, by id, the pending suggestions that shall have a score by this method."""
    cursor = await connection.execute(_PENDING_IN_SCALE, {"method": method, "after": after, "limit": limit})
    return await cursor.fetchall()


async def withdraw_below(connection: Connection, ids: Sequence[UUID], threshold: float) -> int:
    """Delete those of the suggestions that the background made and would not make now; return how many.

    Deleted, not expired: nobody has decided about the pair, so it may be suggested again. They must be locked.
    """
    return (await connection.execute(_WITHDRAW, {"ids": list(ids), "threshold": threshold})).rowcount


async def items(connection: Connection, ids: Sequence[UUID]) -> list[ChangedItem]:
    """Return those of the items that are there, with who changed them last."""
    cursor = await connection.execute(
        "SELECT id, side, title, external_id, actor_id, actor_email, correlation_id FROM items"
        " WHERE id = ANY(%s) AND NOT deleted",
        (list(ids),),
    )
    return [_item(row) for row in await cursor.fetchall()]


def _item(row: dict[str, Any]) -> ChangedItem:
    known = row["actor_email"] is not None
    actor = Actor(row["actor_id"], row["actor_email"]) if known else SYSTEM
    return ChangedItem(row["id"], row["side"], row["title"], row["external_id"], actor, row["correlation_id"] or "")

"""SQL of the scoring queue: items that changed and wait to be scored, each claimed by one worker at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.database import Connection
from chassis.events import Actor
from suggestion_service.engine import Side

_CLAIM = """
UPDATE scoring_queue q SET claimed_until = now() + interval '20 seconds', attempts = q.attempts + 1
FROM items i
WHERE i.id = q.item_id AND q.item_id IN (
    SELECT item_id FROM scoring_queue
    WHERE due_at <= now() AND (claimed_until IS NULL OR claimed_until < now())
    ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING q.item_id, q.sequence, q.actor_id, q.actor_email, q.correlation_id, q.attempts, i.side, i.title
"""


@dataclass(frozen=True, slots=True)
class Queued:
    """An item to be scored because of what `actor` did; `sequence` is that of the event."""

    item_id: UUID
    side: Side
    title: str
    sequence: int
    actor: Actor
    correlation_id: str
    attempts: int

    def __str__(self) -> str:
        return f"{self.side.replace('_', ' ')} {self.item_id}"


async def claim(connection: Connection, limit: int) -> list[Queued]:
    """Claim up to `limit` items for 20 seconds."""
    cursor = await connection.execute(_CLAIM, {"limit": limit})
    return [_queued(row) for row in await cursor.fetchall()]


def _queued(row: dict[str, Any]) -> Queued:
    return Queued(
        row["item_id"],
        row["side"],
        row["title"],
        row["sequence"],
        Actor(row["actor_id"], row["actor_email"]),
        row["correlation_id"],
        row["attempts"],
    )


async def finish(connection: Connection, done: Sequence[Queued]) -> None:
    """Take scored items out of the queue; one that changed meanwhile stays, free to be claimed."""
    parameters = {
        "ids": [queued.item_id for queued in done],
        "sequences": [queued.sequence for queued in done],
    }
    scored = "unnest(%(ids)s::uuid[], %(sequences)s::bigint[]) AS d(item_id, sequence)"
    await connection.execute(
        f"DELETE FROM scoring_queue q USING {scored} WHERE q.item_id = d.item_id AND q.sequence = d.sequence",
        parameters,
    )
    await connection.execute("UPDATE scoring_queue SET claimed_until = NULL WHERE item_id = ANY(%(ids)s)", parameters)


async def postpone(connection: Connection, failed: Queued) -> None:
    """Free an item that could not be scored, to be tried again after a pause that grows to five minutes."""
    await connection.execute(
        "UPDATE scoring_queue SET claimed_until = NULL,"
        " due_at = now() + least(power(2, attempts), 300) * interval '1 second' WHERE item_id = %s",
        (failed.item_id,),
    )

"""SQL of the scoring queue: items that changed and wait to be scored, each claimed by one worker at a time.

Jobs of the bus are announcements of what waits here; `announced_until` keeps them from being sent again and again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.messaging.events import Actor
from suggestion_service.scoring.changed_items import ChangedItem

_LEASE = "interval '20 seconds'"

_CLAIM = f"""
UPDATE scoring_queue q SET claim = %(claim)s, claimed_until = now() + {_LEASE}, attempts = q.attempts + 1,
    announced_until = NULL
FROM items i
WHERE i.id = q.item_id AND q.item_id IN (
    SELECT item_id FROM scoring_queue
    WHERE due_at <= now() AND (claimed_until IS NULL OR claimed_until < now())
    ORDER BY announced_until IS NULL, due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING q.item_id, q.sequence, q.actor_id, q.actor_email, q.correlation_id, q.traceparent, i.side,
    i.title, i.external_id
"""

# As many jobs are sent as those items need that are announced: a job takes them first.
_ANNOUNCE = """
UPDATE scoring_queue SET announced_until = now() + interval '5 seconds'
WHERE item_id IN (
    SELECT item_id FROM scoring_queue
    WHERE due_at <= now() AND (claimed_until IS NULL OR claimed_until < now())
        AND (announced_until IS NULL OR announced_until < now())
    ORDER BY due_at
    LIMIT greatest(0, %(most)s - (SELECT count(*) FROM scoring_queue WHERE announced_until >= now()))
    FOR UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True, slots=True)
class Queued(ChangedItem):
    """An item to be scored; `sequence` is that of the event that queued it, `claim` whose it is.

    `traceparent` is that of what queued it, None where no trace is recorded.
    """

    sequence: int
    claim: UUID
    traceparent: str | None


async def announce(connection: Connection, most: int) -> int:
    """Return how many items wait that no job was sent for, and count them as announced for 5 seconds.

    With those that were announced before and still wait they are no more than `most`. To be called in a transaction.
    """
    # One at a time: another announcer would lock the same items for a moment in which a job, passing over what is
    # locked, found nothing.
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('scoring announcements'))")
    return (await connection.execute(_ANNOUNCE, {"most": most})).rowcount


async def claim(connection: Connection, limit: int) -> list[Queued]:
    """Claim up to `limit` items for 20 seconds, all by one claim."""
    claim_id = uuid4()
    cursor = await connection.execute(_CLAIM, {"claim": claim_id, "limit": limit})
    return [_queued(row, claim_id) for row in await cursor.fetchall()]


def _queued(row: dict[str, Any], claim_id: UUID) -> Queued:
    return Queued(
        row["item_id"],
        row["side"],
        row["title"],
        row["external_id"],
        Actor(row["actor_id"], row["actor_email"]),
        row["correlation_id"],
        row["sequence"],
        claim_id,
        row["traceparent"],
    )


async def hold(connection: Connection, claim_id: UUID) -> None:
    """Extend a claim."""
    # Without waiting for rows that events are changing: who locks many rows one by one may meet another who does.
    await connection.execute(
        f"UPDATE scoring_queue SET claimed_until = now() + {_LEASE} WHERE item_id IN"
        " (SELECT item_id FROM scoring_queue WHERE claim = %s FOR UPDATE SKIP LOCKED)",
        (claim_id,),
    )


async def release(connection: Connection, claim_id: UUID) -> None:
    """Give a claim back, so that others may score the items at once; this attempt does not count."""
    await connection.execute(
        "UPDATE scoring_queue SET claim = NULL, claimed_until = NULL, attempts = greatest(attempts - 1, 0)"
        " WHERE item_id IN (SELECT item_id FROM scoring_queue WHERE claim = %s ORDER BY item_id FOR UPDATE)",
        (claim_id,),
    )


async def finish(connection: Connection, done: Sequence[Queued]) -> None:
    """Take scored items out of the queue; one that changed meanwhile stays, free to be claimed."""
    parameters = {
        "claims": list({queued.claim for queued in done}),
        "ids": [queued.item_id for queued in done],
        "sequences": [queued.sequence for queued in done],
    }
    scored = "unnest(%(ids)s::uuid[], %(sequences)s::bigint[]) AS d(item_id, sequence)"
    await connection.execute(
        f"DELETE FROM scoring_queue q USING {scored} WHERE q.item_id = d.item_id AND q.sequence = d.sequence",
        parameters,
    )
    await connection.execute(
        "UPDATE scoring_queue SET claim = NULL, claimed_until = NULL"
        " WHERE item_id = ANY(%(ids)s) AND claim = ANY(%(claims)s)",
        parameters,
    )


async def postpone(connection: Connection, failed: Queued) -> None:
    """Free an item that could not be scored, to be tried again after a pause that grows to five minutes."""
    await connection.execute(
        "UPDATE scoring_queue SET claim = NULL, claimed_until = NULL,"
        " due_at = now() + least(power(2, attempts), 300) * interval '1 second' WHERE item_id = %s",
        (failed.item_id,),
    )

"""Table `scoring_queue`: items that changed and wait to be scored, each leased by one worker at a time.

Jobs of the bus are announcements of what waits here; `announced_until` keeps them from being sent again and again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.db.leases import Leases
from chassis.db.rows import fetch_value
from chassis.messaging.events import SYSTEM, Actor
from suggestion_service.engine import Side

LEASES = Leases("scoring_queue", "item_id", 20)

_CLAIM = f"""
UPDATE scoring_queue q SET {LEASES.taken("q")}, announced_until = NULL
FROM items i
WHERE i.id = q.item_id AND q.item_id IN (
    SELECT item_id FROM scoring_queue w WHERE due_at <= now() AND {LEASES.free("w")}
    ORDER BY announced_until IS NULL, due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING q.item_id, q.sequence, q.actor_id, q.actor_email, q.correlation_id, q.traceparent, i.side,
    i.title, i.external_id
"""

COUNT = "SELECT count(*) FROM scoring_queue WHERE due_at <= now() + interval '10 seconds' OR claimed_until > now()"
"""How many items wait to be scored; one that could not be scored several times is not waited for."""

# From one project to the next by the index: a project of which very much waits takes no longer.
_NEXT_PROJECT = f"""
SELECT project_id FROM scoring_queue w WHERE project_id > %s AND due_at <= now() AND {LEASES.free("w")}
ORDER BY project_id LIMIT 1
"""

# As many jobs are sent as those items need that are announced: a job takes them first.
_ANNOUNCE = f"""
UPDATE scoring_queue SET announced_until = now() + interval '5 seconds'
WHERE item_id IN (
    SELECT item_id FROM scoring_queue w
    WHERE due_at <= now() AND {LEASES.free("w")} AND (announced_until IS NULL OR announced_until < now())
    ORDER BY due_at
    LIMIT greatest(0, %(most)s - (SELECT count(*) FROM scoring_queue WHERE announced_until >= now()))
    FOR UPDATE SKIP LOCKED)
"""

_QUEUE_AGAIN = """
INSERT INTO scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id)
SELECT id, sequence, actor_id, coalesce(actor_email, %(system)s), coalesce(correlation_id, '') FROM items
WHERE id = ANY(%(ids)s) AND NOT deleted ORDER BY id
ON CONFLICT (item_id) DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item as `actor` left it, by a request with this correlation id."""

    item_id: UUID
    side: Side
    title: str
    external_id: str | None
    actor: Actor
    correlation_id: str

    def __str__(self) -> str:
        return f"{self.side.replace('_', ' ')} {self.item_id}"


@dataclass(frozen=True, slots=True)
class QueuedItem(ChangedItem):
    """An item to be scored; `sequence` is that of the event that queued it, `claim` whose it is.

    `traceparent` is that of what queued it, None where no trace is recorded.
    """

    sequence: int
    claim: UUID
    traceparent: str | None


def put(select: str, schema: str = "") -> str:
    """Return the statement, to stand in a CTE, that queues what `select` gives, with a place for each column."""
    return f"""
    INSERT INTO {schema}scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id, traceparent) {select}
    ON CONFLICT (item_id) DO UPDATE SET sequence = excluded.sequence, actor_id = excluded.actor_id,
        actor_email = excluded.actor_email, correlation_id = excluded.correlation_id, due_at = excluded.due_at,
        attempts = 0, traceparent = excluded.traceparent
    """


async def queue_again(connection: Connection, item_ids: Collection[UUID]) -> None:
    """Queue items that have not changed, unless they are queued."""
    await connection.execute(_QUEUE_AGAIN, {"ids": list(item_ids), "system": SYSTEM.email})


async def announce(connection: Connection, most: int) -> int:
    """Return how many items wait that no job was sent for, and count them as announced for 5 seconds.

    With those that were announced before and still wait they are no more than `most`. To be called in a transaction.
    """
    # One at a time: another announcer would lock the same items for a moment in which a job, passing over what is
    # locked, found nothing.
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('scoring announcements'))")
    return (await connection.execute(_ANNOUNCE, {"most": most})).rowcount


async def next_project(connection: Connection, after: str) -> str | None:
    """Return the project in which items wait that comes after the one named, in a round of all that are seen."""
    following: str | None = await fetch_value(connection, _NEXT_PROJECT, (after,))
    return following if following is not None else await fetch_value(connection, _NEXT_PROJECT, ("",))


async def claim(connection: Connection, limit: int) -> list[QueuedItem]:
    """Claim up to `limit` items of a project, all by one claim."""
    claim_id = uuid4()
    cursor = await connection.execute(_CLAIM, {"claim": claim_id, "limit": limit})
    return [_queued(row, claim_id) for row in await cursor.fetchall()]


def _queued(row: dict[str, Any], claim_id: UUID) -> QueuedItem:
    return QueuedItem(
        actor=Actor(row.pop("actor_id"), row.pop("actor_email")),
        claim=claim_id,
        **row,
    )


async def finish(connection: Connection, done: Sequence[QueuedItem]) -> None:
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


async def postpone(connection: Connection, failed: QueuedItem) -> None:
    """Free an item that could not be scored, to be tried again after a pause that grows to five minutes."""
    await connection.execute(
        "UPDATE scoring_queue SET claim = NULL, claimed_until = NULL,"
        " due_at = now() + least(power(2, attempts), 300) * interval '1 second' WHERE item_id = %s",
        (failed.item_id,),
    )


async def remove(connection: Connection, item_ids: Sequence[UUID]) -> None:
    """Take items out that are not there any more."""
    await connection.execute("DELETE FROM scoring_queue WHERE item_id = ANY(%s)", (list(item_ids),))


async def remove_gone(connection: Connection) -> None:
    """Take all items out that are not in the real copy, beside which there is a temporary one."""
    await connection.execute(
        "DELETE FROM public.scoring_queue WHERE NOT EXISTS"
        " (SELECT FROM public.items WHERE items.id = item_id AND NOT items.deleted)"
    )

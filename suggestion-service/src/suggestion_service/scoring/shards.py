"""SQL of a run's shards: ranges of requirements that workers claim and score, and what they have counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from chassis.db.database import Connection
from suggestion_service.scoring.runs import LEASE, ClaimedRun, RunLost, RunRequest, request_of

_FIRST_ID = UUID(int=0)
_LAST_ID = UUID(int=2**128 - 1)

_CUT = """
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM items
                WHERE side = 'requirement' AND NOT deleted) r
WHERE place > 0 AND place %% %s = 0 ORDER BY id
"""

# What a shard that was interrupted had created, updated and withdrawn stays counted; the pairs are looked at again.
_CLAIM = f"""
UPDATE run_parts p SET claim = %(claim)s, claimed_until = now() + {LEASE}, attempts = p.attempts + 1, progress = 0,
    pairs_analyzed = 0, suggestions_skipped = 0
FROM runs r
WHERE r.id = p.run_id AND (p.run_id, p.number) = (
    SELECT w.run_id, w.number FROM run_parts w JOIN runs ON runs.id = w.run_id
    WHERE NOT w.done AND (w.claimed_until IS NULL OR w.claimed_until < now()) AND runs.status = 'running'
    ORDER BY runs.created_at, w.number LIMIT 1 FOR UPDATE OF w SKIP LOCKED)
RETURNING p.number, p.first_id, p.until_id, p.attempts,
    r.id, r.algorithm, r.threshold, r.rescore, r.actor_id, r.created_by, r.correlation_id
"""

_ADVANCE = """
UPDATE run_parts SET progress = %(progress)s, pairs_analyzed = pairs_analyzed + %(pairs)s,
    suggestions_created = suggestions_created + %(created)s, suggestions_updated = suggestions_updated + %(updated)s,
    suggestions_withdrawn = suggestions_withdrawn + %(withdrawn)s,
    suggestions_skipped = suggestions_skipped + %(skipped)s
WHERE number = %(number)s AND claim = %(claim)s
    AND run_id = (SELECT id FROM runs WHERE id = %(run_id)s AND status = 'running' FOR SHARE)
"""


@dataclass(frozen=True, slots=True)
class ClaimedShard:
    """The requirements from `first_id` to before `until_id`, None for all after; ours while we keep the claim."""

    request: RunRequest
    number: int
    first_id: UUID
    until_id: UUID | None
    claim: UUID
    attempts: int

    def last_id(self) -> UUID:
        """Return the last id that a requirement of the shard may have."""
        return _LAST_ID if self.until_id is None else UUID(int=self.until_id.int - 1)

    def is_everything(self) -> bool:
        """Check whether there is no other shard."""
        return self.first_id == _FIRST_ID and self.until_id is None


async def cut(connection: Connection, requirements: int, pairs: int) -> list[UUID]:
    """Return the ids at which shards begin that have at most so many requirements, and about so many pairs.

    The first one is below every id: requirements that come later are in a shard, too.
    """
    cursor = await connection.execute("SELECT count(*) FROM items WHERE side = 'test_case' AND NOT deleted")
    row = await cursor.fetchone()
    size = max(1, min(requirements, pairs // max(1, row["count"] if row else 0)))
    rows = await (await connection.execute(_CUT, (size,))).fetchall()
    return [_FIRST_ID, *(row["id"] for row in rows)]


async def insert(connection: Connection, run: ClaimedRun, beginnings: Sequence[UUID]) -> ClaimedShard:
    """Store the shards of a run, and return the first one, claimed."""
    first = ClaimedShard(run.request, 0, beginnings[0], beginnings[1] if len(beginnings) > 1 else None, uuid4(), 1)
    await connection.execute(
        "INSERT INTO run_parts (run_id, number, first_id, until_id)"
        " SELECT %(run_id)s, place - 1, id, lead(id) OVER (ORDER BY place)"
        " FROM unnest(%(beginnings)s::uuid[]) WITH ORDINALITY AS b(id, place)",
        {"run_id": run.request.id, "beginnings": list(beginnings)},
    )
    await connection.execute(
        f"UPDATE run_parts SET claim = %s, claimed_until = now() + {LEASE}, attempts = 1"
        " WHERE run_id = %s AND number = 0",
        (first.claim, run.request.id),
    )
    return first


async def claim(connection: Connection) -> ClaimedShard | None:
    """Claim a shard that nobody works on, or whose worker has died; those of the oldest run come first."""
    claim = uuid4()
    row = await (await connection.execute(_CLAIM, {"claim": claim})).fetchone()
    if row is None:
        return None
    return ClaimedShard(request_of(row), row["number"], row["first_id"], row["until_id"], claim, row["attempts"])


async def hold(connection: Connection, shard: ClaimedShard) -> None:
    """Extend the claim."""
    await connection.execute(
        f"UPDATE run_parts SET claimed_until = now() + {LEASE} WHERE run_id = %s AND number = %s AND claim = %s",
        (shard.request.id, shard.number, shard.claim),
    )


async def release(connection: Connection, shard: ClaimedShard) -> None:
    """Give the claim back, so that another worker may take the shard up at once; this attempt does not count."""
    await connection.execute(
        "UPDATE run_parts SET claim = NULL, claimed_until = NULL, attempts = attempts - 1"
        " WHERE run_id = %s AND number = %s AND claim = %s",
        (shard.request.id, shard.number, shard.claim),
    )


async def requirements(connection: Connection, shard: ClaimedShard) -> list[UUID]:
    """Return the ids of the shard's requirements as the copy is now."""
    cursor = await connection.execute(
        "SELECT id FROM items WHERE side = 'requirement' AND NOT deleted AND id >= %s"
        " AND (%s::uuid IS NULL OR id < %s) ORDER BY id",
        (shard.first_id, shard.until_id, shard.until_id),
    )
    return [row["id"] for row in await cursor.fetchall()]


async def advance(
    connection: Connection,
    shard: ClaimedShard,
    progress: float,
    *,
    pairs: int = 0,
    created: int = 0,
    updated: int = 0,
    withdrawn: int = 0,
    skipped: int = 0,
) -> None:
    """Store progress (0..1) and add to the counts; raise RunLost when the run has ended or the shard is not ours."""
    found = {"created": created, "updated": updated, "withdrawn": withdrawn, "skipped": skipped}
    counts = {"progress": progress, "pairs": pairs, **found}
    place = {"run_id": shard.request.id, "number": shard.number, "claim": shard.claim}
    if (await connection.execute(_ADVANCE, counts | place)).rowcount == 0:
        raise RunLost


async def keep(connection: Connection, shard: ClaimedShard) -> None:
    """Lock the run, so that nobody else ends it or a shard of it; raise RunLost when it has ended or is not ours."""
    await connection.execute("SELECT FROM runs WHERE id = %s FOR UPDATE", (shard.request.id,))
    # A run that has ended has no shards.
    cursor = await connection.execute(
        "SELECT FROM run_parts WHERE run_id = %s AND number = %s AND claim = %s",
        (shard.request.id, shard.number, shard.claim),
    )
    if cursor.rowcount == 0:
        raise RunLost


async def finish(connection: Connection, shard: ClaimedShard) -> bool:
    """End a shard, which must be kept; return whether it was the last of its run."""
    await connection.execute(
        "UPDATE run_parts SET done = true, progress = 1, claim = NULL, claimed_until = NULL"
        " WHERE run_id = %s AND number = %s",
        (shard.request.id, shard.number),
    )
    cursor = await connection.execute(
        "SELECT FROM run_parts WHERE run_id = %s AND NOT done LIMIT 1", (shard.request.id,)
    )
    return cursor.rowcount == 0

"""Table `run_parts`: the shards of runs that go on, ranges of requirements that workers lease."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.db.leased_jobs import JobLost
from chassis.db.leases import Leases
from chassis.db.rows import fetch_column, fetch_value
from suggestion_service.store.run_request import COLUMNS, COUNTS, RunRequest, run_request

LEASES = Leases("run_parts", "run_id, number", 15, ends=True)
SUMS = "sum(progress) / count(*) AS progress, " + ", ".join(f"sum({count})::bigint AS {count}" for count in COUNTS)
"""What the shards of a run have done; null without shards."""
DELETE = "DELETE FROM run_parts WHERE run_id = %(id)s RETURNING *"
"""To stand in a CTE beside the end of the run."""

_FIRST_ID = UUID(int=0)
_LAST_ID = UUID(int=2**128 - 1)

_CUT = """
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM items
                WHERE side = 'requirement' AND NOT deleted) r
WHERE place > 0 AND place %% %s = 0 ORDER BY id
"""

# What a shard that was interrupted had created, updated and withdrawn stays counted; the pairs are looked at again.
_CLAIM = f"""
UPDATE run_parts p SET {LEASES.taken("p")}, progress = 0, pairs_analyzed = 0, suggestions_skipped = 0
FROM runs r
WHERE r.id = p.run_id AND (p.run_id, p.number) = (
    SELECT w.run_id, w.number FROM run_parts w JOIN runs ON runs.id = w.run_id
    WHERE NOT w.done AND {LEASES.free("w")} AND runs.status = 'running'
    ORDER BY runs.created_at, w.number LIMIT 1 FOR UPDATE OF w SKIP LOCKED)
RETURNING p.number, p.first_id, p.until_id, p.attempts, {COLUMNS}
"""

_NEXT_PROJECT = f"""
SELECT w.project_id FROM run_parts w JOIN runs ON runs.id = w.run_id
WHERE NOT w.done AND {LEASES.free("w")} AND runs.status = 'running'
ORDER BY w.project_id <= %s, w.project_id LIMIT 1
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
    """The requirements from `first_id` to before `until_id`, None for all after; ours while we have the claim."""

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
    test_cases = await fetch_value(connection, "SELECT count(*) FROM items WHERE side = 'test_case' AND NOT deleted")
    size = max(1, min(requirements, pairs // max(1, test_cases)))
    return [_FIRST_ID, *await fetch_column(connection, _CUT, (size,))]


async def insert(connection: Connection, request: RunRequest, beginnings: Sequence[UUID]) -> ClaimedShard:
    """Store the shards of a run, and return the first one, claimed."""
    first = ClaimedShard(request, 0, beginnings[0], beginnings[1] if len(beginnings) > 1 else None, uuid4(), 1)
    await connection.execute(
        "INSERT INTO run_parts (run_id, number, first_id, until_id)"
        " SELECT %(run_id)s, place - 1, id, lead(id) OVER (ORDER BY place)"
        " FROM unnest(%(beginnings)s::uuid[]) WITH ORDINALITY AS b(id, place)",
        {"run_id": request.id, "beginnings": list(beginnings)},
    )
    await connection.execute(
        f"UPDATE run_parts p SET {LEASES.taken('p')} WHERE run_id = %(run_id)s AND number = 0",
        {"claim": first.claim, "run_id": request.id},
    )
    return first


async def next_project(connection: Connection, after: str) -> str | None:
    """Return the project with a free shard that comes after the one named, in a round of all that are seen."""
    project: str | None = await fetch_value(connection, _NEXT_PROJECT, (after,))
    return project


async def claim(connection: Connection) -> ClaimedShard | None:
    """Claim a shard of a project that nobody works on, or whose worker has died; those of the oldest run come first."""
    claim = uuid4()
    row = await (await connection.execute(_CLAIM, {"claim": claim})).fetchone()
    if row is None:
        return None
    return ClaimedShard(run_request(row), row["number"], row["first_id"], row["until_id"], claim, row["attempts"])


async def requirements(connection: Connection, shard: ClaimedShard) -> list[UUID]:
    """Return the ids of the shard's requirements as the copy is now."""
    return await fetch_column(
        connection,
        "SELECT id FROM items WHERE side = 'requirement' AND NOT deleted AND id >= %s"
        " AND (%s::uuid IS NULL OR id < %s) ORDER BY id",
        (shard.first_id, shard.until_id, shard.until_id),
    )


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
    """Store progress (0..1) and add to the counts; raise JobLost when the run has ended or the shard is not ours."""
    found = {"created": created, "updated": updated, "withdrawn": withdrawn, "skipped": skipped}
    counts = {"progress": progress, "pairs": pairs, **found}
    place = {"run_id": shard.request.id, "number": shard.number, "claim": shard.claim}
    if (await connection.execute(_ADVANCE, counts | place)).rowcount == 0:
        raise JobLost


async def lock(connection: Connection, shard: ClaimedShard) -> None:
    """Lock the run, so that nobody else ends it or a shard of it; raise JobLost when it has ended or is not ours."""
    await connection.execute("SELECT FROM runs WHERE id = %s FOR UPDATE", (shard.request.id,))
    # A run that has ended has no shards.
    cursor = await connection.execute(
        "SELECT FROM run_parts WHERE run_id = %s AND number = %s AND claim = %s",
        (shard.request.id, shard.number, shard.claim),
    )
    if cursor.rowcount == 0:
        raise JobLost


async def finish(connection: Connection, shard: ClaimedShard) -> bool:
    """End a shard, which must be locked; return whether it was the last of its run."""
    await connection.execute(
        "UPDATE run_parts SET done = true, progress = 1, claim = NULL, claimed_until = NULL"
        " WHERE run_id = %s AND number = %s",
        (shard.request.id, shard.number),
    )
    cursor = await connection.execute(
        "SELECT FROM run_parts WHERE run_id = %s AND NOT done LIMIT 1", (shard.request.id,)
    )
    return cursor.rowcount == 0

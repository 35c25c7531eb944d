"""SQL of runs: asked for, claimed by one worker at a time, their progress and their end."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from chassis.database import Connection
from chassis.events import Actor
from suggestion_service.engine import Algorithm

_LEASE = "interval '15 seconds'"
MAX_ATTEMPTS = 3

_ANSWER = (
    "id, status, algorithm, threshold, progress, pairs_analyzed, suggestions_created, suggestions_skipped,"
    " created_at, created_by, started_at, finished_at, error"
)

# What a run that was interrupted had created stays counted; the pairs are looked at again.
_CLAIM = f"""
UPDATE runs SET status = 'running', claim = %(claim)s, claimed_until = now() + {_LEASE},
    started_at = coalesce(started_at, now()), attempts = attempts + 1, progress = 0, pairs_analyzed = 0,
    suggestions_skipped = 0
WHERE id = (SELECT id FROM runs
            WHERE status = 'queued' OR status = 'running' AND claimed_until < now()
            ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, algorithm, threshold, actor_id, created_by, correlation_id, attempts
"""


class RunLost(Exception):
    """The run was cancelled, or another worker took it up."""


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that this worker works on for as long as it keeps its claim."""

    id: UUID
    claim: UUID
    algorithm: Algorithm
    threshold: float
    actor: Actor
    correlation_id: str
    attempts: int


async def insert(
    connection: Connection,
    run_id: UUID,
    algorithm: str,
    threshold: float,
    actor: Actor,
    correlation_id: str,
    now: datetime,
) -> None:
    """Queue a run."""
    await connection.execute(
        "INSERT INTO runs (id, status, algorithm, threshold, created_at, created_by, actor_id, correlation_id)"
        " VALUES (%s, 'queued', %s, %s, %s, %s, %s, %s)",
        (run_id, algorithm, threshold, now, actor.email, actor.id, correlation_id),
    )


async def get(connection: Connection, run_id: UUID) -> dict[str, Any] | None:
    """Give a run as it is answered."""
    return await (await connection.execute(f"SELECT {_ANSWER} FROM runs WHERE id = %s", (run_id,))).fetchone()


async def page(connection: Connection, skip: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Give runs, newest first, and how many there are."""
    cursor = await connection.execute(
        "SELECT c.total, p.* FROM (SELECT count(*) AS total FROM runs) c LEFT JOIN LATERAL"
        f" (SELECT {_ANSWER} FROM runs ORDER BY created_at DESC, id DESC LIMIT %s OFFSET %s) p ON true"
        " ORDER BY p.created_at DESC, p.id DESC",
        (limit, skip),
    )
    rows = await cursor.fetchall()
    total = rows[0]["total"]
    for row in rows:
        del row["total"]
    return [row for row in rows if row["id"] is not None], total


async def claim(connection: Connection) -> ClaimedRun | None:
    """Claim the oldest run that nobody works on: a queued one, or one whose worker has died."""
    claim = uuid4()
    row = await (await connection.execute(_CLAIM, {"claim": claim})).fetchone()
    if row is None:
        return None
    return ClaimedRun(
        row["id"],
        claim,
        row["algorithm"],
        row["threshold"],
        Actor(row["actor_id"], row["created_by"]),
        row["correlation_id"],
        row["attempts"],
    )


async def hold(connection: Connection, run: ClaimedRun) -> None:
    """Extend the claim."""
    await connection.execute(
        f"UPDATE runs SET claimed_until = now() + {_LEASE} WHERE id = %s AND claim = %s", (run.id, run.claim)
    )


async def release(connection: Connection, run: ClaimedRun) -> None:
    """Give the claim back, so that another worker may take the run up at once; this attempt does not count."""
    await connection.execute(
        "UPDATE runs SET claim = NULL, claimed_until = now(), attempts = attempts - 1"
        " WHERE id = %s AND claim = %s AND status = 'running'",
        (run.id, run.claim),
    )


async def advance(
    connection: Connection, run: ClaimedRun, progress: float, *, pairs: int = 0, created: int = 0, skipped: int = 0
) -> None:
    """Store progress (0..1) and add to the counts; raise RunLost when it is no longer ours."""
    cursor = await connection.execute(
        "UPDATE runs SET progress = %(progress)s, pairs_analyzed = pairs_analyzed + %(pairs)s,"
        " suggestions_created = suggestions_created + %(created)s,"
        " suggestions_skipped = suggestions_skipped + %(skipped)s"
        " WHERE id = %(id)s AND claim = %(claim)s AND status = 'running'",
        {
            "id": run.id,
            "claim": run.claim,
            "progress": progress,
            "pairs": pairs,
            "created": created,
            "skipped": skipped,
        },
    )
    if cursor.rowcount == 0:
        raise RunLost


async def finish(connection: Connection, run: ClaimedRun, status: str, error: str | None) -> dict[str, Any]:
    """End a run; give it as it is answered. Raises RunLost when it is no longer ours."""
    cursor = await connection.execute(
        "UPDATE runs SET status = %(status)s, error = %(error)s, finished_at = now(),"
        " progress = CASE WHEN %(status)s = 'completed' THEN 1 ELSE progress END"
        f" WHERE id = %(id)s AND claim = %(claim)s AND status = 'running' RETURNING {_ANSWER}",
        {"id": run.id, "claim": run.claim, "status": status, "error": error},
    )
    row = await cursor.fetchone()
    if row is None:
        raise RunLost
    return row


async def cancel(connection: Connection, run_id: UUID) -> dict[str, Any] | None:
    """End a run that has not ended; give it as it is answered, None when it had ended or does not exist."""
    cursor = await connection.execute(
        "UPDATE runs SET status = 'cancelled', finished_at = now()"
        f" WHERE id = %s AND status IN ('queued', 'running') RETURNING {_ANSWER}",
        (run_id,),
    )
    return await cursor.fetchone()

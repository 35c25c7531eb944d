"""SQL of runs: asked for, planned by one worker at a time, and their end. What goes on between is of `shards`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.messaging.events import Actor
from suggestion_service.engine import Algorithm
from suggestion_service.scoring import sweep_repository

LEASE = "interval '15 seconds'"
MAX_ATTEMPTS = 3

COUNTS = (
    "pairs_analyzed",
    "suggestions_created",
    "suggestions_updated",
    "suggestions_withdrawn",
    "suggestions_skipped",
)
"""What runs count, and their shards."""

_ANSWER = (
    "r.id, r.status, r.algorithm, r.threshold, r.rescore, coalesce(p.progress, r.progress) AS progress,"
    f" {', '.join(f'coalesce(p.{count}, r.{count}) AS {count}' for count in COUNTS)},"
    " r.created_at, r.created_by, r.started_at, r.finished_at, r.error"
)

# Without shards, which is before a run is planned and after it has ended, the sums are null.
_SUMS = "sum(progress) / count(*) AS progress, " + ", ".join(f"sum({count})::bigint AS {count}" for count in COUNTS)
_RUNS = "runs r LEFT JOIN LATERAL (SELECT {sums} FROM run_parts WHERE run_id = r.id HAVING count(*) > 0) p ON true"
_RUNS = _RUNS.format(sums=_SUMS)

# One after another, in the order in which they were asked for: the last one decides about what is pending.
_NEXT = """
SELECT id FROM runs r WHERE (status = 'queued' OR status = 'running' AND claimed_until < now())
    AND NOT EXISTS (SELECT FROM runs o WHERE o.status IN ('queued', 'running') AND o.id <> r.id
                    AND (o.status = 'running' OR (o.created_at, o.id) < (r.created_at, r.id)))
ORDER BY created_at, id LIMIT 1
"""

# A run that goes on is claimed by nobody once it is planned: then its shards are.
_CLAIM = f"""
UPDATE runs SET status = 'running', claim = %(claim)s, claimed_until = now() + {LEASE},
    started_at = coalesce(started_at, now()), attempts = attempts + 1
WHERE id = ({_NEXT})
RETURNING id, algorithm, threshold, rescore, actor_id, created_by, correlation_id, attempts
"""

_END = f"""
WITH gone AS (DELETE FROM run_parts WHERE run_id = %(id)s RETURNING *),
    p AS (SELECT {_SUMS} FROM gone HAVING count(*) > 0)
UPDATE runs r SET status = %(status)s, error = %(error)s, finished_at = now(),
    progress = CASE WHEN %(status)s = 'completed' THEN 1 ELSE coalesce((SELECT progress FROM p), 0) END,
    {", ".join(f"{count} = coalesce((SELECT {count} FROM p), 0)" for count in COUNTS)}
WHERE id = %(id)s
RETURNING id, status, algorithm, threshold, rescore, progress, {", ".join(COUNTS)},
    created_at, created_by, started_at, finished_at, error
"""


class RunLost(Exception):
    """The run has ended, or another worker took up what this one was doing for it."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What somebody asked for."""

    id: UUID
    algorithm: Algorithm
    threshold: float
    rescore: bool
    actor: Actor
    correlation_id: str


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that this worker plans for as long as it keeps its claim."""

    request: RunRequest
    claim: UUID
    attempts: int


def request_of(row: dict[str, Any]) -> RunRequest:
    """Return what a row of `runs` asks for."""
    actor = Actor(row["actor_id"], row["created_by"])
    return RunRequest(row["id"], row["algorithm"], row["threshold"], row["rescore"], actor, row["correlation_id"])


async def insert(
    connection: Connection,
    run_id: UUID,
    algorithm: str,
    threshold: float,
    actor: Actor,
    correlation_id: str,
    now: datetime,
    *,
    rescore: bool,
    background: str,
) -> None:
    """Queue a run; `background` is the algorithm that the settings name now."""
    await connection.execute(
        "INSERT INTO runs (id, status, algorithm, threshold, created_at, created_by, actor_id, correlation_id, rescore,"
        " background) VALUES (%s, 'queued', %s, %s, %s, %s, %s, %s, %s, %s)",
        (run_id, algorithm, threshold, now, actor.email, actor.id, correlation_id, rescore, background),
    )


async def get(connection: Connection, run_id: UUID) -> dict[str, Any] | None:
    """Return a run as it is answered."""
    return await (await connection.execute(f"SELECT {_ANSWER} FROM {_RUNS} WHERE r.id = %s", (run_id,))).fetchone()


async def page(
    connection: Connection, skip: int, limit: int, since: datetime | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Return runs, newest first, and how many there are; with `since` those that have not ended before."""
    where = "" if since is None else "WHERE coalesce(r.finished_at, 'infinity') >= %(since)s"
    cursor = await connection.execute(
        f"SELECT c.total, p.* FROM (SELECT count(*) AS total FROM runs r {where}) c LEFT JOIN LATERAL"
        f" (SELECT {_ANSWER} FROM {_RUNS} {where} ORDER BY r.created_at DESC, r.id DESC"
        " LIMIT %(limit)s OFFSET %(skip)s) p ON true ORDER BY p.created_at DESC, p.id DESC",
        {"limit": limit, "skip": skip, "since": since},
    )
    rows = await cursor.fetchall()
    total = rows[0]["total"]
    for row in rows:
        del row["total"]
    return [row for row in rows if row["id"] is not None], total


async def claim(connection: Connection) -> ClaimedRun | None:
    """Claim a run to plan it, when its turn has come: a queued one, or one whose planner has died."""
    if (await connection.execute(_NEXT)).rowcount == 0:
        return None
    claim = uuid4()
    async with connection.transaction():
        # One at a time: whoever claims another run has to see that this one goes on.
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('claiming runs'))")
        row = await (await connection.execute(_CLAIM, {"claim": claim})).fetchone()
    return None if row is None else ClaimedRun(request_of(row), claim, row["attempts"])


async def hold(connection: Connection, run: ClaimedRun) -> None:
    """Extend the claim."""
    await connection.execute(
        f"UPDATE runs SET claimed_until = now() + {LEASE} WHERE id = %s AND claim = %s", (run.request.id, run.claim)
    )


async def release(connection: Connection, run: ClaimedRun) -> None:
    """Give the claim back, so that another worker may take the run up at once; this attempt does not count."""
    await connection.execute(
        "UPDATE runs SET claim = NULL, claimed_until = now(), attempts = attempts - 1"
        " WHERE id = %s AND claim = %s AND status = 'running'",
        (run.request.id, run.claim),
    )


async def keep(connection: Connection, run: ClaimedRun) -> None:
    """Let nobody else claim or end the run in this transaction; raise RunLost when it is no longer ours."""
    cursor = await connection.execute(
        "SELECT FROM runs WHERE id = %s AND claim = %s AND status = 'running' FOR UPDATE", (run.request.id, run.claim)
    )
    if cursor.rowcount == 0:
        raise RunLost


async def planned(connection: Connection, run: ClaimedRun, seen: int) -> None:
    """Leave the run, which must be kept, to those who work on its shards, and have it set the scale of the queue.

    `seen` is the place in catalog's feed of the latest text that it looks at. The corpus must be locked.
    """
    await connection.execute(
        "UPDATE runs SET claim = NULL, claimed_until = NULL, seen = %s WHERE id = %s", (seen, run.request.id)
    )


async def end(connection: Connection, run_id: UUID, status: str, error: str | None) -> dict[str, Any]:
    """End a run, which must be locked, and return it as it is answered: what its shards have counted stays.

    What one that did not complete has scored anew has to be reconciled with the scale before.
    """
    row = await (await connection.execute(_END, {"id": run_id, "status": status, "error": error})).fetchone()
    assert row is not None, "it is locked"
    if status != "completed" and row["rescore"]:
        await sweep_repository.reset(connection)
    return row


async def cancel(connection: Connection, run_id: UUID) -> dict[str, Any] | None:
    """End a run that has not ended; return it as it is answered, None when it had ended or does not exist."""
    # Locked by a statement of its own: the next one then sees what those have counted who held the lock.
    unfinished = "SELECT FROM runs WHERE id = %s AND status IN ('queued', 'running') FOR UPDATE"
    if (await connection.execute(unfinished, (run_id,))).rowcount == 0:
        return None
    return await end(connection, run_id, "cancelled", None)

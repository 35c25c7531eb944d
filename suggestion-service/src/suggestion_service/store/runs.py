"""Table `runs`: every transition of a run.

queued ── claim ──> running ── plan: its shards are worked off ──> completed
  │                    ├───────────────────────────────────────────> failed
  └── cancel ──────────┴───────────────────────────────────────────> cancelled
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.db.leased_jobs import JobLost
from chassis.db.leases import Leases
from chassis.db.rows import fetch_all, fetch_column, fetch_one, fetch_only, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page
from suggestion_service.engine import Algorithm
from suggestion_service.store import run_parts, settlement
from suggestion_service.store.run_request import COLUMNS, COUNTS, Counts, RunRequest, run_request

NEWEST_FIRST = Order("created_at:desc", (By("r.created_at", datetime, True), By("r.id", UUID, True)))
LEASES = Leases("runs", "id", 15, where="status = 'running'", ends=True)

_ANSWER = (
    "r.id, r.status, r.algorithm, r.threshold, r.rescore, r.pending_only, coalesce(p.progress, r.progress) AS progress,"
    f" {', '.join(f'coalesce(p.{count}, r.{count}) AS {count}' for count in COUNTS)},"
    " r.created_at, r.created_by, r.started_at, r.finished_at, r.error, r.advised_threshold"
)

# Without shards, which is before a run is planned and after it has ended, the sums are null.
_SUMMED = f"(SELECT {run_parts.SUMS} FROM run_parts WHERE run_id = r.id HAVING count(*) > 0)"
_WITH_SUMS = f"LEFT JOIN LATERAL {_SUMMED} p ON true"

# In a project one after another, in the order in which they were asked for: the last one decides about what is pending.
_DUE = f"""
FROM runs r WHERE (status = 'queued' OR status = 'running' AND claimed_until IS NOT NULL AND {LEASES.free("r")})
    AND NOT EXISTS (SELECT FROM runs o WHERE o.project_id = r.project_id AND o.status IN ('queued', 'running')
                    AND o.id <> r.id AND (o.status = 'running' OR (o.created_at, o.id) < (r.created_at, r.id)))
"""
_NEXT = f"SELECT id {_DUE} ORDER BY created_at, id LIMIT 1"
_NEXT_PROJECT = f"SELECT project_id {_DUE} ORDER BY project_id <= %s, project_id LIMIT 1"

# A run that goes on is claimed by nobody once it is planned: then its shards are.
_CLAIM = f"""
UPDATE runs r SET status = 'running', started_at = coalesce(started_at, now()), {LEASES.taken("r")}
WHERE id = ({_NEXT})
RETURNING r.attempts, {COLUMNS}
"""

# Runs are done one after another in this order. One that has ended otherwise does not hold any more: what it has left
# half done is reconciled with the scale before it.
_LAST_SCALE = """
SELECT algorithm, threshold, seen, background FROM runs
WHERE rescore AND NOT pending_only AND seen IS NOT NULL AND status IN ('running', 'completed')
ORDER BY created_at DESC LIMIT 1
"""

_RUNNING = f"""
SELECT r.id, r.algorithm, r.threshold, coalesce(p.progress, r.progress) AS progress,
    {", ".join(f"coalesce(p.{count}, r.{count}) AS {count}" for count in COUNTS)},
    r.created_by, r.actor_id, r.correlation_id
FROM runs r {_WITH_SUMS} WHERE r.status = 'running' ORDER BY r.created_at FOR SHARE OF r
"""

_END = f"""
WITH gone AS ({run_parts.DELETE}),
    p AS (SELECT {run_parts.SUMS} FROM gone HAVING count(*) > 0)
UPDATE runs r SET status = %(status)s, error = %(error)s, finished_at = now(),
    progress = CASE WHEN %(status)s = 'completed' THEN 1 ELSE coalesce((SELECT progress FROM p), 0) END,
    {", ".join(f"{count} = coalesce((SELECT {count} FROM p), 0)" for count in COUNTS)}
WHERE id = %(id)s
RETURNING id, status, algorithm, threshold, rescore, progress, pending_only, {", ".join(COUNTS)},
    created_at, created_by, started_at, finished_at, error, advised_threshold
"""
_ADVISE = "UPDATE runs SET advised_threshold = %s WHERE id = %s"


GOING_ON = f"""
SELECT r.id, coalesce(p.progress, r.progress) AS progress FROM runs r {_WITH_SUMS}
WHERE r.status IN ('queued', 'running') ORDER BY r.status = 'running' DESC LIMIT 1
"""
"""The run that goes on, or else one that waits, with how far it is."""


class Run(Counts):
    """A run as it is answered."""

    id: UUID
    status: str
    algorithm: Algorithm
    threshold: float
    rescore: bool
    pending_only: bool
    progress: float
    created_at: datetime
    created_by: str
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    advised_threshold: float | None


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that this worker plans for as long as it keeps its claim."""

    request: RunRequest
    claim: UUID
    attempts: int


class ProgressingRun(Counts):
    """How far a run is that goes on, and who asked for it by which request."""

    id: UUID
    algorithm: Algorithm
    threshold: float
    progress: float
    created_by: str
    actor_id: int | None
    correlation_id: str


class LastScale(TypedDict):
    """What the last run that set the scale was asked for, and the place of the latest text that it looked at.

    `background` is the algorithm of the settings then.
    """

    algorithm: Algorithm
    threshold: float
    seen: int
    background: str | None


_INSERT = """
    INSERT INTO runs (id, status, algorithm, threshold, created_at, created_by, actor_id, correlation_id, rescore,
        background, pending_only)
    SELECT %s, 'queued', %s, %s, %s, %s, %s, %s, %s, %s, %s
"""


async def insert(connection: Connection, request: RunRequest, now: datetime, background: str) -> None:
    """Queue a run; `background` is the algorithm that the settings name now."""
    await connection.execute(_INSERT, _row(request, now, background))


async def insert_only_one(connection: Connection, request: RunRequest, now: datetime, background: str) -> bool:
    """Queue a run like `insert`, unless whoever asks has one that waits; return whether it was queued."""
    cursor = await connection.execute(
        f"{_INSERT} WHERE NOT EXISTS (SELECT FROM runs WHERE status = 'queued' AND actor_id = %s)",
        (*_row(request, now, background), request.actor.id),
    )
    return cursor.rowcount > 0


def _row(request: RunRequest, now: datetime, background: str) -> tuple[Any, ...]:
    return (
        *(request.id, request.algorithm, request.threshold, now, request.actor.email, request.actor.id),
        *(request.correlation_id, request.rescore, background, request.pending_only),
    )


async def get(connection: Connection, run_id: UUID) -> Run | None:
    """Return a run as it is answered."""
    return await fetch_one(connection, Run, f"SELECT {_ANSWER} FROM runs r {_WITH_SUMS} WHERE r.id = %s", (run_id,))


async def running(connection: Connection) -> list[ProgressingRun]:
    """Return the runs that go on, and let nobody end them in this transaction."""
    return await fetch_all(connection, ProgressingRun, _RUNNING)


async def unfinished(connection: Connection) -> list[RunRequest]:
    """Return what is asked for by the runs that have not ended, and let nobody else end them in this transaction."""
    cursor = await connection.execute(
        f"SELECT {COLUMNS} FROM runs r WHERE status IN ('queued', 'running') ORDER BY created_at, id FOR UPDATE"
    )
    return [run_request(row) for row in await cursor.fetchall()]


async def last_scale(connection: Connection) -> LastScale | None:
    """Return the scale that the last run has set."""
    return await fetch_one(connection, LastScale, _LAST_SCALE)


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the runs under conditions on `runs r`."""
    return await fetch_page(connection, _ANSWER, "runs r", conditions, wanted, joined=_WITH_SUMS)


async def next_project(connection: Connection, after: str) -> str | None:
    """Return the project with a run to be planned that comes after the one named, in a round of all that are seen."""
    project: str | None = await fetch_value(connection, _NEXT_PROJECT, (after,))
    return project


async def running_projects(connection: Connection) -> list[str]:
    """Return the projects in which a run goes on; those that the connection sees."""
    query = "SELECT DISTINCT project_id FROM runs WHERE status = 'running' ORDER BY project_id"
    return await fetch_column(connection, query)


async def claim(connection: Connection) -> ClaimedRun | None:
    """Claim a run of a project to plan it, when its turn has come: a queued one, or one whose planner has died."""
    if (await connection.execute(_NEXT)).rowcount == 0:
        return None
    claim = uuid4()
    async with connection.transaction():
        # One at a time: whoever claims another run has to see that this one goes on.
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('claiming runs'))")
        row = await (await connection.execute(_CLAIM, {"claim": claim})).fetchone()
    return None if row is None else ClaimedRun(run_request(row), claim, row["attempts"])


async def lock(connection: Connection, run: ClaimedRun) -> None:
    """Let nobody else claim or end the run in this transaction; raise JobLost when it is no longer ours."""
    cursor = await connection.execute(
        "SELECT FROM runs WHERE id = %s AND claim = %s AND status = 'running' FOR UPDATE", (run.request.id, run.claim)
    )
    if cursor.rowcount == 0:
        raise JobLost


async def plan(connection: Connection, run: ClaimedRun, seen: int) -> None:
    """Leave the run, which must be locked, to those who work on its shards, and have it set the scale of the queue.

    `seen` is the place in catalog's feed of the latest text that it looks at. The corpus must be locked.
    """
    await connection.execute(
        "UPDATE runs SET claim = NULL, claimed_until = NULL, seen = %s WHERE id = %s", (seen, run.request.id)
    )


async def end(connection: Connection, run_id: UUID, status: str, error: str | None) -> Run:
    """End a run, which must be locked, and return it as it is answered: what its shards have counted stays.

    What one that did not complete has scored anew has to be reconciled with the scale before.
    """
    run = await fetch_only(connection, Run, _END, {"id": run_id, "status": status, "error": error})
    if status != "completed" and run["rescore"]:
        await settlement.reset(connection)
    return run


async def advise(connection: Connection, run: Run, threshold: float | None) -> Run:
    """Store which threshold would leave what a person can go through; return the run with it."""
    if threshold is not None:
        await connection.execute(_ADVISE, (threshold, run["id"]))
    return {**run, "advised_threshold": threshold}


async def cancel(connection: Connection, run_id: UUID) -> Run | None:
    """End a run that has not ended; return it as it is answered, None when it had ended or does not exist."""
    # Locked by a statement of its own: the next one then sees what those have counted who held the lock.
    unfinished = "SELECT FROM runs WHERE id = %s AND status IN ('queued', 'running') FOR UPDATE"
    if (await connection.execute(unfinished, (run_id,))).rowcount == 0:
        return None
    return await end(connection, run_id, "cancelled", None)

"""Every transition of a job.

received ── claim ──> reading ── plan ──> planned ── apply ──> applying ──> applied
   │                     │  └───────────────────────────────────┘ │
   │                     │       (without looking: apply=always)   ├──> planned (the record has changed)
   ├─────────────────────┴────────> cancelled, failed <────────────┘
                                     expired <── planned
A job whose file is still on its way is `received`, too, without a size: nobody sees or claims it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Json

from catalog_service.exchange.jobs.job import COLUMNS, Job
from chassis.db.database import Connection
from chassis.db.leased_jobs import JobLost
from chassis.db.leases import Leases
from chassis.db.rows import fetch_one

LEASES = Leases("import_jobs", "id", 15, where="status IN ('reading', 'applying')", ends=True)
PLANNED_HOURS = 24
"""For so long a plan can be applied, and the file is kept."""
APPLIED_HOURS = 1
"""For so long the rows of an import are kept once it is applied."""

_TO_READ = f"""
SELECT id FROM import_jobs j
WHERE size IS NOT NULL AND (status = 'received' OR status = 'reading' AND {LEASES.free("j")})
ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_TO_APPLY = f"""
SELECT id FROM import_jobs j WHERE status = 'applying' AND {LEASES.free("j")}
ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_OURS = "id = %(id)s AND claim = %(claim)s AND status = %(status)s"
_FREE = "claim = NULL, claimed_until = NULL, attempts = 0"


async def claim_reading(connection: Connection) -> Job | None:
    """Claim a job whose file is to be read: the oldest that waits, or one whose reader has died."""
    change = "status = 'reading', phase = 'reading', progress = 0, rows_read = 0"
    return await _claim(connection, _TO_READ, change)


async def claim_applying(connection: Connection) -> Job | None:
    """Claim a job that is to be applied, or whose worker has died over it."""
    return await _claim(connection, _TO_APPLY, "phase = 'applying'")


async def _claim(connection: Connection, which: str, change: str) -> Job | None:
    query = f"UPDATE import_jobs j SET {change}, {LEASES.taken('j')} WHERE id = ({which}) RETURNING {COLUMNS}"
    return await fetch_one(connection, Job, query, {"claim": uuid4()})


async def progress(connection: Connection, job: Job, progress: float, phase: str, rows_read: int | None = None) -> bool:
    """Note how far the work on a claimed job is; return False when somebody asked to cancel it. Raises JobLost."""
    row = await (
        await connection.execute(
            "UPDATE import_jobs SET progress = greatest(progress, %(progress)s), phase = %(phase)s,"
            f" rows_read = coalesce(%(rows_read)s, rows_read) WHERE {_OURS} RETURNING cancel_requested",
            {**_key(job), "progress": progress, "phase": phase, "rows_read": rows_read},
        )
    ).fetchone()
    if row is None:
        raise JobLost
    return not row["cancel_requested"]


async def hold(connection: Connection, job: Job) -> None:
    """Let nobody else write the rows of a claimed job in this transaction. Raises JobLost, also for a cancelled one."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('import rows:' || %s::text, 0))", (job.id,))
    cursor = await connection.execute(f"SELECT FROM import_jobs WHERE {_OURS}", _key(job))
    if cursor.rowcount == 0:
        raise JobLost


async def planned(
    connection: Connection, job: Job, plan: Mapping[str, Any], apply_options: dict[str, Any] | None
) -> None:
    """End the reading: `plan` has counts, summary, plan_hash, record_position, rows_read and format.

    With `apply_options` the job is to be applied at once. Raises JobLost.
    """
    await _move(
        connection,
        job,
        "status = %(next)s, phase = %(next)s, progress = 0.6, counts = %(counts)s, summary = %(summary)s,"
        " plan_hash = %(plan_hash)s, record_position = %(record_position)s, rows_read = %(rows_read)s,"
        " format = %(format)s, planned_at = now(), apply_options = %(apply_options)s,"
        f" expires_at = now() + interval '{PLANNED_HOURS} hours', {_FREE}",
        {
            **plan,
            "counts": Json(plan["counts"]),
            "summary": Json(plan["summary"]),
            "next": "planned" if apply_options is None else "applying",
            "apply_options": None if apply_options is None else Json(apply_options),
        },
    )


async def replanned(connection: Connection, job: Job, plan: Mapping[str, Any]) -> None:
    """Give a plan that was made anew to the job that is being applied, which goes on. Raises JobLost."""
    await _move(
        connection,
        job,
        "counts = %(counts)s, summary = %(summary)s, plan_hash = %(plan_hash)s,"
        " record_position = %(record_position)s, planned_at = now()",
        {**plan, "counts": Json(plan["counts"]), "summary": Json(plan["summary"])},
    )


async def apply(connection: Connection, job_id: UUID, options: dict[str, Any]) -> Job | None:
    """Have a planned job applied; return it, or None when it is not planned."""
    return await fetch_one(
        connection,
        Job,
        "UPDATE import_jobs SET status = 'applying', phase = 'applying', apply_options = %s, cancel_requested = false,"
        f" error = NULL WHERE id = %s AND status = 'planned' RETURNING {COLUMNS}",
        (Json(options), job_id),
    )


async def back_to_planned(connection: Connection, job: Job, error: dict[str, Any]) -> None:
    """Give a job that could not be applied as planned back to who has to look at it again. Raises JobLost."""
    await _move(
        connection,
        job,
        f"status = 'planned', phase = 'planned', progress = 0.6, error = %(error)s, apply_options = NULL, {_FREE}",
        {"error": Json(error)},
    )


async def applied(connection: Connection, job: Job, counts: Mapping[str, Any] | None) -> None:
    """End a job whose rows are in the record; `counts` are of what was applied, None as planned. Raises JobLost."""
    await _move(
        connection,
        job,
        "status = 'applied', phase = 'applied', progress = 1, applied_at = coalesce(applied_at, now()),"
        " counts = coalesce(%(counts)s, counts), error = NULL,"
        f" expires_at = now() + interval '{APPLIED_HOURS} hours', {_FREE}",
        {"counts": None if counts is None else Json(counts)},
    )


async def failed(
    connection: Connection, job: Job, error: dict[str, Any], counts: Mapping[str, Any] | None = None
) -> None:
    """End a job that cannot go on; with `counts`, a part of it is in the record. Raises JobLost."""
    await _end(connection, job, "failed", error, counts)


async def cancelled(
    connection: Connection, job: Job, error: dict[str, Any] | None = None, counts: Mapping[str, Any] | None = None
) -> None:
    """End a job that was to be given up while it was applied; the same. Raises JobLost."""
    await _end(connection, job, "cancelled", error, counts)


async def cancel(connection: Connection, job_id: UUID) -> Job | None:
    """Cancel a job, or ask whoever applies it to stop; return it, None when it has ended.

    Who reads the file of a job that is cancelled finds so out, and stops.
    """
    return await fetch_one(
        connection,
        Job,
        "UPDATE import_jobs SET cancel_requested = true,"
        " status = CASE status WHEN 'applying' THEN status ELSE 'cancelled' END,"
        " phase = CASE status WHEN 'applying' THEN phase ELSE 'cancelled' END,"
        " expires_at = CASE status WHEN 'applying' THEN expires_at ELSE now() END"
        f" WHERE id = %s AND status IN ('received', 'reading', 'planned', 'applying') RETURNING {COLUMNS}",
        (job_id,),
    )


async def expire(connection: Connection) -> None:
    """End the plans that nobody has applied in time."""
    await connection.execute(
        "UPDATE import_jobs SET status = 'expired', phase = 'expired' WHERE status = 'planned' AND expires_at < now()"
    )


async def _end(
    connection: Connection, job: Job, status: str, error: dict[str, Any] | None, counts: Mapping[str, Any] | None
) -> None:
    hours = 0 if counts is None else APPLIED_HOURS
    await _move(
        connection,
        job,
        "status = %(next)s, phase = %(next)s, error = %(error)s, counts = coalesce(%(counts)s, counts),"
        f" expires_at = now() + interval '{hours} hours', {_FREE}",
        {
            "next": status,
            "error": None if error is None else Json(error),
            "counts": None if counts is None else Json(counts),
        },
    )


async def _move(connection: Connection, job: Job, change: str, values: Mapping[str, Any]) -> None:
    cursor = await connection.execute(f"UPDATE import_jobs SET {change} WHERE {_OURS}", {**values, **_key(job)})
    if cursor.rowcount == 0:
        raise JobLost


def _key(job: Job) -> dict[str, Any]:
    return {"id": job.id, "claim": job.claim, "status": job.status}

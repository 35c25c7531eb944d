"""Works off imports: reads and plans those that wait, applies what was asked for. Each worker does one of each."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from catalog_service.exchange.applying import Applied, Cancelled, RecordChanged, apply, end_early
from catalog_service.exchange.applying import Job as Application
from catalog_service.exchange.jobs import repository, transitions
from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.jobs.options import ApplyWhen, Mode, OnChange
from catalog_service.exchange.planning.plan import IDS_TAKEN, count_rows, plan
from catalog_service.exchange.planning.staging import Limits, Refused, stage
from catalog_service.projects import repository as of_project
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.db.leased_jobs import LeasedJob, TriedTooOften, work_off
from chassis.db.leases import MAX_ATTEMPTS
from contracts.projects import project_archived

_MAX_PLANS = 3
"""Of one application, where the record changes all the time."""
_RECORD_CHANGED = "The record has changed since this was planned, and nothing was applied; look at the new plan."
_IDS_TAKEN = (
    "Nothing was applied: another project of this installation has items or links with ids of the file, which a restore"
    " keeps. Import it without mode=restore, with new ids."
)


class ImportLoop:
    """Two loops: a file that is read for long holds up nobody's application."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def read(self) -> None:
        """Read and plan files, for ever."""
        await self._work_off(transitions.claim_reading, self._read)

    async def _work_off(
        self, claim: Callable[[Connection], Awaitable[Job | None]], work: Callable[[Job], Awaitable[None]]
    ) -> None:
        async def work_off_next() -> bool:
            # One statement, of which nobody is told: a commit would wake this very loop.
            async with self._database.across() as connection:
                job = await claim(connection)
            if job is None:
                return False
            assert job.claim is not None
            leased = LeasedJob(f"Import {job.id}", transitions.LEASES, job.claim, job.attempts, job.correlation_id)
            with projects.within(job.project_id):
                await leased.attempt(
                    self._database, lambda: work(job), lambda error: self._fail(job, _error(error, leased))
                )
            return True

        await work_off(self._database.commits.listener(), work_off_next)

    async def _fail(self, job: Job, error: dict[str, Any]) -> None:
        async with self._database.transaction() as connection:
            applied = await end_early(connection, _as_applied(job))
            if applied is None:
                await transitions.failed(connection, job, error)
            else:
                error = {**error, "detail": f"{error['detail']} {applied}"}
                await transitions.failed(connection, job, error, await count_rows(connection, job.id))

    async def apply(self) -> None:
        """Apply plans, for ever."""
        await self._work_off(transitions.claim_applying, self._apply)

    async def _apply(self, job: Job) -> None:
        async with self._database.connection() as connection:
            is_stored = job.rows_read == 0 or await repository.has_rows(connection, job.id)
        if not is_stored and job.applied_at is None:
            # A crash of the database has taken the rows. What is applied in part already goes on all the same.
            is_other = await self._plan_again(job) != job.plan_hash
            if is_other and job.applied_up_to == 0 and not _may_differ(job):
                await self._refuse(job)
                return

        is_archived = False

        async def tell(progress: float) -> bool:
            nonlocal is_archived
            # Nobody is told, as it is no work for anybody; nor does it wait for the disk, which has to take what is
            # being applied first.
            async with self._database.connection() as connection, connection.transaction():
                await connection.execute("SET LOCAL synchronous_commit = off")
                is_archived = (await of_project.get(connection)).archived
                return await transitions.progress(connection, job, progress, "applying") and not is_archived

        for _ in range(_MAX_PLANS):
            try:
                await apply(self._database, _as_applied(job), tell)
            except RecordChanged:
                if await self._plan_again(job) == job.plan_hash and job.options["mode"] == Mode.RESTORE:
                    await self._refuse(job, _IDS_TAKEN)
                    return
                if not _may_differ(job):
                    break
            except Cancelled as cancelled:
                async with self._database.transaction() as connection:
                    counts = None if cancelled.applied is None else await count_rows(connection, job.id)
                    if is_archived:
                        await transitions.failed(connection, job, _archived(cancelled.applied), counts)
                    elif cancelled.applied is None:
                        await transitions.cancelled(connection, job)
                    else:
                        error = {"code": "cancelled_midway", "detail": f"It was cancelled midway: {cancelled.applied}"}
                        await transitions.cancelled(connection, job, error, counts)
                return
            else:
                async with self._database.transaction() as connection:
                    # All or nothing: what was applied is what was planned.
                    counts = None if _as_applied(job).is_undone_by_a_change else await count_rows(connection, job.id)
                    await transitions.applied(connection, job, counts)
                return
        await self._refuse(job)

    async def _plan_again(self, job: Job) -> str:
        """Give a job that is being applied another plan, of the record as it is now; return its hash."""
        planned = await self._plan(job)
        async with self._database.transaction() as connection:
            await transitions.replanned(connection, job, planned)
        plan_hash: str = planned["plan_hash"]
        return plan_hash

    async def _refuse(self, job: Job, detail: str = _RECORD_CHANGED) -> None:
        """Leave a job whose plan cannot be applied to who has to look at it."""
        error = {"code": "record_changed", "detail": detail, "status": 409}
        async with self._database.transaction() as connection:
            await transitions.back_to_planned(connection, job, error)

    async def _read(self, job: Job) -> None:
        planned = await self._plan(job)
        async with self._database.transaction() as connection:
            await transitions.planned(connection, job, planned, _applied_at_once(job, planned))

    async def _plan(self, job: Job) -> dict[str, Any]:
        read = await stage(self._database, job, self._limits)
        async with self._database.transaction() as connection:
            await transitions.progress(connection, job, 0.5, "planning", read["rows"])
        return await plan(self._database, job, read)


async def clear_up(database: Database) -> None:
    """End plans that nobody has applied in time, and delete what is not kept any more."""
    with projects.across():
        async with database.transaction() as connection:
            await transitions.expire(connection)
            await repository.clear_up(connection)


async def clear_up_schemas(database: Database) -> None:
    """Delete what imports of ReqIF have left and no item needs any more."""
    with projects.across():
        async with database.transaction() as connection:
            await repository.clear_up_schemas(connection)


def _applied_at_once(job: Job, planned: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a job is applied that nobody is to look at before, None where somebody is."""
    when = ApplyWhen(job.options["apply"])
    if any(problem["code"] == IDS_TAKEN for problem in planned["summary"]["problems"]):
        return None  # there is nothing to apply
    has_keys = not any(remark["code"] == "no_key" for remark in planned["summary"]["warnings"])
    if when is ApplyWhen.NEVER or (when is ApplyWhen.IF_CLEAN and not (planned["summary"]["clean"] and has_keys)):
        return None
    return {
        "on_change": "refuse",
        "atomic": job.options["atomic"],
        "suggest": job.options["suggest"],
        "by": job.created_by,
        "by_id": job.created_by_id,
    }


def _may_differ(job: Job) -> bool:
    return (job.apply_options or {}).get("on_change") == OnChange.REPLAN


def _as_applied(job: Job) -> Application:
    """Return a job as it is applied: where the record has changed it is planned again, which is not for who applies."""
    options = {**(job.apply_options or {}), "on_change": OnChange.REFUSE.value}
    return Application.of({**asdict(job), "apply_options": options})


def _archived(applied: Applied | None) -> dict[str, Any]:
    """Return what a job keeps whose project was archived before its end."""
    problem = project_archived()
    detail = problem.detail if applied is None else f"{problem.detail} {applied}"
    return {"code": problem.code, "detail": detail, "status": problem.status}


def _error(error: Exception, job: LeasedJob) -> dict[str, Any]:
    """Return what a job keeps of why it failed."""
    if isinstance(error, Refused):
        return error.error
    if isinstance(error, TriedTooOften):
        detail = f"The process that worked on this import ended {MAX_ATTEMPTS} times; it is not tried again."
        return {"code": "import_failed", "detail": detail, "status": 500}
    return {"code": "internal_error", "detail": job.unexpected(error), "status": 500}

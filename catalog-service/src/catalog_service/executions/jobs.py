"""Uploads that go on after their first answer: each is a job, which who sent it follows until it has ended.

Jobs are of the process that received the file: it keeps a lease while it works. A job whose lease is over has failed,
and nothing of it is stored.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
from fastapi import Response

from catalog_service.executions import runs
from catalog_service.executions.run_schemas import UploadStatus
from chassis.core.problems import NotFound, Problem, TooManyRequests, Unavailable
from chassis.db.database import Connection, Database
from chassis.db.leases import Leases
from chassis.web.edge import as_problem
from chassis.web.listing import Row
from chassis.web.responses import encode

LEASES = Leases("result_jobs", "id", 15, where="status = 'running'", counts_attempts=False)
_WAIT = 20
"""Seconds until an upload becomes a job."""
_MOST = 20
"""Jobs of one process: each has its files on the disk."""
_KEPT = timedelta(days=1)
_OVER = "The service stopped before it stored this; nothing of it is in the record. Send it again."
_followed: set[asyncio.Task[None]] = set()


class Upload:
    """An upload that may become a job, as long as the transaction that stores it has not come to its end."""

    def __init__(self, database: Database) -> None:
        self.id = uuid4()
        self._database = database
        self._deciding = asyncio.Lock()
        self._is_job = False
        self._is_ending = False

    async def answered(self, store: Callable[[], Awaitable[Response]], *, at_once: bool) -> Response | None:
        """Return the answer of `store`, or None when that goes on as a job: after 20 s, or at once."""
        if at_once:
            await self._become_job()
        storing = asyncio.ensure_future(store())
        if not at_once:
            done, _ = await asyncio.wait({storing}, timeout=_WAIT)
            if done:
                return storing.result()
            async with self._deciding:
                if not self._is_ending:
                    await self._become_job()
        if not self._is_job:
            return await storing
        following = asyncio.create_task(self._follow(storing))
        _followed.add(following)
        following.add_done_callback(_followed.discard)
        return None

    async def stored(self, connection: Connection, answer: Row) -> None:
        """End the job, if it is one, in the transaction that stores its results; raise Unavailable after its lease."""
        async with self._deciding:
            self._is_ending = True
        if self._is_job and not await _end(connection, self.id, UploadStatus.COMPLETED, _without_run(answer)):
            raise Unavailable(_OVER)

    async def _become_job(self) -> None:
        async with self._database.transaction() as connection:
            await connection.execute(
                "INSERT INTO result_jobs (id, status, created_at, claim, claimed_until)"
                f" VALUES (%(id)s, 'running', now(), %(id)s, {LEASES.end})",
                {"id": self.id},
            )
        self._is_job = True

    async def _follow(self, storing: asyncio.Future[Response]) -> None:
        async with LEASES.leased(self._database, self.id):
            await asyncio.wait({storing})
        error = storing.exception()
        if error is None:
            # It has ended already, unless an earlier request of its idempotency key has stored it.
            status, outcome = UploadStatus.COMPLETED, _without_run(orjson.loads(storing.result().body))
        else:
            status = UploadStatus.FAILED
            outcome = _problem(as_problem(error) if isinstance(error, Exception) else None)
        async with self._database.transaction() as connection:
            await _end(connection, self.id, status, outcome)


def check_room() -> None:
    """Raise TooManyRequests where this process has as many jobs as it takes."""
    if len(_followed) >= _MOST:
        detail = f"{_MOST} uploads are under way here, as many as there may be; send this one again later."
        raise TooManyRequests(detail, retry_after=5, code="too_many_uploads")


async def read(database: Database, job_id: UUID) -> Row:
    """Return a job as it is answered; raise NotFound."""
    async with database.transaction() as connection:
        await connection.execute(
            "UPDATE result_jobs SET status = 'failed', ended_at = now(), outcome = %s::json"
            f" WHERE id = %s AND status = 'running' AND {LEASES.free('result_jobs')}",
            (encode(_problem(None)).decode(), job_id),
        )
        cursor = await connection.execute(
            "SELECT id, status, created_at, ended_at, outcome FROM result_jobs WHERE id = %s", (job_id,)
        )
        job = await cursor.fetchone()
        if job is None:
            raise NotFound("There is no such upload; one that has ended is kept for a day.", code="upload_not_found")
        outcome = job.pop("outcome")
        if job["status"] == UploadStatus.COMPLETED:
            try:
                run = await runs.read(connection, UUID(outcome.pop("run_id")))
            except NotFound:
                raise NotFound("The run of this upload has been deleted since.", code="upload_not_found") from None
            del run["uploads"]
            return {**job, "results": {"run": run, **outcome}, "error": None}
        return {**job, "results": None, "error": outcome}


async def prune(connection: Connection, now: datetime) -> None:
    """Remove jobs a day after their end."""
    await connection.execute("DELETE FROM result_jobs WHERE coalesce(ended_at, claimed_until) < %s", (now - _KEPT,))


async def _end(connection: Connection, job_id: UUID, status: UploadStatus, outcome: Row) -> bool:
    cursor = await connection.execute(
        "UPDATE result_jobs SET status = %s, ended_at = %s, outcome = %s::json WHERE id = %s AND status = 'running'",
        (status, datetime.now(UTC), encode(outcome).decode(), job_id),
    )
    return cursor.rowcount > 0


def _without_run(answer: Row) -> Row:
    """Return an answer with the id of its run alone: the run is read anew, since it names who made it."""
    return {"run_id": answer["run"]["id"], **{name: value for name, value in answer.items() if name != "run"}}


def _problem(problem: Problem | None) -> dict[str, Any]:
    """Return a problem as a job has it; None: the service has stopped."""
    if problem is None:
        return {"code": "interrupted", "detail": _OVER, "status": 503}
    return {"code": problem.code, "detail": problem.detail, "status": problem.status, **problem.members}

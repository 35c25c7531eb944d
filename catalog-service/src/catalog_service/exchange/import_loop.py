"""Works off imports: reads and plans those that wait, applies what was asked for. Each worker does one of each."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from catalog_service.exchange.jobs import repository, transitions
from catalog_service.exchange.jobs.job import Job, JobLost
from catalog_service.exchange.jobs.options import ApplyWhen
from catalog_service.exchange.planning.plan import plan
from catalog_service.exchange.planning.staging import Limits, Refused, stage
from chassis.core import request_context
from chassis.core.signals import wait_with_timeout
from chassis.db.database import AWAY, Connection, Database

_log = logging.getLogger(__name__)

_MAX_ATTEMPTS = 3
_POLL = 1.0
"""Seconds between looks for work without a wakeup."""
_PAUSE = 0.05


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
        committed = self._database.commits.listener()
        while True:
            committed.clear()
            async with self._database.transaction() as connection:
                job = await claim(connection)
            if job is None:
                await asyncio.sleep(_PAUSE)
                await wait_with_timeout(committed, _POLL)
                continue
            assert job.claim is not None
            with _on_behalf_of(job):
                async with transitions.LEASES.leased(self._database, job.claim):
                    await self._try(job, work)

    async def _try(self, job: Job, work: Callable[[Job], Awaitable[None]]) -> None:
        """Do the work; if it fails, the job does, unless it is no longer ours."""
        try:
            if job.attempts > _MAX_ATTEMPTS:
                told = f"The process that worked on this import ended {_MAX_ATTEMPTS} times; it is not tried again."
                raise Refused({"code": "import_failed", "detail": told, "status": 500})
            await work(job)
        except (*AWAY, JobLost):
            raise
        except Refused as refused:
            await self._fail(job, refused.error)
        except Exception as error:  # noqa: BLE001 - logged, and stored with the job
            _log.exception("Import %s failed: %s", job.id, error)
            told = f"Something went wrong on our side; the log has it under the request id {job.correlation_id}."
            await self._fail(job, {"code": "internal_error", "detail": told, "status": 500})

    async def _fail(self, job: Job, error: dict[str, Any]) -> None:
        async with self._database.transaction() as connection:
            await transitions.failed(connection, job, error)

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
    async with database.transaction() as connection:
        await transitions.expire(connection)
        await repository.clear_up(connection)


def _applied_at_once(job: Job, planned: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a job is applied that nobody is to look at before, None where somebody is."""
    when = ApplyWhen(job.options["apply"])
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


@contextmanager
def _on_behalf_of(job: Job) -> Iterator[None]:
    """Log with the request that the job came from; one that is lost on the way is no failure."""
    token = request_context.request_id.set(job.correlation_id)
    try:
        yield
    except JobLost:
        _log.info("Import %s has ended, or was taken up by another worker", job.id)
    finally:
        request_context.request_id.reset(token)

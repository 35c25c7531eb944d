"""Working off jobs that are rows of a leased queue, such as runs and imports."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from chassis.core import request_context
from chassis.core.problems import StorageFull
from chassis.core.signals import wait_with_timeout
from chassis.db.database import AWAY, Database
from chassis.db.leases import MAX_ATTEMPTS, Leases

T = TypeVar("T")

_log = logging.getLogger(__name__)

_POLL = 1.0
"""Seconds between looks for work without a wakeup."""
_PAUSE = 0.05
"""Seconds between two looks at least, however much is committed; and between two looks at a job that is waited for."""


class JobLost(Exception):
    """The job has ended, or another worker has taken it up: whoever works on it stops."""


class TriedTooOften(Exception):
    """The process that worked on the job ended each time, so often that it is not tried again."""


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """A job, or a part of one, that this worker has claimed; `name`: of the job, for the log."""

    name: str
    leases: Leases
    claim: UUID
    attempts: int
    correlation_id: str

    async def attempt(
        self, database: Database, work: Callable[[], Awaitable[T]], fail: Callable[[Exception], Awaitable[None]]
    ) -> T | None:
        """Return what the work does under the lease, None when the job has failed or is lost.

        The log has it with the request that the job came from. `fail` stores why the job cannot go on; it is not called
        where the database or the broker is away, which the next attempt may find back.
        """
        token = request_context.request_id.set(self.correlation_id)
        try:
            async with self.leases.leased(database, self.claim):
                try:
                    if self.attempts > MAX_ATTEMPTS:
                        raise TriedTooOften
                    return await work()
                except (*AWAY, StorageFull, JobLost):
                    raise
                except Exception as error:  # noqa: BLE001 - stored with the job
                    await fail(error)
        except JobLost:
            _log.info("%s has ended, or was taken up by another worker", self.name)
        finally:
            request_context.request_id.reset(token)
        return None

    def unexpected(self, error: Exception) -> str:
        """Return what a user reads of a fault of ours; the log has all of it."""
        _log.error("%s failed: %s", self.name, error, exc_info=error)
        return f"Something went wrong on our side; the log has it under the request id {self.correlation_id}."


async def work_off(wakeup: asyncio.Event, work_off_next: Callable[[], Awaitable[bool]]) -> None:
    """Work off one job after the other, for ever; `work_off_next` returns whether there was one."""
    while True:
        wakeup.clear()
        if not await work_off_next():
            await asyncio.sleep(_PAUSE)
            await wait_with_timeout(wakeup, _POLL)


async def wait_for_end(read: Callable[[], Awaitable[T]], has_ended: Callable[[T], bool], seconds: float) -> T | None:
    """Return the job when it has ended within so many seconds, else None."""
    clock = asyncio.get_running_loop()
    deadline = clock.time() + seconds
    while not has_ended(job := await read()):
        if clock.time() > deadline:
            return None
        await asyncio.sleep(_PAUSE)
    return job

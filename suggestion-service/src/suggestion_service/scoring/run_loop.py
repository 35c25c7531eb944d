"""Works off runs: plans them, which cuts them into shards, and scores shards; workers share those of one run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from chassis.core import projects
from chassis.core.problems import Problem
from chassis.db.database import Connection, Database
from chassis.db.leased_jobs import LeasedJob, TriedTooOften, work_off
from chassis.db.leases import MAX_ATTEMPTS, Leases
from chassis.messaging import outbox
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed
from suggestion_service import metrics
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.run_service import advised_threshold, finished_event
from suggestion_service.scoring.shard_scoring import ShardScoring
from suggestion_service.store import corpus_head, run_parts, runs
from suggestion_service.store.run_parts import ClaimedShard
from suggestion_service.store.run_request import COUNTS, RunRequest
from suggestion_service.store.runs import ClaimedRun

T = TypeVar("T")

_log = logging.getLogger(__name__)

QUEUE = "suggestion.runs"
"""Jobs that wake workers: there are shards to be done. Who misses them looks after a second by themselves."""
_MOST_JOBS = 32
_SHARD_REQUIREMENTS = 2000
_SHARD_PAIRS = 400_000_000


class RunLoop:
    """The loop that works off runs, one shard at a time, project by project. Each worker has one."""

    def __init__(self, database: Database, corpora: Corpora, feed: Feed, bus: Bus) -> None:
        self._database = database
        self._feed = feed
        self._bus = bus
        self._scoring = ShardScoring(database, corpora)
        self._committed = database.commits.listener()
        self._project = projects.NONE
        """That of the last shard: the next one is another's that comes after it."""

    async def on_wakeup(self, _job: bytes) -> None:
        """Take a job: look for shards at once."""
        self._committed.set()

    async def run(self) -> None:
        """Work off runs, for ever."""
        await work_off(self._committed, self.work_off_next)

    async def work_off_next(self) -> bool:
        """Plan the run whose turn it is and do its first shard, or do another shard; return whether there was one."""
        async with self._database.across() as connection:
            project = await runs.next_project(connection, self._project)
            if project is None:
                project = await run_parts.next_project(connection, self._project)
        if project is None:
            self._scoring.forget_all()
            return False
        self._project = project
        with projects.within(project):
            return await self._work_off_next()

    async def _work_off_next(self) -> bool:
        """Do so in a project."""
        async with self._database.connection() as connection:
            run = await runs.claim(connection)
            shard = await run_parts.claim(connection) if run is None else None
        if run is not None:
            shard = await self._plan(run)
        if shard is not None:
            await self._do(shard)
        return run is not None or shard is not None

    async def _plan(self, run: ClaimedRun) -> ClaimedShard | None:
        """Return the first shard, None when the run has ended."""

        async def plan() -> ClaimedShard:
            _log.info("Run %s: %s at %s begins", run.request.id, run.request.algorithm, run.request.threshold)
            # Into the copy, which all workers share: whoever does a shard sees what was answered before the run.
            await self._feed.catch_up()
            view = (await self._scoring.begin(run.request.id)).view
            seen = await asyncio.to_thread(lambda: max(view.text_sequences.values(), default=0))
            async with self._database.transaction() as connection:
                beginnings = await run_parts.cut(connection, _SHARD_REQUIREMENTS, _SHARD_PAIRS)
                # Whatever the background stores from now on has the scale of the run.
                await corpus_head.lock(connection)
                await runs.lock(connection, run)
                await runs.plan(connection, run, seen)
                first = await run_parts.insert(connection, run.request, beginnings)
            for _ in beginnings[1 : 1 + _MOST_JOBS]:
                await self._bus.send(QUEUE, b"part")
            return first

        return await self._attempt(run, runs.LEASES, plan, lambda connection: runs.lock(connection, run))

    async def _do(self, shard: ClaimedShard) -> None:
        async def score() -> None:
            await self._scoring.score(shard)
            async with self._database.transaction() as connection:
                await run_parts.lock(connection, shard)
                if await run_parts.finish(connection, shard):
                    await self._end(connection, shard.request, "completed", None)

        await self._attempt(shard, run_parts.LEASES, score, lambda connection: run_parts.lock(connection, shard))

    async def _attempt(
        self,
        claimed: ClaimedRun | ClaimedShard,
        leases: Leases,
        work: Callable[[], Awaitable[T]],
        lock: Callable[[Connection], Awaitable[None]],
    ) -> T | None:
        """Do the work; if it fails, the run does, unless it is no longer ours, which `lock` says by JobLost."""
        request = claimed.request
        job = LeasedJob(f"Run {request.id}", leases, claimed.claim, claimed.attempts, request.correlation_id)

        async def fail(error: Exception) -> None:
            async with self._database.transaction() as connection:
                await lock(connection)
                await self._end(connection, request, "failed", _readable(error, job))

        return await job.attempt(self._database, work, fail)

    async def _end(self, connection: Connection, request: RunRequest, status: str, error: str | None) -> None:
        run = await runs.end(connection, request.id, status, error)
        run = await runs.advise(connection, run, await advised_threshold(connection, run))
        await outbox.record(connection, [finished_event(run, request.actor, request.correlation_id)])
        self._scoring.forget(request.id)
        metrics.RUNS.labels(request.algorithm, status).inc()
        _log.info(
            "Run %s %s: %d pairs, %d suggestions created, %d updated, %d withdrawn, %d skipped",
            request.id,
            status,
            *(value for name, value in run.items() if name in COUNTS),
        )


def _readable(error: Exception, job: LeasedJob) -> str:
    if isinstance(error, TriedTooOften):
        error = Problem(f"The process ended {MAX_ATTEMPTS} times while it worked on this run.")
    if not isinstance(error, Problem):
        return job.unexpected(error)
    _log.error("%s failed: %s", job.name, error)
    return error.detail

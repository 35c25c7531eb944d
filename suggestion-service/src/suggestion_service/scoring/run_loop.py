"""Works off runs: plans them, which cuts them into shards, and scores shards; workers share those of one run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from chassis.core import request_context
from chassis.core.problems import Problem
from chassis.core.signals import wait_with_timeout
from chassis.db.database import AWAY, Connection, Database
from chassis.messaging import outbox
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed
from suggestion_service import metrics
from suggestion_service.scoring import repository, runs, shards
from suggestion_service.scoring.corpus import LiveCorpus
from suggestion_service.scoring.lease import held
from suggestion_service.scoring.runs import ClaimedRun, RunLost, RunRequest
from suggestion_service.scoring.service import finished_event
from suggestion_service.scoring.shard_scoring import ShardScoring
from suggestion_service.scoring.shards import ClaimedShard

_log = logging.getLogger(__name__)

QUEUE = "suggestion.runs"
"""Jobs that wake workers: there are shards to be done. Who misses them looks after a second by themselves."""
_MOST_JOBS = 32
_SHARD_REQUIREMENTS = 2000
_SHARD_PAIRS = 400_000_000
_POLL = 1.0
"""Seconds between looks for work when nobody has told of any."""
_PAUSE = 0.05
"""Seconds between two looks at least, however much is committed."""


class RunLoop:
    """The loop that works off runs, one shard at a time. Each worker has one."""

    def __init__(self, database: Database, corpus: LiveCorpus, feed: Feed, bus: Bus) -> None:
        self._database = database
        self._feed = feed
        self._bus = bus
        self._scoring = ShardScoring(database, corpus)
        self._committed = database.commits.listener()

    async def on_wakeup(self, _job: bytes) -> None:
        """Take a job: look for shards at once."""
        self._committed.set()

    async def run(self) -> None:
        """Work off runs, for ever."""
        while True:
            self._committed.clear()
            if not await self.work_off_next():
                await asyncio.sleep(_PAUSE)
                await wait_with_timeout(self._committed, _POLL)

    async def work_off_next(self) -> bool:
        """Plan the run whose turn it is and do its first shard, or do another shard; return whether there was one."""
        async with self._database.connection() as connection:
            run = await runs.claim(connection)
            shard = await shards.claim(connection) if run is None else None
        if run is not None:
            shard = await self._plan(run)
        if shard is not None:
            await self._do(shard)
        if run is None and shard is None:
            self._scoring.wait_idle()
            return False
        return True

    async def _plan(self, run: ClaimedRun) -> ClaimedShard | None:
        """Return the first shard, None when the run has ended."""
        first: list[ClaimedShard] = []

        async def plan() -> None:
            _log.info("Run %s: %s at %s begins", run.request.id, run.request.algorithm, run.request.threshold)
            # Into the copy, which all workers share: whoever does a shard sees what was answered before the run.
            await self._feed.catch_up()
            view = (await self._scoring.begin(run.request.id)).view
            seen = await asyncio.to_thread(lambda: max(view.text_sequences.values(), default=0))
            async with self._database.transaction() as connection:
                beginnings = await shards.cut(connection, _SHARD_REQUIREMENTS, _SHARD_PAIRS)
                # Whatever the background stores from now on has the scale of the run.
                await repository.lock_corpus(connection)
                await runs.keep(connection, run)
                await runs.planned(connection, run, seen)
                first.append(await shards.insert(connection, run, beginnings))
            for _ in beginnings[1 : 1 + _MOST_JOBS]:
                await self._bus.send(QUEUE, b"part")

        with _on_behalf_of(run.request):
            async with held(
                self._database,
                extend=lambda connection: runs.hold(connection, run),
                release=lambda connection: runs.release(connection, run),
            ):
                await self._try(run.request, run.attempts, plan, lambda connection: runs.keep(connection, run))
        return first[0] if first else None

    async def _do(self, shard: ClaimedShard) -> None:
        async def score() -> None:
            await self._scoring.score(shard)
            async with self._database.transaction() as connection:
                await shards.keep(connection, shard)
                if await shards.finish(connection, shard):
                    await self._end(connection, shard.request, "completed", None)

        with _on_behalf_of(shard.request):
            async with held(
                self._database,
                extend=lambda connection: shards.hold(connection, shard),
                release=lambda connection: shards.release(connection, shard),
            ):
                await self._try(shard.request, shard.attempts, score, lambda connection: shards.keep(connection, shard))

    async def _try(
        self,
        request: RunRequest,
        attempts: int,
        work: Callable[[], Awaitable[None]],
        keep: Callable[[Connection], Awaitable[None]],
    ) -> None:
        """Do the work; if it fails, the run does, unless it is no longer ours, which `keep` says by RunLost."""
        try:
            if attempts > runs.MAX_ATTEMPTS:
                raise Problem(f"The process ended {runs.MAX_ATTEMPTS} times while it worked on this run.")
            await work()
        except (*AWAY, RunLost):
            raise
        except Exception as error:  # noqa: BLE001 - logged, and told by the run
            _log.exception("Run %s failed: %s", request.id, error)
            async with self._database.transaction() as connection:
                await keep(connection)
                await self._end(connection, request, "failed", _readable(error, request))

    async def _end(self, connection: Connection, request: RunRequest, status: str, error: str | None) -> None:
        row = await runs.end(connection, request.id, status, error)
        await outbox.record(connection, [finished_event(row, request.actor, request.correlation_id)])
        metrics.RUNS.labels(request.algorithm, status).inc()
        _log.info(
            "Run %s %s: %d pairs, %d suggestions created, %d updated, %d withdrawn, %d skipped",
            request.id,
            status,
            *(row[count] for count in runs.COUNTS),
        )


@contextmanager
def _on_behalf_of(request: RunRequest) -> Iterator[None]:
    """Log with the request that the run came from; a run that is lost on the way is no failure."""
    token = request_context.request_id.set(request.correlation_id)
    try:
        yield
    except RunLost:
        _log.info("Run %s has ended, or was taken up by another worker", request.id)
    finally:
        request_context.request_id.reset(token)


def _readable(error: Exception, request: RunRequest) -> str:
    if isinstance(error, Problem):
        return error.detail
    return f"Something went wrong on our side; the log has it under the request id {request.correlation_id}."

"""Works off runs: plans them, which cuts them into parts, and scores parts; workers share those of one run."""

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
from suggestion_service.generation import parts, repository, runs
from suggestion_service.generation.corpus import LiveCorpus
from suggestion_service.generation.lease import held
from suggestion_service.generation.part_scoring import PartScoring
from suggestion_service.generation.parts import ClaimedPart
from suggestion_service.generation.runs import ClaimedRun, Order, RunLost
from suggestion_service.generation.service import finished_event

_log = logging.getLogger(__name__)

QUEUE = "suggestion.runs"
"""Jobs that wake workers: there are parts to be done. Who misses them looks after a second by themselves."""
_MOST_JOBS = 32
_PART_REQUIREMENTS = 2000
_PART_PAIRS = 400_000_000
_POLL = 1.0
"""Seconds between looks for work when nobody has told of any."""
_PAUSE = 0.05
"""Seconds between two looks at least, however much is committed."""


class RunLoop:
    """The loop that works off runs, one part at a time. Each worker has one."""

    def __init__(self, database: Database, corpus: LiveCorpus, feed: Feed, bus: Bus) -> None:
        self._database = database
        self._feed = feed
        self._bus = bus
        self._scoring = PartScoring(database, corpus)
        self._told = database.commits.listener()

    async def hear(self, _job: bytes) -> None:
        """Take a job: look for parts at once."""
        self._told.set()

    async def run(self) -> None:
        """Work off runs, for ever."""
        while True:
            self._told.clear()
            if not await self.work_off_next():
                await asyncio.sleep(_PAUSE)
                await wait_with_timeout(self._told, _POLL)

    async def work_off_next(self) -> bool:
        """Plan the run whose turn it is and do its first part, or do another part; return whether there was one."""
        async with self._database.connection() as connection:
            run = await runs.claim(connection)
            part = await parts.claim(connection) if run is None else None
        if run is not None:
            part = await self._plan(run)
        if part is not None:
            await self._do(part)
        if run is None and part is None:
            self._scoring.rest()
            return False
        return True

    async def _plan(self, run: ClaimedRun) -> ClaimedPart | None:
        """Return the first part, None when the run has ended."""
        first: list[ClaimedPart] = []

        async def plan() -> None:
            _log.info("Run %s: %s at %s begins", run.order.id, run.order.algorithm, run.order.threshold)
            # Into the copy, which all workers share: whoever does a part sees what was answered before the run.
            await self._feed.catch_up()
            view = (await self._scoring.begin(run.order.id)).view
            seen = await asyncio.to_thread(lambda: max(view.text_sequences.values(), default=0))
            async with self._database.transaction() as connection:
                beginnings = await parts.cut(connection, _PART_REQUIREMENTS, _PART_PAIRS)
                # Whatever the background stores from now on has the scale of the run.
                await repository.lock_corpus(connection)
                await runs.keep(connection, run)
                await runs.planned(connection, run, seen)
                first.append(await parts.insert(connection, run, beginnings))
            for _ in beginnings[1 : 1 + _MOST_JOBS]:
                await self._bus.send(QUEUE, b"part")

        with _on_behalf_of(run.order):
            async with held(
                self._database,
                extend=lambda connection: runs.hold(connection, run),
                release=lambda connection: runs.release(connection, run),
            ):
                await self._try(run.order, run.attempts, plan, lambda connection: runs.keep(connection, run))
        return first[0] if first else None

    async def _do(self, part: ClaimedPart) -> None:
        async def score() -> None:
            await self._scoring.score(part)
            async with self._database.transaction() as connection:
                await parts.keep(connection, part)
                if await parts.finish(connection, part):
                    await self._end(connection, part.order, "completed", None)

        with _on_behalf_of(part.order):
            async with held(
                self._database,
                extend=lambda connection: parts.hold(connection, part),
                release=lambda connection: parts.release(connection, part),
            ):
                await self._try(part.order, part.attempts, score, lambda connection: parts.keep(connection, part))

    async def _try(
        self,
        order: Order,
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
            _log.exception("Run %s failed: %s", order.id, error)
            async with self._database.transaction() as connection:
                await keep(connection)
                await self._end(connection, order, "failed", _readable(error, order))

    async def _end(self, connection: Connection, order: Order, status: str, error: str | None) -> None:
        row = await runs.end(connection, order.id, status, error)
        await outbox.record(connection, [finished_event(row, order.actor, order.correlation_id)])
        metrics.RUNS.labels(order.algorithm, status).inc()
        _log.info(
            "Run %s %s: %d pairs, %d suggestions created, %d updated, %d withdrawn, %d skipped",
            order.id,
            status,
            *(row[count] for count in runs.COUNTS),
        )


@contextmanager
def _on_behalf_of(order: Order) -> Iterator[None]:
    """Log with the request that the run came from; a run that is lost on the way is no failure."""
    token = request_context.request_id.set(order.correlation_id)
    try:
        yield
    except RunLost:
        _log.info("Run %s has ended, or was taken up by another worker", order.id)
    finally:
        request_context.request_id.reset(token)


def _readable(error: Exception, order: Order) -> str:
    if isinstance(error, Problem):
        return error.detail
    return f"Something went wrong on our side; the log has it under the request id {order.correlation_id}."

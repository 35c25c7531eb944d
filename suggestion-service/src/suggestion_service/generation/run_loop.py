"""Works off runs: catches up with catalog, scores everything against everything, stores block by block."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from chassis import outbox, request_context
from chassis.database import AWAY, Database
from chassis.feed import Feed
from chassis.problems import Problem
from chassis.signals import woken
from suggestion_service.engine import Block
from suggestion_service.generation import repository, runs
from suggestion_service.generation.corpus import LiveCorpus
from suggestion_service.generation.lease import held
from suggestion_service.generation.proposals import CHUNK, Pair, Proposer, scored
from suggestion_service.generation.runs import ClaimedRun, RunLost
from suggestion_service.generation.service import finished_event

_log = logging.getLogger(__name__)

_POLL = 1.0
"""Seconds between looks for runs when nobody has told of a commit."""
_PAUSE = 0.05
"""Seconds between two looks at least, however much is committed."""
_FIRST_ID = UUID(int=0)


class RunLoop:
    """The loop that works off runs, one at a time."""

    def __init__(self, database: Database, corpus: LiveCorpus, feed: Feed) -> None:
        self._database = database
        self._corpus = corpus
        self._feed = feed
        self._committed = database.commits.listener()

    async def run(self) -> None:
        """Work off runs, for ever."""
        while True:
            self._committed.clear()
            if not await self.work_off_next():
                await asyncio.sleep(_PAUSE)
                await woken(self._committed, _POLL)

    async def work_off_next(self) -> bool:
        """Work off the oldest run that waits, or whose worker has died; tell whether there was one."""
        async with self._database.connection() as connection:
            run = await runs.claim(connection)
        if run is None:
            return False
        token = request_context.request_id.set(run.correlation_id)
        try:
            async with held(
                self._database,
                extend=lambda connection: runs.hold(connection, run),
                release=lambda connection: runs.release(connection, run),
            ):
                await self._work_off(run)
        except RunLost:
            _log.info("Run %s was cancelled, or taken up by another worker", run.id)
        finally:
            request_context.request_id.reset(token)
        return True

    async def _work_off(self, run: ClaimedRun) -> None:
        _log.info("Run %s: %s at %s begins", run.id, run.algorithm, run.threshold)
        try:
            if run.attempts > runs.MAX_ATTEMPTS:
                raise Problem(f"The process ended {runs.MAX_ATTEMPTS} times while it worked on this run.")
            await self._generate(run)
        except (*AWAY, RunLost):
            raise
        except Exception as error:  # noqa: BLE001 - logged, and told by the run
            _log.exception("Run %s failed: %s", run.id, error)
            await self._finish(run, "failed", _readable(error, run))
        else:
            await self._finish(run, "completed", None)

    async def _generate(self, run: ClaimedRun) -> None:
        await self._feed.catch_up()
        view = await self._corpus.refresh()
        proposer = Proposer(self._database, view)
        await self._rescore_old_texts(run, proposer)
        before = 0.0
        async for block, pairs in scored(view.snapshot.score(run.algorithm, run.threshold)):
            await self._store_block(run, proposer, block, pairs, before)
            before = block.progress

    async def _rescore_old_texts(self, run: ClaimedRun, proposer: Proposer) -> None:
        after = _FIRST_ID
        while True:
            async with self._database.connection() as connection:
                pending = await repository.pending_with_old_text(connection, after, CHUNK)
            if not pending:
                return
            rescored = await proposer.rescore(pending)
            async with self._database.transaction() as connection:
                await repository.lock_corpus(connection)
                await runs.advance(connection, run, 0)
                await repository.rescore(connection, rescored.ids, rescored.rows)
            after = pending[-1]["id"]

    async def _store_block(
        self, run: ClaimedRun, proposer: Proposer, block: Block, pairs: Sequence[Pair], before: float
    ) -> None:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            proposal = await proposer.propose(run.algorithm, chunk, run.id)
            done = before + (block.progress - before) * start / len(pairs)
            async with self._database.transaction() as connection:
                await repository.lock_corpus(connection)
                stored = await repository.store(connection, proposal.rows, run.id, datetime.now(UTC))
                await runs.advance(
                    connection,
                    run,
                    done,
                    created=len(stored),
                    skipped=len(chunk) - len(stored) - proposal.already,
                )
        async with self._database.connection() as connection:
            await runs.advance(connection, run, block.progress, pairs=block.pairs)

    async def _finish(self, run: ClaimedRun, status: str, error: str | None) -> None:
        async with self._database.transaction() as connection:
            row = await runs.finish(connection, run, status, error)
            await outbox.record(connection, [finished_event(row, run.actor, run.correlation_id)])
        _log.info(
            "Run %s %s: %d pairs, %d suggestions created, %d skipped",
            run.id,
            status,
            row["pairs_analyzed"],
            row["suggestions_created"],
            row["suggestions_skipped"],
        )


def _readable(error: Exception, run: ClaimedRun) -> str:
    if isinstance(error, Problem):
        return error.detail
    return f"Something went wrong on our side; the log has it under the request id {run.correlation_id}."

"""Scores one shard of a run and stores what it finds, chunk by chunk: each is there whole, or not at all.

New suggestions come first, pending ones are scored anew then: what the first know of neighbours helps the second.
"""

import asyncio
from datetime import UTC, datetime
from time import perf_counter
from uuid import UUID

from chassis.db.database import Database
from suggestion_service import metrics
from suggestion_service.engine import Block, Query
from suggestion_service.methods import METHODS
from suggestion_service.scoring import repository
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.corpus import Pair, pairs_of
from suggestion_service.scoring.grouping import group_variants
from suggestion_service.scoring.proposals import CHUNK, Proposer
from suggestion_service.store import corpus_head, run_parts, suggestions
from suggestion_service.store.run_parts import ClaimedShard

_BEFORE_ALL = UUID(int=0)
_FINDING = 0.5
"""The share of a shard's progress that finding pairs is, where what is pending is scored anew, too."""


class ShardScoring:
    """Does shards, one at a time. All that it does of one run it scores with the same view of the corpus."""

    def __init__(self, database: Database, corpora: Corpora) -> None:
        self._database = database
        self._corpora = corpora
        self._begun: dict[UUID, Proposer] = {}
        """By run: projects take turns."""

    async def begin(self, run_id: UUID) -> Proposer:
        """Return who proposes for this run; the corpus is as it is now, or was when it was asked for first."""
        if run_id not in self._begun:
            self._begun[run_id] = Proposer(self._database, await self._corpora.refresh())
        return self._begun[run_id]

    def forget(self, run_id: UUID) -> None:
        """Drop the view of a run."""
        self._begun.pop(run_id, None)

    def forget_all(self) -> None:
        """Drop the views of all runs."""
        self._begun.clear()

    async def score(self, shard: ClaimedShard) -> None:
        """Suggest the shard's pairs, and score anew what is pending of them unless it shall be left alone.

        Raises JobLost when the run has ended, or somebody else does the shard.
        """
        proposer = await self.begin(shard.request.id)
        if not shard.request.pending_only:
            await self._suggest(shard, proposer, _FINDING if shard.request.rescore else 1.0)
        if shard.request.rescore:
            await self._score_anew(shard, proposer)

    async def _suggest(self, shard: ClaimedShard, proposer: Proposer, share: float) -> None:
        requirements = None
        if not shard.is_everything():
            async with self._database.connection() as connection:
                requirements = await run_parts.requirements(connection, shard)
        before = 0.0
        request = shard.request
        began = perf_counter()
        query = Query(request.algorithm, request.threshold, requirements)
        async for block in proposer.view.score(query):
            progress = block.progress * share
            await self._store_block(shard, proposer, block, before, progress)
            before = progress
            metrics.PAIRS.inc(block.pairs)
            now = perf_counter()
            metrics.SECONDS.inc(now - began)
            began = now

    async def _store_block(
        self, shard: ClaimedShard, proposer: Proposer, block: Block, before: float, progress: float
    ) -> None:
        size = len(block.scores)
        for start in range(0, size, CHUNK):
            stop = min(start + CHUNK, size)
            pairs = await asyncio.to_thread(pairs_of, block, start, stop)
            await self._store(shard, proposer, pairs, before + (progress - before) * stop / size)
        async with self._database.connection() as connection:
            await run_parts.advance(connection, shard, progress, pairs=block.pairs)

    async def _store(self, shard: ClaimedShard, proposer: Proposer, pairs: list[Pair], progress: float) -> None:
        proposal = await proposer.propose(shard.request.algorithm, pairs, shard.request.id)
        async with self._database.transaction() as connection:
            await suggestions.stage(connection, proposal.rows)
            await corpus_head.lock(connection)
            stored = await suggestions.insert(connection, shard.request.id, datetime.now(UTC))
            await group_variants(connection, {requirement_id for requirement_id, _ in stored})
            skipped = len(pairs) - len(stored) - proposal.already
            await run_parts.advance(connection, shard, progress, created=len(stored), skipped=skipped)
        metrics.CREATED.labels(METHODS[shard.request.algorithm]).inc(len(stored))

    async def _score_anew(self, shard: ClaimedShard, proposer: Proposer) -> None:
        """Go through what is pending of the shard: it gets this run's scores, and what is below the threshold goes.

        It was all skipped when the pairs were found, but what was below.
        """
        request = shard.request
        after = shard.first_id, _BEFORE_ALL
        while True:
            async with self._database.connection() as connection:
                pending = await repository.pending_between(connection, after, shard.last_id(), request.id, CHUNK)
            if not pending:
                return
            after = pending[-1].pair
            new = await proposer.rescore(request.algorithm, pending, request.threshold)
            async with self._database.transaction() as connection:
                await corpus_head.lock(connection)
                # Whose a suggestion is stays, where nobody has asked for the run.
                owner = None if request.pending_only else request.id
                updated = await suggestions.rescore(connection, new.ids, new.rows, owner)
                withdrawn = await suggestions.withdraw(connection, new.below_ids, new.below_rows, request.id)
                await group_variants(connection, {one.requirement_id for one in pending})
                await run_parts.advance(
                    *(connection, shard, _FINDING),
                    updated=updated,
                    withdrawn=withdrawn,
                    skipped=0 if request.pending_only else -updated,
                )

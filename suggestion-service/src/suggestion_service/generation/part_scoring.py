"""Scores one part of a run and stores what it finds, chunk by chunk: each is there whole, or not at all."""

import asyncio
from datetime import UTC, datetime
from time import perf_counter
from uuid import UUID

from chassis.database import Database
from suggestion_service import metrics
from suggestion_service.engine import Block
from suggestion_service.generation import parts, repository
from suggestion_service.generation.corpus import LiveCorpus
from suggestion_service.generation.parts import ClaimedPart
from suggestion_service.generation.proposals import CHUNK, METHODS, Pair, Proposer, pairs_of, scored


class PartScoring:
    """Does parts, one at a time. All that it does of one run it scores with the same view of the corpus."""

    def __init__(self, database: Database, corpus: LiveCorpus) -> None:
        self._database = database
        self._corpus = corpus
        self._begun: tuple[UUID, Proposer] | None = None

    async def begin(self, run_id: UUID) -> Proposer:
        """Give who proposes for this run; the corpus is as it is now, or was when it was asked for first."""
        if self._begun is None or self._begun[0] != run_id:
            self._begun = run_id, Proposer(self._database, await self._corpus.refresh())
        return self._begun[1]

    def rest(self) -> None:
        """Let go of the last run."""
        self._begun = None

    async def score(self, part: ClaimedPart) -> None:
        """Suggest the part's pairs; raise RunLost when the run has ended, or somebody else does the part."""
        proposer = await self.begin(part.order.id)
        requirements = None
        if not part.is_everything():
            async with self._database.connection() as connection:
                requirements = await parts.requirements(connection, part)
        before = 0.0
        order = part.order
        began = perf_counter()
        async for block in scored(proposer.view.snapshot.score(order.algorithm, order.threshold, requirements)):
            await self._store_block(part, proposer, block, before)
            before = block.progress
            metrics.PAIRS.inc(block.pairs)
            now = perf_counter()
            metrics.SECONDS.inc(now - began)
            began = now

    async def _store_block(self, part: ClaimedPart, proposer: Proposer, block: Block, before: float) -> None:
        size = len(block.scores)
        for start in range(0, size, CHUNK):
            stop = min(start + CHUNK, size)
            pairs = await asyncio.to_thread(pairs_of, block, start, stop)
            await self._store(part, proposer, pairs, before + (block.progress - before) * stop / size)
        async with self._database.connection() as connection:
            await parts.advance(connection, part, block.progress, pairs=block.pairs)

    async def _store(self, part: ClaimedPart, proposer: Proposer, pairs: list[Pair], progress: float) -> None:
        proposal = await proposer.propose(part.order.algorithm, pairs, part.order.id)
        async with self._database.transaction() as connection:
            await repository.stage(connection, proposal.rows)
            await repository.lock_corpus(connection)
            stored = await repository.store(connection, part.order.id, datetime.now(UTC))
            skipped = len(pairs) - len(stored) - proposal.already
            await parts.advance(connection, part, progress, created=len(stored), skipped=skipped)
        metrics.CREATED.labels(METHODS[part.order.algorithm]).inc(len(stored))

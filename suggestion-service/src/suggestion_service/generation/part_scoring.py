"""Scores one part of a run and stores what it finds, chunk by chunk: each is there whole, or not at all.

New suggestions come first, pending ones are scored anew then: what the first know of neighbours helps the second.
"""

import asyncio
from datetime import UTC, datetime
from time import perf_counter
from uuid import UUID

from chassis.db.database import Database
from suggestion_service import metrics
from suggestion_service.engine import Block
from suggestion_service.generation import parts, repository
from suggestion_service.generation.corpus import LiveCorpus
from suggestion_service.generation.parts import ClaimedPart
from suggestion_service.generation.proposals import CHUNK, METHODS, Pair, Proposer, pairs_of, scored

_BEFORE_ALL = UUID(int=0)
_SCORING = 0.5
"""The share of a part's progress that finding pairs is, where what is pending is scored anew, too."""


class PartScoring:
    """Does parts, one at a time. All that it does of one run it scores with the same view of the corpus."""

    def __init__(self, database: Database, corpus: LiveCorpus) -> None:
        self._database = database
        self._corpus = corpus
        self._begun: tuple[UUID, Proposer] | None = None

    async def begin(self, run_id: UUID) -> Proposer:
        """Return who proposes for this run; the corpus is as it is now, or was when it was asked for first."""
        if self._begun is None or self._begun[0] != run_id:
            self._begun = run_id, Proposer(self._database, await self._corpus.refresh())
        return self._begun[1]

    def rest(self) -> None:
        """Let go of the last run."""
        self._begun = None

    async def score(self, part: ClaimedPart) -> None:
        """Suggest the part's pairs, and score anew what is pending of them unless it shall be left alone.

        Raises RunLost when the run has ended, or somebody else does the part.
        """
        proposer = await self.begin(part.order.id)
        share = _SCORING if part.order.rescore else 1.0
        await self._suggest(part, proposer, share)
        if part.order.rescore:
            await self._score_anew(part, proposer)

    async def _suggest(self, part: ClaimedPart, proposer: Proposer, share: float) -> None:
        requirements = None
        if not part.is_everything():
            async with self._database.connection() as connection:
                requirements = await parts.requirements(connection, part)
        before = 0.0
        order = part.order
        began = perf_counter()
        async for block in scored(proposer.view.snapshot.score(order.algorithm, order.threshold, requirements)):
            progress = block.progress * share
            await self._store_block(part, proposer, block, before, progress)
            before = progress
            metrics.PAIRS.inc(block.pairs)
            now = perf_counter()
            metrics.SECONDS.inc(now - began)
            began = now

    async def _store_block(
        self, part: ClaimedPart, proposer: Proposer, block: Block, before: float, progress: float
    ) -> None:
        size = len(block.scores)
        for start in range(0, size, CHUNK):
            stop = min(start + CHUNK, size)
            pairs = await asyncio.to_thread(pairs_of, block, start, stop)
            await self._store(part, proposer, pairs, before + (progress - before) * stop / size)
        async with self._database.connection() as connection:
            await parts.advance(connection, part, progress, pairs=block.pairs)

    async def _store(self, part: ClaimedPart, proposer: Proposer, pairs: list[Pair], progress: float) -> None:
        proposal = await proposer.propose(part.order.algorithm, pairs, part.order.id)
        async with self._database.transaction() as connection:
            await repository.stage(connection, proposal.rows)
            await repository.lock_corpus(connection)
            stored = await repository.store(connection, part.order.id, datetime.now(UTC))
            skipped = len(pairs) - len(stored) - proposal.already
            await parts.advance(connection, part, progress, created=len(stored), skipped=skipped)
        metrics.CREATED.labels(METHODS[part.order.algorithm]).inc(len(stored))

    async def _score_anew(self, part: ClaimedPart, proposer: Proposer) -> None:
        """Go through what is pending of the part: it gets this run's scores, and what is below the threshold goes.

        It was all skipped when the pairs were found, but what was below.
        """
        order = part.order
        after = part.first_id, _BEFORE_ALL
        while True:
            async with self._database.connection() as connection:
                pending = await repository.pending_between(connection, after, part.last_id(), order.id, CHUNK)
            if not pending:
                return
            after = pending[-1]["requirement_id"], pending[-1]["test_case_id"]
            new = await proposer.rescore(order.algorithm, pending, order.threshold)
            async with self._database.transaction() as connection:
                await repository.lock_corpus(connection)
                updated = await repository.rescore(connection, new.ids, new.rows, order.id)
                withdrawn = await repository.withdraw(connection, new.below_ids, new.below_rows, order.id)
                await parts.advance(connection, part, _SCORING, updated=updated, withdrawn=withdrawn, skipped=-updated)

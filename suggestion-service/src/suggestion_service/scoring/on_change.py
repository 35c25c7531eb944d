"""Scores each item that was created or changed against the other side, in the background."""

import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from chassis.core import projects
from chassis.core.batches import all_or_each
from chassis.db.database import AWAY, Database
from chassis.observability import telemetry
from suggestion_service import metrics
from suggestion_service.engine import Query
from suggestion_service.methods import METHODS
from suggestion_service.scale import Scale, ScaleChanged, Scales
from suggestion_service.scoring import repository
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.corpus import Pair, View, pairs_of
from suggestion_service.scoring.events import record_generated
from suggestion_service.scoring.grouping import group_variants
from suggestion_service.scoring.jobs import BATCH
from suggestion_service.scoring.proposals import CHUNK, Proposer
from suggestion_service.store import corpus_head, scoring_queue, suggestions
from suggestion_service.store.scoring_queue import QueuedItem

_log = logging.getLogger(__name__)

_MOST_TAKEN = 3
"""Projects whose items another worker claims at the same moment, after which a job is left to it."""


class ChangeScoring:
    """Works off the scoring queue, a batch at a time, project by project; as many workers as there are share it."""

    def __init__(self, database: Database, corpora: Corpora, scales: Scales) -> None:
        self._database = database
        self._corpora = corpora
        self._scales = scales
        self._project = projects.NONE
        """That of the last batch: the next one is another's that comes after it."""

    async def score_waiting(self) -> bool:
        """Score some of the items that wait, at most a batch in each project's turn; return whether there were any."""
        scored = taken_by_others = 0
        while scored < BATCH and taken_by_others < _MOST_TAKEN:
            async with self._database.across() as connection:
                project = await scoring_queue.next_project(connection, self._project)
            if project is None:
                break
            self._project = project
            with projects.within(project):
                batch = await self._score_some(BATCH - scored)
            scored += batch
            taken_by_others += batch == 0
        return scored > 0

    async def _score_some(self, limit: int) -> int:
        """Score items of a project that wait; return how many."""
        async with self._database.connection() as connection:
            claimed = await scoring_queue.claim(connection, limit)
        if claimed:
            async with scoring_queue.LEASES.leased(self._database, claimed[0].claim):
                await all_or_each(claimed, self._score_by_scale, self._postpone, fatal=AWAY)
        return len(claimed)

    async def _postpone(self, item: QueuedItem, error: Exception) -> None:
        _log.exception("Generating suggestions for %s failed: %s", item, error)
        async with self._database.connection() as connection:
            await scoring_queue.postpone(connection, item)

    async def _score_by_scale(self, batch: Sequence[QueuedItem]) -> None:
        for item in batch:
            _log.info("Generating suggestions for %s", item)
        with telemetry.going_on("score items", [item.traceparent for item in batch]):
            while True:
                with suppress(ScaleChanged):
                    return await self._score(batch)

    async def _score(self, batch: Sequence[QueuedItem]) -> None:
        async with self._database.connection() as connection:
            scale = await self._scales.current(connection)
            if not scale.automatic:
                await scoring_queue.finish(connection, batch)
                return
        view = await self._corpora.refresh()
        owners = await self._find(scale, view, batch)
        proposer = Proposer(self._database, view)
        pairs = list(owners)
        proposals = [
            await proposer.propose(scale.algorithm, pairs[start : start + CHUNK])
            for start in range(0, len(pairs), CHUNK)
        ]
        async with self._database.connection() as connection:
            pending = await repository.pending_of(connection, [item.item_id for item in batch])
        rescored = [
            await proposer.rescore(scale.algorithm, pending[start : start + CHUNK])
            for start in range(0, len(pending), CHUNK)
        ]

        owner_of = {(pair.requirement_id, pair.test_case_id): owner for pair, owner in owners.items()}
        async with self._database.transaction() as connection:
            await suggestions.stage(connection, b"".join(proposal.rows for proposal in proposals))
            await corpus_head.lock(connection)
            await self._scales.confirm(connection, scale)
            stored = await suggestions.insert(connection, None, datetime.now(UTC))
            created = Counter(owner_of[pair] for pair in stored)
            for new in rescored:
                await suggestions.rescore(connection, new.ids, new.rows)
            touched = {pair[0] for pair in stored} | {one.requirement_id for one in pending}
            await group_variants(connection, touched)
            found = Counter(owners.values())
            await record_generated(connection, batch, scale, created, found)
            await scoring_queue.finish(connection, batch)
        metrics.CREATED.labels(METHODS[scale.algorithm]).inc(len(stored))
        for item in batch:
            made = created[item.item_id]
            _log.info("Generated suggestions for %s: %d created, %d skipped", item, made, found[item.item_id] - made)

    async def _find(self, scale: Scale, view: View, batch: Sequence[QueuedItem]) -> dict[Pair, UUID]:
        """Return each pair that may be suggested by this scale, with the item of the batch that it was found for."""
        owners: dict[Pair, UUID] = {}
        query = Query(scale.algorithm, scale.threshold)
        if requirements := [item.item_id for item in batch if item.side == "requirement"]:
            async for block in view.score(replace(query, requirements=requirements)):
                owners |= {pair: pair.requirement_id for pair in pairs_of(block)}
        if test_cases := [item.item_id for item in batch if item.side == "test_case"]:
            async for block in view.score(replace(query, test_cases=test_cases)):
                for pair in pairs_of(block):
                    owners.setdefault(pair, pair.test_case_id)
        return {pair: owner for pair, owner in owners.items() if view.admits(scale, pair)}

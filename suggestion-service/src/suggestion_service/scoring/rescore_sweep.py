"""Makes what is pending complete once changes have come to rest: the same set as a run over everything gives.

A score depends on how often words are used in all items, and the background scores a pair with what is known then.
So when many items come at a time, some pairs near the threshold are missed, or kept with a score of the past.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from chassis.core import projects
from chassis.core.signals import wait_with_timeout
from chassis.db.database import Database
from suggestion_service import metrics
from suggestion_service.engine import Query
from suggestion_service.methods import METHODS
from suggestion_service.scale import Scale, ScaleChanged, Scales
from suggestion_service.scoring import repository
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.corpus import Pair, View, pairs_of
from suggestion_service.scoring.events import record_generated
from suggestion_service.scoring.grouping import group_variants
from suggestion_service.scoring.proposals import CHUNK, Proposer
from suggestion_service.store import corpus_head, items, settlement, suggestions

_log = logging.getLogger(__name__)

_QUIET = 2.0
"""Seconds without a change, and without anything to score, after which it is worth while."""
_MANY = 0.01
_PAUSE_FACTOR = 20
"""Unless this share of the items has changed, the sweep pauses for as many times as long as it took."""
_LOOK = 0.5
_POLL = 10.0
_GATHERED = 50_000
_FIRST_ID = UUID(int=0)


@dataclass(slots=True)
class _Rest:
    """How long a project has been at rest, and until when its sweep pauses.

    With `few` for its head and position, too little has changed since for an end of the pause.
    """

    seen: int = -1
    quiet_since: float = 0.0
    paused_until: float = 0.0
    few: tuple[int, int] | None = None


class RescoreSweep:
    """The loop that sweeps, one project after the other. One worker does it at a time."""

    def __init__(self, database: Database, corpora: Corpora, scales: Scales) -> None:
        self._database = database
        self._corpora = corpora
        self._scales = scales
        self._committed = database.commits.listener()
        self._rests: dict[str, _Rest] = defaultdict(_Rest)

    async def run(self) -> None:
        """Sweep whenever it is due, for ever."""
        while True:
            self._committed.clear()
            reconciled = await self.sweep_due()
            await asyncio.sleep(_LOOK)
            if reconciled:
                await wait_with_timeout(self._committed, _POLL)

    async def sweep_due(self) -> bool:
        """Sweep the projects where changes have come to rest; return whether everything is reconciled now."""
        async with self._database.across() as connection:
            unreconciled = await settlement.unreconciled(connection, automatic=self._scales.automatic)
        reconciled = True
        for project in unreconciled:
            with projects.within(project):
                reconciled &= await self.sweep_if_due()
        return reconciled

    async def sweep_if_due(self) -> bool:
        """Sweep a project when its changes have come to rest; return whether everything is reconciled now.

        So is one that wants no suggestions of the background.
        """
        clock = asyncio.get_running_loop()
        now = clock.time()
        rest = self._rests[projects.current.get()]
        async with self._database.connection() as connection:
            state = await settlement.state(connection)
            if state.head == state.position or not (await self._scales.wishes(connection)).automatic:
                return True
            if state.scoring or state.head != rest.seen:
                rest.seen, rest.quiet_since = state.head, now
            if state.scoring or now < rest.quiet_since + _QUIET:
                return False
            if now < rest.paused_until:
                now_at = (state.head, state.position)
                if now_at == rest.few:
                    return False
                if not await settlement.many_changed(connection, state.position, _MANY):
                    rest.few = now_at
                    return False
        try:
            await self.sweep()
        except ScaleChanged:
            _log.info("The rescore sweep is given up: suggestions are to have another scale, or none")
            return False
        took = clock.time() - now
        rest.paused_until = clock.time() + _PAUSE_FACTOR * took
        return True

    async def sweep(self) -> None:
        """Score everything by the scale of the queue, and have pending suggestions say the same.

        What is missing is suggested; pending ones get their present score; those that the background made and that
        are below the threshold now are deleted. Raises ScaleChanged when a run begins, or the project wants
        something else, meanwhile.
        """
        async with self._database.connection() as connection:
            before = await settlement.state(connection)
            scale = await self._scales.current(connection)
        _log.info("The rescore sweep begins")
        view = await self._corpora.refresh()
        proposer = Proposer(self._database, view)
        rescored, withdrawn = await self._rescore(scale, proposer)
        created = await self._complete(scale, view, proposer)
        async with self._database.connection() as connection:
            await settlement.advance(connection, before)
        _log.info("Rescore sweep: %d created, %d scored anew, %d withdrawn", created, rescored, withdrawn)

    async def _rescore(self, scale: Scale, proposer: Proposer) -> tuple[int, int]:
        rescored = withdrawn = 0
        after = _FIRST_ID
        while True:
            async with self._database.connection() as connection:
                pending = await repository.pending_in_scale(connection, METHODS[scale.algorithm], after, CHUNK)
            if not pending:
                return rescored, withdrawn
            new = await proposer.rescore(scale.algorithm, pending)
            async with self._database.transaction() as connection:
                await corpus_head.lock(connection)
                await self._scales.confirm(connection, scale)
                rescored += await suggestions.rescore(connection, new.ids, new.rows)
                withdrawn += await suggestions.delete_below(connection, new.ids, scale.lowest_score)
            after = pending[-1].id

    async def _complete(self, scale: Scale, view: View, proposer: Proposer) -> int:
        created = 0
        found: Counter[UUID] = Counter()
        missing: dict[UUID, list[Pair]] = defaultdict(list)
        async for block in view.score(Query(scale.algorithm, scale.threshold)):
            for start in range(0, len(block.scores), CHUNK):
                all_pairs = await asyncio.to_thread(pairs_of, block, start, start + CHUNK)
                pairs = [pair for pair in all_pairs if view.admits(scale, pair)]
                found.update(view.latest_item(pair) for pair in pairs)
                new, _ = await proposer.new_among(pairs)
                for pair in new:
                    missing[view.latest_item(pair)].append(pair)
                if sum(map(len, missing.values())) > _GATHERED:
                    created += await self._store(scale, view, proposer, missing, found)
                    missing.clear()
        return created + await self._store(scale, view, proposer, missing, found)

    async def _store(
        self,
        scale: Scale,
        view: View,
        proposer: Proposer,
        missing: Mapping[UUID, list[Pair]],
        found: Mapping[UUID, int],
    ) -> int:
        """Store suggestions, those of an item together with its event."""
        stored = 0
        for pairs in _chunks(list(missing.values())):
            rows = await proposer.explain(scale.algorithm, pairs)
            later = {(pair.requirement_id, pair.test_case_id): view.latest_item(pair) for pair in pairs}
            async with self._database.transaction() as connection:
                await suggestions.stage(connection, rows)
                await corpus_head.lock(connection)
                await self._scales.confirm(connection, scale)
                new = await suggestions.insert(connection, None, datetime.now(UTC))
                await group_variants(connection, {requirement_id for requirement_id, _ in new})
                created = Counter(later[pair] for pair in new)
                changed = await items.last_changed(connection, list(created))
                await record_generated(connection, changed, scale, created, found)
            metrics.CREATED.labels(METHODS[scale.algorithm]).inc(len(new))
            stored += len(new)
        return stored


def _chunks(lists: Sequence[list[Pair]]) -> Iterator[list[Pair]]:
    """Join whole lists to chunks of some thousand pairs."""
    chunk: list[Pair] = []
    for pairs in lists:
        chunk = chunk + pairs
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk

"""Scores each item that was created or changed against the other side, in the background."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from chassis import outbox
from chassis.database import AWAY, Database
from chassis.events import NewEvent
from contracts.suggestion import ItemSuggestionsGenerated
from suggestion_service.engine import Algorithm, Side
from suggestion_service.generation import queue, repository
from suggestion_service.generation.corpus import LiveCorpus, View
from suggestion_service.generation.proposals import Pair, Proposer, pairs_of
from suggestion_service.generation.queue import Queued

_log = logging.getLogger(__name__)

_AT_ONCE = 200
_POLL = 0.25
_QUIET = 0.15
"""Seconds that a changed item waits for further changes of it, and for others that come with it."""


class BackgroundScoring:
    """The loop that empties the scoring queue. `queued` is called when something was put into it."""

    def __init__(self, database: Database, corpus: LiveCorpus, algorithm: Algorithm, threshold: float) -> None:
        self._database = database
        self._corpus = corpus
        self._algorithm = algorithm
        self._threshold = threshold
        self._woken = asyncio.Event()

    def queued(self) -> None:
        """Wake the loop."""
        self._woken.set()

    async def run(self) -> None:
        """Score what is queued, for ever."""
        while True:
            self._woken.clear()
            while await self.score_waiting():
                pass
            try:
                await asyncio.wait_for(self._woken.wait(), _POLL)
            except TimeoutError:
                continue
            await asyncio.sleep(_QUIET)

    async def score_waiting(self) -> bool:
        """Score some of the items that wait; tell whether there were any."""
        async with self._database.connection() as connection:
            claimed = await queue.claim(connection, _AT_ONCE)
        if claimed:
            await self._score_all(claimed)
        return bool(claimed)

    async def _score_all(self, batch: Sequence[Queued]) -> None:
        for item in batch:
            _log.info("Generating suggestions for %s", item)
        try:
            await self._score(batch)
        except AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - logged and tried again below
            if len(batch) == 1:
                _log.exception("Generating suggestions for %s failed: %s", batch[0], error)
                async with self._database.connection() as connection:
                    await queue.postpone(connection, batch[0])
                return
            # One of them is to blame: score each by itself, so that the others are not held up.
            for item in batch:
                await self._score_all([item])

    async def _score(self, batch: Sequence[Queued]) -> None:
        view = await self._corpus.refresh()
        owners = await asyncio.to_thread(self._find, view, batch)
        proposer = Proposer(self._database, view)
        proposal = await proposer.propose(self._algorithm, list(owners))
        async with self._database.connection() as connection:
            pending = await repository.pending_of(connection, [item.item_id for item in batch])
        rescored = await proposer.rescore(pending)

        owner_of = {(pair.requirement_id, pair.test_case_id): owner for pair, owner in owners.items()}
        async with self._database.transaction() as connection:
            await repository.lock_corpus(connection)
            stored = await repository.store(connection, proposal.rows, None, datetime.now(UTC))
            await repository.rescore(connection, rescored.ids, rescored.rows)
            created = Counter(owner_of[pair] for pair in stored)
            found = Counter(owners.values())
            await outbox.record(
                connection,
                [
                    self._event(item, created[item.item_id], found[item.item_id])
                    for item in batch
                    if created[item.item_id]
                ],
            )
            await queue.finish(connection, batch)
        for item in batch:
            new = created[item.item_id]
            _log.info("Generated suggestions for %s: %d created, %d skipped", item, new, found[item.item_id] - new)

    def _find(self, view: View, batch: Sequence[Queued]) -> dict[Pair, UUID]:
        """Give each pair at or above the threshold, with the item of the batch that it was found for."""
        owners: dict[Pair, UUID] = {}
        ids = {side: [item.item_id for item in batch if item.side == side] for side in _SIDES}
        if ids["requirement"]:
            for block in view.snapshot.score(self._algorithm, self._threshold, requirements=ids["requirement"]):
                owners |= {pair: pair.requirement_id for pair in pairs_of(block)}
        if ids["test_case"]:
            for block in view.snapshot.score(self._algorithm, self._threshold, test_cases=ids["test_case"]):
                for pair in pairs_of(block):
                    owners.setdefault(pair, pair.test_case_id)
        return owners

    def _event(self, item: Queued, created: int, found: int) -> NewEvent:
        return NewEvent(
            ItemSuggestionsGenerated(
                item_type=item.side,
                item_id=item.item_id,
                item_title=item.title,
                algorithm=self._algorithm,
                threshold=self._threshold,
                suggestions_created=created,
                suggestions_skipped=found - created,
            ),
            str(item.item_id),
            item.actor,
            correlation_id=item.correlation_id,
        )


_SIDES: tuple[Side, ...] = ("requirement", "test_case")

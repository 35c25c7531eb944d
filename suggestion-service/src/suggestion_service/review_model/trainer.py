"""Has pending suggestions say what reviews teach, and take it back, once there is something new to learn from."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from math import inf
from uuid import UUID

from chassis.core import projects
from chassis.core.signals import wait_with_timeout
from chassis.db.database import Database
from suggestion_service.review_model import repository
from suggestion_service.review_model.comparison import Comparison
from suggestion_service.review_model.evaluation import Evaluation
from suggestion_service.review_model.model import Adjustment, Review, ReviewModel
from suggestion_service.review_model.repository import ReviewedPair
from suggestion_service.store import items, learning, suggestions
from suggestion_service.store.suggestions import Adjusted

_log = logging.getLogger(__name__)

_LATEST = 1000
"""Reviews to learn from: the cost of a pending pair grows with them, what they teach hardly any more."""
_NAMED = ("requirement", "requirement_title", "test_case", "test_case_title", "status")
"""What an explanation says of a review: external ids, or titles where there are none, and the titles."""
_CHUNK = 1000
"""Suggestions changed in one transaction."""
_PAUSE = 1.0
_REST = 3
"""A project rests for as many times as long as learning in it took, and so does looking for what is new."""
_POLL = 10.0
_FIRST = (UUID(int=0), UUID(int=0))


class Trainer:
    """The loop that learns. One worker does it at a time."""

    def __init__(self, database: Database, rest: float = _REST) -> None:
        """`rest`: by how many times a project rests longer than learning in it took."""
        self._database = database
        self._committed = database.commits.listener()
        self._rest = rest
        self._resting: dict[str, float] = {}
        """The projects that rest, and until when."""

    async def run(self) -> None:
        """Learn whenever there is something new, for ever."""
        clock = asyncio.get_running_loop()
        while True:
            self._committed.clear()
            began = clock.time()
            news = await self._news()
            looked = clock.time() - began
            await self._train(news)
            await asyncio.sleep(_PAUSE + _REST * looked)
            rested = min((self._resting[project] for project in news if project in self._resting), default=inf)
            await wait_with_timeout(self._committed, min(_POLL, max(0, rested - clock.time())))

    async def train_due(self) -> None:
        """Learn in each project where something is new since the last time, and that does not rest."""
        await self._train(await self._news())

    async def _news(self) -> list[str]:
        async with self._database.across() as connection:
            return await learning.with_news(connection)

    async def _train(self, news: Sequence[str]) -> None:
        """Learn in those of the projects that do not rest."""
        clock = asyncio.get_running_loop()
        self._resting = {project: until for project, until in self._resting.items() if until > clock.time()}
        for project in news:
            if project in self._resting:
                continue
            began = clock.time()
            with projects.within(project):
                await self.train_if_due()
            self._resting[project] = clock.time() + self._rest * (clock.time() - began)

    async def train_if_due(self) -> None:
        """Learn in a project when a review, a text or a suggestion is new since the last time."""
        async with self._database.connection() as connection:
            state = await learning.state(connection)
        if state.now != state.seen:
            await self._learn(state)

    async def _learn(self, state: learning.State) -> None:
        async with self._database.connection() as connection:
            rows = await repository.reviews(connection, _LATEST)
            ids = {item_id for row in rows for item_id in (row.requirement_id, row.test_case_id)}
            terms = await items.terms(connection, ids)
        model, evaluation = await asyncio.to_thread(_study, rows, terms)
        if evaluation.helps != state.active:
            _log.info("Re-ranking by reviews: %s", evaluation.reason)
        # Never inactive while a suggestion is still adjusted: whoever is stopped between goes on from there.
        if evaluation.helps:
            await self._remember(evaluation)
            await self._adjust(model, rows)
        else:
            if state.active:
                await self._adjust(None, rows)
            await self._remember(evaluation)
        async with self._database.connection() as connection:
            await learning.mark_seen(connection, state.now)

    async def _remember(self, evaluation: Evaluation) -> None:
        async with self._database.connection() as connection:
            await learning.put(connection, asdict(evaluation), datetime.now(UTC), active=evaluation.helps)

    async def _adjust(self, model: ReviewModel | None, reviews: Sequence[ReviewedPair]) -> None:
        """Go through what is pending; without `model`, take everything back."""
        after = _FIRST
        comparison = Comparison(self._database, model) if model else None
        while True:
            async with self._database.connection() as connection:
                pending = await repository.pending(connection, after, _CHUNK)
            if not pending:
                return
            found = await comparison.adjustments(pending) if comparison else [None] * len(pending)
            changed = [
                new
                for row, adjustment in zip(pending, found, strict=True)
                if (new := _adjusted(row.id, adjustment, reviews)) != Adjusted(row.id, row.adjustment, row.because)
            ]
            if changed:
                async with self._database.transaction() as connection:
                    await suggestions.adjust(connection, changed)
            after = pending[-1].requirement_id, pending[-1].test_case_id


def _study(rows: Sequence[ReviewedPair], terms: dict[UUID, dict[str, int]]) -> tuple[ReviewModel, Evaluation]:
    reviews = [Review(row.requirement_id, row.test_case_id, row.accepted, row.similarity_score) for row in rows]
    model = ReviewModel(reviews, terms)
    return model, model.evaluate()


def _adjusted(suggestion_id: UUID, adjustment: Adjustment | None, reviews: Sequence[ReviewedPair]) -> Adjusted:
    if adjustment is None:
        return Adjusted(suggestion_id)
    because = [
        {**{name: getattr(reviews[place], name) for name in _NAMED}, "similarity": similarity}
        for place, similarity in adjustment.because
    ]
    return Adjusted(suggestion_id, adjustment.value, because)

"""The corpus of a project in memory: rebuilt from the copy at the start, then brought up to date before each use."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import orjson

from chassis.db.database import Database
from suggestion_service.embeddings.live_vectors import LiveVectors, Views
from suggestion_service.engine import Block, Corpus, Entry, Query, Scorer
from suggestion_service.scale import Scale
from suggestion_service.store import items
from suggestion_service.store.items import ItemChange

_PAGE = 2000
_MOST_RECENT = 1000


class TextSequences(Mapping[UUID, int]):
    """The version of each item's text at one moment: that of the older ones is shared by all views since then."""

    def __init__(self, older: Mapping[UUID, int], recent: Mapping[UUID, int | None]) -> None:
        """`recent` goes before `older`, None for an item that is gone. Neither may change any more."""
        self._older, self._recent = older, recent

    def __getitem__(self, item_id: UUID) -> int:
        if item_id not in self._recent:
            return self._older[item_id]
        sequence = self._recent[item_id]
        if sequence is None:
            raise KeyError(item_id)
        return sequence

    def __iter__(self) -> Iterator[UUID]:
        yield from (item_id for item_id in self._older if item_id not in self._recent)
        yield from (item_id for item_id, sequence in self._recent.items() if sequence is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Pair(NamedTuple):
    """A pair at or above the threshold."""

    requirement_id: UUID
    test_case_id: UUID
    score: float


def pairs_of(block: Block, start: int = 0, stop: int | None = None) -> list[Pair]:
    """Return the pairs of a block, or some of them: at a low threshold there may be millions."""
    some = slice(start, stop)
    columns = block.requirement_ids[some], block.test_case_ids[some], block.scores[some]
    return [Pair(*pair) for pair in zip(*(column.tolist() for column in columns), strict=True)]


@dataclass(frozen=True, slots=True)
class View:
    """The corpus at one moment; `text_sequences` names the version of each item's text that is in it."""

    scorer: Scorer
    text_sequences: Mapping[UUID, int]

    async def score(self, query: Query) -> AsyncIterator[Block]:
        """Return the blocks of scores, each worked out in a thread."""
        blocks = self.scorer.score(query)
        while (block := await asyncio.to_thread(next, blocks, None)) is not None:
            yield block

    def latest_item(self, pair: Pair) -> UUID:
        """Return the item of a pair whose text came last."""
        return max(pair.requirement_id, pair.test_case_id, key=self.text_sequences.__getitem__)

    def admits(self, scale: Scale, pair: Pair) -> bool:
        """Check whether a pair at or above the threshold of a scale may be suggested in the background."""
        return scale.admits(pair.score, self.text_sequences[self.latest_item(pair)])


class LiveCorpus:
    """A cache of a project's rows of `items`, and of the embeddings in use, by the number of the last change."""

    def __init__(self, database: Database) -> None:
        """It is always asked in the same project."""
        self._database = database
        self._corpus = Corpus()
        self._vectors = LiveVectors(database)
        self._older: dict[UUID, int] = {}
        self._recent: dict[UUID, int | None] = {}
        self._seen = (0, UUID(int=0))
        self._view: View | None = None
        self._one_at_a_time = asyncio.Lock()

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return self._corpus.size + self._vectors.size

    async def refresh(self) -> View:
        """Return the corpus as the committed copy is now; costs as much as changed since the last call."""
        # A thread cannot be stopped: a caller who is leaves the corpus to be brought up to date behind them.
        return await asyncio.shield(self._refresh())

    async def _refresh(self) -> View:
        async with self._one_at_a_time:
            while True:
                async with self._database.connection() as connection:
                    rows = await items.changes(connection, self._seen, _PAGE)
                if rows:
                    await asyncio.to_thread(self._take, rows)
                    self._view = None
                if len(rows) < _PAGE:
                    break
            embeddings = await self._vectors.refresh()
            if self._view is None or self._view.scorer.embeddings != embeddings:
                self._view = await asyncio.to_thread(self._look, embeddings)
            return self._view

    def _take(self, rows: list[ItemChange]) -> None:
        for row in rows:
            if row.deleted:
                self._corpus.remove(row.side, row.id)
                self._recent[row.id] = None
            else:
                entry = Entry(orjson.loads(row.terms), row.module, row.tags, row.priority, row.language)
                self._corpus.put(row.side, row.id, entry)
                self._recent[row.id] = row.text_sequence
        self._seen = (rows[-1].change, rows[-1].id)

    def _look(self, embeddings: Views | None) -> View:
        if len(self._recent) > _MOST_RECENT:
            everything = self._older | self._recent
            self._older = {item_id: sequence for item_id, sequence in everything.items() if sequence is not None}
            self._recent = {}
        scorer = Scorer(self._corpus.snapshot(), embeddings)
        return View(scorer, TextSequences(self._older, self._recent.copy()))

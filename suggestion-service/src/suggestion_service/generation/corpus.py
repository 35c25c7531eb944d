"""The corpus in memory: rebuilt from the copy at the start, then brought up to date before each use."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.database import Database
from suggestion_service.engine import Corpus, Entry, Snapshot
from suggestion_service.generation import repository

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class View:
    """The corpus at one moment; `text_sequences` names the version of each item's text that is in it."""

    snapshot: Snapshot
    text_sequences: Mapping[UUID, int]


class LiveCorpus:
    """A cache of the table `items`, by the number of its last change."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._corpus = Corpus()
        self._text_sequences: dict[UUID, int] = {}
        self._seen = (0, UUID(int=0))
        self._view: View | None = None
        self._one_at_a_time = asyncio.Lock()

    async def refresh(self) -> View:
        """Give the corpus as the committed copy is now; costs as much as changed since the last call."""
        # A thread cannot be stopped: a caller who is leaves the corpus to be brought up to date behind them.
        return await asyncio.shield(self._refresh())

    async def _refresh(self) -> View:
        async with self._one_at_a_time:
            while True:
                async with self._database.connection() as connection:
                    rows = await repository.changed_items(connection, self._seen, _PAGE)
                if rows:
                    await asyncio.to_thread(self._take, rows)
                    self._seen = (rows[-1]["change"], rows[-1]["id"])
                    self._view = None
                if len(rows) < _PAGE:
                    break
            if self._view is None:
                self._view = await asyncio.to_thread(self._look)
            return self._view

    def _take(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["deleted"]:
                self._corpus.remove(row["side"], row["id"])
                self._text_sequences.pop(row["id"], None)
            else:
                entry = Entry(row["terms"], row["module"], row["tags"], row["priority"])
                self._corpus.put(row["side"], row["id"], entry)
                self._text_sequences[row["id"]] = row["text_sequence"]

    def _look(self) -> View:
        return View(self._corpus.snapshot(), dict(self._text_sequences))

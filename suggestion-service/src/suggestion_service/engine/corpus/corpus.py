"""The items to be compared, both sides, in memory; changed one at a time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import ABSENT, Column, Row, Shelf, Side
from suggestion_service.engine.scorer import Snapshot
from suggestion_service.engine.semantic.embeddings import EmbeddingView

_MOST_DEAD = 1000
"""Slots or names out of use that are put up with, beside as many as are in use."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as the corpus takes it: terms, as `terms` counts them, and what metadata it has."""

    terms: Mapping[str, int]
    module: str | None = None
    tags: Sequence[str] = ()
    priority: str | None = None


class Corpus:
    """Requirements and test cases by id. Not thread-safe: change it and take snapshots under one lock.

    Inverse document frequencies are those of both sides together at the moment of the snapshot, exact after
    every single change.
    """

    def __init__(self) -> None:
        self._shelves: dict[Side, Shelf] = {"requirement": Shelf(), "test_case": Shelf()}
        self._terms = _Numbering()
        self._labels = _Numbering()
        self._snapshot: Snapshot | None = None

    def count(self, side: Side) -> int:
        """Return the number of items on a side."""
        return self._shelves[side].count

    def put(self, side: Side, item_id: UUID, entry: Entry) -> None:
        """Add an item, or replace the one that has this id."""
        shelf = self._shelves[side]
        before = shelf.put(item_id, self._row(entry))
        self._changed(shelf, before)

    def remove(self, side: Side, item_id: UUID) -> None:
        """Take an item out; one that is not there is no error."""
        shelf = self._shelves[side]
        slot = shelf.remove(item_id)
        if slot is not None:
            self._changed(shelf, slot)

    def snapshot(self, embeddings: Mapping[Side, EmbeddingView] | None = None) -> Snapshot:
        """Return the corpus as it is now, to be scored anywhere while the corpus goes on changing.

        With `embeddings` hybrid scores are made of them, too. Costs some microseconds per thousand items and terms;
        the same object comes back until something changes.
        """
        if self._snapshot is None or self._snapshot.embeddings != embeddings:
            self._snapshot = Snapshot(
                requirements=self._shelves["requirement"].view(),
                test_cases=self._shelves["test_case"].view(),
                term_names=self._terms.names.values,
                document_frequencies=self._terms.uses.values.copy(),
                embeddings=embeddings,
            )
        return self._snapshot

    def _row(self, entry: Entry) -> Row:
        spelling = sorted(entry.terms)
        tags = {clean for tag in entry.tags if (clean := _clean(tag))}
        terms = self._terms.numbers(spelling)
        self._terms.uses.values[terms] += 1
        return Row(
            terms=terms,
            counts=np.array([_sublinear(entry.terms[term]) for term in spelling], np.float64),
            module=self._label(entry.module),
            priority=self._label(entry.priority),
            tags=self._labels.numbers(tags),
        )

    def _label(self, label: str | None) -> int:
        clean = _clean(label)
        return int(self._labels.numbers([clean])[0]) if clean else ABSENT

    def _changed(self, shelf: Shelf, dead: int | None) -> None:
        self._snapshot = None
        if dead is None:
            return
        self._terms.uses.values[shelf.terms_of(dead)] -= 1
        if shelf.dead > shelf.count + _MOST_DEAD:
            self._compact()

    def _compact(self) -> None:
        """Move everything to new shelves and numberings, so that what is out of use takes no room."""
        old, names, labels = self._shelves, self._terms.names.values, self._labels.names.values
        self._shelves = {"requirement": Shelf(), "test_case": Shelf()}
        self._terms, self._labels = _Numbering(), _Numbering()
        for side, shelf in old.items():
            for item_id, row in shelf.rows():
                terms = self._terms.numbers(names[row.terms].tolist())
                self._terms.uses.values[terms] += 1
                module, priority = (
                    ABSENT if label == ABSENT else int(self._labels.numbers([labels[label]])[0])
                    for label in (row.module, row.priority)
                )
                tags = self._labels.numbers(labels[row.tags].tolist())
                self._shelves[side].put(item_id, Row(terms, row.counts, module, priority, tags))


class _Numbering:
    """Names to small numbers and back, and how many items use each."""

    def __init__(self) -> None:
        self.names = Column(object)
        self.uses = Column(np.int64)
        self._numbers: dict[str, int] = {}

    def numbers(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of these names."""
        return np.array([self._number(name) for name in names], np.int32)

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self.names.size
            self.names.append(name)
            self.uses.append(0)
        return number


@lru_cache(maxsize=1024)
def _sublinear(count: int) -> float:
    return 1.0 + math.log(count)


def _clean(label: str | None) -> str:
    return (label or "").strip().casefold()

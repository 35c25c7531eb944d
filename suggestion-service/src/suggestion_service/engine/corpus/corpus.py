"""The items to be compared, both sides, in memory; changed one at a time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import GrowingArray
from suggestion_service.engine.corpus.column_store import ABSENT, ColumnStore, Row
from suggestion_service.engine.corpus.query import Side
from suggestion_service.engine.corpus.snapshot import Snapshot

_MOST_DEAD = 1000
"""Rows or names out of use that are put up with, beside as many as are in use."""

_NAME = 200
"""Bytes of a term, and of what it stands in."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as the corpus takes it: terms, as `terms` counts them, and what metadata it has."""

    terms: Mapping[str, int]
    module: str | None = None
    tags: Sequence[str] = ()
    priority: str | None = None
    language: str | None = None


class Corpus:
    """Requirements and test cases by id. Not thread-safe: change it and take snapshots under one lock.

    Inverse document frequencies are those of both sides together at the moment of the snapshot, exact after
    every single change.
    """

    def __init__(self) -> None:
        self._stores: dict[Side, ColumnStore] = {"requirement": ColumnStore(), "test_case": ColumnStore()}
        self._terms = _Vocabulary()
        self._labels = _Vocabulary()
        self._snapshot: Snapshot | None = None

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        names = len(self._terms.names.values) + len(self._labels.names.values)
        return sum(store.size for store in self._stores.values()) + _NAME * names

    def count(self, side: Side) -> int:
        """Return the number of items on a side."""
        return self._stores[side].count

    def put(self, side: Side, item_id: UUID, entry: Entry) -> None:
        """Add an item, or replace the one that has this id."""
        store = self._stores[side]
        self._changed(store, store.put(item_id, self._row(entry)))

    def remove(self, side: Side, item_id: UUID) -> None:
        """Take an item out; one that is not there is no error."""
        store = self._stores[side]
        row = store.remove(item_id)
        if row is not None:
            self._changed(store, row)

    def snapshot(self) -> Snapshot:
        """Return the corpus as it is now, to be scored anywhere while the corpus goes on changing.

        Costs some microseconds per thousand items and terms; the same object comes back until something changes.
        """
        if self._snapshot is None:
            views = {side: store.view() for side, store in self._stores.items()}
            self._snapshot = Snapshot(
                views, self._terms.names.values, self._terms.uses.values.copy(), self._labels.names.values
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
            language=self._label(entry.language),
        )

    def _label(self, label: str | None) -> int:
        clean = _clean(label)
        return int(self._labels.numbers([clean])[0]) if clean else ABSENT

    def _changed(self, store: ColumnStore, dead: int | None) -> None:
        self._snapshot = None
        if dead is None:
            return
        self._terms.uses.values[store.terms_of(dead)] -= 1
        if store.dead > store.count + _MOST_DEAD:
            self._compact()

    def _compact(self) -> None:
        """Move everything to new stores and vocabularies, so that what is out of use takes no room."""
        old, names, labels = self._stores, self._terms.names.values, self._labels.names.values
        self._stores = {side: ColumnStore() for side in old}
        self._terms, self._labels = _Vocabulary(), _Vocabulary()
        for side, store in old.items():
            for item_id, row in store.items():
                terms = self._terms.numbers(names[row.terms].tolist())
                self._terms.uses.values[terms] += 1
                module, priority, language = (
                    ABSENT if label == ABSENT else int(self._labels.numbers([labels[label]])[0])
                    for label in (row.module, row.priority, row.language)
                )
                tags = self._labels.numbers(labels[row.tags].tolist())
                self._stores[side].put(item_id, Row(terms, row.counts, module, priority, tags, language))


class _Vocabulary:
    """Terms or labels by number, numbers by name, and how many items use each."""

    def __init__(self) -> None:
        self.names = GrowingArray(object)
        self.uses = GrowingArray(np.int64)
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

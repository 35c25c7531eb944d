"""The items to be compared, both sides, in memory; changed one at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.snapshot import Snapshot
from suggestion_service.engine.tile import ABSENT, Collection, Row, Side


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
        self._rows: dict[Side, dict[UUID, Row]] = {"requirement": {}, "test_case": {}}
        self._collections: dict[Side, Collection] = {}
        self._snapshot: Snapshot | None = None
        self._terms = _Numbering()
        self._labels = _Numbering()

    def count(self, side: Side) -> int:
        """Give the number of items on a side."""
        return len(self._rows[side])

    def put(self, side: Side, item_id: UUID, entry: Entry) -> None:
        """Add an item, or replace the one that has this id."""
        old = self._rows[side].get(item_id)
        self._rows[side][item_id] = self._row(entry)
        if old is not None:
            self._forget(old)
        self._changed(side)

    def remove(self, side: Side, item_id: UUID) -> None:
        """Take an item out; one that is not there is no error."""
        row = self._rows[side].pop(item_id, None)
        if row is not None:
            self._forget(row)
            self._changed(side)

    def snapshot(self) -> Snapshot:
        """Give the corpus as it is now, to be scored anywhere while the corpus goes on changing.

        Costs some microseconds per thousand items; the same object comes back until something changes.
        """
        if self._snapshot is None:
            for side, rows in self._rows.items():
                if side not in self._collections:
                    self._collections[side] = Collection(dict(rows))
            self._snapshot = Snapshot(
                requirements=self._collections["requirement"],
                test_cases=self._collections["test_case"],
                term_names=tuple(self._terms.names),
                document_frequencies=self._terms.uses[: len(self._terms.names)],
                labels=len(self._labels.names),
            )
        return self._snapshot

    def _row(self, entry: Entry) -> Row:
        spelling = sorted(entry.terms)
        tags = {clean for tag in entry.tags if (clean := _clean(tag))}
        module, priority = _clean(entry.module), _clean(entry.priority)
        return Row(
            terms=self._terms.take(spelling),
            counts=np.array([entry.terms[term] for term in spelling], np.float32),
            module=int(self._labels.take([module])[0]) if module else ABSENT,
            priority=int(self._labels.take([priority])[0]) if priority else ABSENT,
            tags=self._labels.take(tags),
        )

    def _forget(self, row: Row) -> None:
        self._terms.release(row.terms)
        for label in (row.module, row.priority):
            if label != ABSENT:
                self._labels.release(np.array([label], np.int32))
        self._labels.release(row.tags)

    def _changed(self, side: Side) -> None:
        self._collections.pop(side, None)
        self._snapshot = None


class _Numbering:
    """Names to small numbers and back, and how often each is in use; a number out of use is given again."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.uses: NDArray[np.int64] = np.zeros(1024, np.int64)
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []

    def take(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Count one more use of each of these different names."""
        numbers = np.array([self._number(name) for name in names], np.int32)
        self.uses[numbers] += 1
        return numbers

    def release(self, numbers: NDArray[np.int32]) -> None:
        """Count one use less of each of these different numbers."""
        self.uses[numbers] -= 1
        for number in numbers[self.uses[numbers] == 0].tolist():
            del self._numbers[self.names[number]]
            self._free.append(number)

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            if self._free:
                number = self._free.pop()
                self.names[number] = name
            else:
                number = len(self.names)
                self.names.append(name)
                if number == len(self.uses):
                    self.uses = np.concatenate((self.uses, np.zeros_like(self.uses)))
            self._numbers[name] = number
        return number


def _clean(label: str | None) -> str:
    return (label or "").strip().casefold()

"""The items of one side in columns that only grow: a view of them costs next to nothing and never changes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Side = Literal["requirement", "test_case"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ABSENT = -1
_FIRST_CAPACITY = 64


@dataclass(frozen=True, slots=True)
class Row:
    """One item. `terms` are term numbers in the order of the terms' spelling, `counts` (1 + ln of them) beside them.

    That order, not the order of the numbers, makes sums over a row come out the same to the last bit however the
    corpus was filled. `module`, `priority` and `tags` are label numbers; `ABSENT` where there is none.
    """

    terms: NDArray[np.int32]
    counts: Floats
    module: int
    priority: int
    tags: NDArray[np.int32]


class Column:
    """Values one after the other, with room to grow. What was given out as `values` stays as it was."""

    def __init__(self, dtype: Any, *shape: int) -> None:
        """`shape` is that of one value: nothing for a number."""
        self._room: NDArray[Any] = np.empty((_FIRST_CAPACITY, *shape), dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        """A view of all values, without a copy."""
        return self._room[: self.size]

    def extend(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        end = self.size + len(values)
        if end > len(self._room):
            grown = np.empty((max(end, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            grown[: self.size] = self.values
            self._room = grown
        self._room[self.size : end] = values
        self.size = end

    def append(self, value: Any) -> None:
        """Add one value at the end."""
        if self.size == len(self._room):
            self.extend(np.array([value], self._room.dtype))
        else:
            self._room[self.size] = value
            self.size += 1


class Shelf:
    """Items in slots: a new version of an item takes a new slot, and the slot of the old one is dead."""

    def __init__(self) -> None:
        self._ids = Column(object)
        self._slots: dict[UUID, int] = {}
        self._before = Column(np.int64)
        """The slot that the same item had before, -1 for none."""
        self._alive = Column(np.bool_)
        self._starts, self._terms, self._counts = Column(np.int64), Column(np.int32), Column(np.float64)
        self._tag_starts, self._tags = Column(np.int64), Column(np.int32)
        self._modules, self._priorities = Column(np.int64), Column(np.int64)
        self._starts.append(0)
        self._tag_starts.append(0)
        self.count = 0
        self.kept: dict[str, Any] = {}
        """What was worked out of these columns and may serve later views, too."""

    @property
    def dead(self) -> int:
        """How many slots are no item's any more."""
        return self._ids.size - self.count

    def put(self, item_id: UUID, row: Row) -> int | None:
        """Return the item a new slot; return its slot before, None for a new item."""
        before = self._slots.get(item_id)
        was_there = before is not None and bool(self._alive.values[before])
        slot = self._ids.size
        self._before.append(-1 if before is None else before)
        self._starts.append(self._terms.size + len(row.terms))
        self._terms.extend(row.terms)
        self._counts.extend(row.counts)
        self._tag_starts.append(self._tags.size + len(row.tags))
        self._tags.extend(row.tags)
        self._modules.append(row.module)
        self._priorities.append(row.priority)
        self._alive.append(True)
        self._ids.append(item_id)
        if was_there:
            self._alive.values[before] = False
        else:
            self.count += 1
        self._slots[item_id] = slot
        return before if was_there else None

    def remove(self, item_id: UUID) -> int | None:
        """Take an item out; return the slot that it had, None when it was not there."""
        slot = self._slots.get(item_id)
        if slot is None or not self._alive.values[slot]:
            return None
        self._alive.values[slot] = False
        self.count -= 1
        return slot

    def terms_of(self, slot: int) -> NDArray[np.int32]:
        """Return the term numbers of a slot."""
        start, end = self._starts.values[slot : slot + 2].tolist()
        return self._terms.values[start:end]

    def rows(self) -> Iterator[tuple[UUID, Row]]:
        """Return all items."""
        for slot in np.flatnonzero(self._alive.values).tolist():
            tags = slice(*self._tag_starts.values[slot : slot + 2].tolist())
            entries = slice(*self._starts.values[slot : slot + 2].tolist())
            yield (
                self._ids.values[slot],
                Row(
                    self._terms.values[entries],
                    self._counts.values[entries],
                    int(self._modules.values[slot]),
                    int(self._priorities.values[slot]),
                    self._tags.values[tags],
                ),
            )

    def view(self) -> "ShelfView":
        """Return the items as they are now."""
        return ShelfView(
            ids=self._ids.values,
            alive=self._alive.values.copy(),
            count=self.count,
            starts=self._starts.values,
            terms=self._terms.values,
            counts=self._counts.values,
            modules=self._modules.values,
            priorities=self._priorities.values,
            tag_starts=self._tag_starts.values,
            tags=self._tags.values,
            kept=self.kept,
            _slots=self._slots,
            _before=self._before,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ShelfView:
    """The items of one side at one moment, as arrays by slot; dead slots are not `alive`.

    `starts` (slots + 1,) says where each slot's entries begin in `terms` and `counts`; `tag_starts` the same for
    `tags`. `kept` is shared by all views of a shelf.
    """

    ids: NDArray[Any]
    alive: NDArray[np.bool_]
    count: int
    starts: Ints
    terms: NDArray[np.int32]
    counts: Floats
    modules: Ints
    priorities: Ints
    tag_starts: Ints
    tags: NDArray[np.int32]
    kept: dict[str, Any]
    _slots: dict[UUID, int]
    _before: Column

    @property
    def slots(self) -> int:
        """How many slots there are, dead ones included."""
        return len(self.ids)

    def slot(self, item_id: UUID) -> int | None:
        """Return the slot of an item, None when it is not there."""
        slot = self._slots.get(item_id, ABSENT)
        while slot >= self.slots:  # of a later version
            slot = int(self._before.values[slot])
        return slot if slot != ABSENT and self.alive[slot] else None

    def slots_of(self, item_ids: Iterable[UUID]) -> Ints:
        """Return the slots of the items that are there, each once."""
        found = dict.fromkeys(self.slot(item_id) for item_id in item_ids)
        found.pop(None, None)
        return np.array(list(found), np.int64)

    def living(self) -> Ints:
        """Return the slots of all items."""
        return np.flatnonzero(self.alive)

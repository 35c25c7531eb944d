"""The items of one side in columns that only grow: a view of them costs next to nothing and never changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, GrowingArray, Ints

ABSENT = -1
_ID = 300
"""Bytes of an id, and of what it stands in."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item. `terms` are term numbers in the order of the terms' spelling, `counts` (1 + ln of them) beside them.

    That order, not the order of the numbers, makes sums over a row come out the same to the last bit however the
    corpus was filled. `module`, `priority`, `language` and `tags` are label numbers; `ABSENT` where there is none.
    """

    terms: NDArray[np.int32]
    counts: Floats
    module: int
    priority: int
    tags: NDArray[np.int32]
    language: int = ABSENT


class ColumnStore:
    """Items in numbered rows: a new version of an item takes a new row, and the row of the old one is dead."""

    def __init__(self) -> None:
        self._ids = GrowingArray(object)
        self._rows: dict[UUID, int] = {}
        self._previous = GrowingArray(np.int64)
        """The row that the same item had before, ABSENT for none."""
        self._alive = GrowingArray(np.bool_)
        self._starts, self._terms, self._counts = (GrowingArray(dtype) for dtype in (np.int64, np.int32, np.float64))
        self._tag_starts, self._tags = GrowingArray(np.int64), GrowingArray(np.int32)
        self._modules, self._priorities, self._languages = (GrowingArray(np.int64) for _ in range(3))
        self._starts.append(0)
        self._tag_starts.append(0)
        self.count = 0
        self._cache: dict[str, Any] = {}

    @property
    def dead(self) -> int:
        """How many rows are no item's any more."""
        return self._ids.size - self.count

    @property
    def size(self) -> int:
        """About how many bytes it takes, with the postings that are made of it."""
        columns = (
            *(self._ids, self._previous, self._alive, self._starts, self._tag_starts),
            *(self._tags, self._modules, self._priorities, self._languages),
        )
        entries = self._terms.nbytes + self._counts.nbytes
        return sum(column.nbytes for column in columns) + 2 * entries + _ID * len(self._rows)

    def put(self, item_id: UUID, item: Row) -> int | None:
        """Add an item or a new version of it; return its row before, None for a new item."""
        previous = self._rows.get(item_id)
        was_there = previous is not None and bool(self._alive.values[previous])
        row = self._ids.size
        self._previous.append(ABSENT if previous is None else previous)
        self._starts.append(self._terms.size + len(item.terms))
        self._terms.extend(item.terms)
        self._counts.extend(item.counts)
        self._tag_starts.append(self._tags.size + len(item.tags))
        self._tags.extend(item.tags)
        self._modules.append(item.module)
        self._priorities.append(item.priority)
        self._languages.append(item.language)
        self._alive.append(True)
        self._ids.append(item_id)
        if was_there:
            self._alive.values[previous] = False
        else:
            self.count += 1
        self._rows[item_id] = row
        return previous if was_there else None

    def remove(self, item_id: UUID) -> int | None:
        """Take an item out; return the row that it had, None when it was not there."""
        row = self._rows.get(item_id)
        if row is None or not self._alive.values[row]:
            return None
        self._alive.values[row] = False
        self.count -= 1
        return row

    def terms_of(self, row: int) -> NDArray[np.int32]:
        """Return the term numbers of a row."""
        start, end = self._starts.values[row : row + 2].tolist()
        return self._terms.values[start:end]

    def items(self) -> Iterator[tuple[UUID, Row]]:
        """Return all items with their ids."""
        for row in np.flatnonzero(self._alive.values).tolist():
            tags = slice(*self._tag_starts.values[row : row + 2].tolist())
            entries = slice(*self._starts.values[row : row + 2].tolist())
            yield (
                self._ids.values[row],
                Row(
                    self._terms.values[entries],
                    self._counts.values[entries],
                    int(self._modules.values[row]),
                    int(self._priorities.values[row]),
                    self._tags.values[tags],
                    int(self._languages.values[row]),
                ),
            )

    def view(self) -> "StoreView":
        """Return the items as they are now."""
        return StoreView(
            ids=self._ids.values,
            alive=self._alive.values.copy(),
            count=self.count,
            starts=self._starts.values,
            terms=self._terms.values,
            counts=self._counts.values,
            modules=self._modules.values,
            priorities=self._priorities.values,
            languages=self._languages.values,
            tag_starts=self._tag_starts.values,
            tags=self._tags.values,
            cache=self._cache,
            _rows=self._rows,
            _previous=self._previous,
        )


@dataclass(frozen=True, slots=True, eq=False)
class StoreView:
    """The items of one side at one moment, as arrays by row; dead rows are not `alive`, `count` rows are.

    `starts` (rows + 1,) says where each row's entries begin in `terms` and `counts`; `tag_starts` the same for `tags`.
    `cache` has what was computed of these columns and may serve later views of the store, too.
    """

    ids: NDArray[Any]
    alive: Bools
    count: int
    starts: Ints
    terms: NDArray[np.int32]
    counts: Floats
    modules: Ints
    priorities: Ints
    languages: Ints
    tag_starts: Ints
    tags: NDArray[np.int32]
    cache: dict[str, Any]
    _rows: dict[UUID, int]
    _previous: GrowingArray

    def __len__(self) -> int:
        """Count the rows, dead ones included."""
        return len(self.ids)

    @property
    def entries(self) -> tuple[Ints, NDArray[np.int32], Floats]:
        """The terms of all rows: starts, terms, counts."""
        return self.starts, self.terms, self.counts

    def row_of(self, item_id: UUID) -> int | None:
        """Return the row of an item, None when it is not there."""
        row = self._rows.get(item_id, ABSENT)
        while row >= len(self.ids):  # of a later version
            row = int(self._previous.values[row])
        return row if row != ABSENT and self.alive[row] else None

    def rows_of(self, item_ids: Iterable[UUID]) -> Ints:
        """Return the rows of the items that are there, each once."""
        found = dict.fromkeys(self.row_of(item_id) for item_id in item_ids)
        found.pop(None, None)
        return np.array(list(found), np.int64)

    def rows_of_all(self, item_ids: Sequence[UUID]) -> Ints:
        """Return the row of each item; raise KeyError for one that is not there."""
        rows = [self.row_of(item_id) for item_id in item_ids]
        if None in rows:
            raise KeyError(item_ids[rows.index(None)])
        return np.array(rows, np.int64)

    def live_rows(self) -> Ints:
        """Return the rows of all items."""
        return np.flatnonzero(self.alive)

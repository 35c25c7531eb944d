"""Rows of items as the arrays that scoring computes with, cut into tiles so that no step is long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Side = Literal["requirement", "test_case"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Items in a tile. With 256 rows against it, a product stays at half a million pairs and some milliseconds.
TILE_ROWS = 2048
ABSENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One item. `terms` are term ids in the order of the terms' spelling, `counts` beside them.

    That order, not the order of the ids, makes sums over a row come out the same to the last bit however the
    corpus was filled. `module`, `priority` and `tags` are label ids; `ABSENT` where there is none.
    """

    terms: NDArray[np.int32]
    counts: NDArray[np.float32]
    module: int
    priority: int
    tags: NDArray[np.int32]


class Tile:
    """Some rows of one side, as arrays that are built when first asked for."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def starts(self) -> Ints:
        """Shape (rows + 1,): where each row's terms begin in `terms`."""
        return _starts([len(row.terms) for row in self.rows])

    @cached_property
    def terms(self) -> NDArray[np.int32]:
        return _joined([row.terms for row in self.rows], np.int32)

    @cached_property
    def row_of(self) -> Ints:
        """The row of each of `terms`."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.starts))

    @cached_property
    def sublinear_counts(self) -> Floats:
        """1 + ln(count) of each of `terms`."""
        counts: Floats = _joined([row.counts for row in self.rows], np.float64)
        return 1.0 + np.log(counts)

    @cached_property
    def modules(self) -> Ints:
        return np.array([row.module for row in self.rows], np.int64)

    @cached_property
    def priorities(self) -> Ints:
        return np.array([row.priority for row in self.rows], np.int64)

    @cached_property
    def tag_starts(self) -> Ints:
        """Shape (rows + 1,): where each row's tags begin in `tags`."""
        return _starts([len(row.tags) for row in self.rows])

    @cached_property
    def tags(self) -> NDArray[np.int32]:
        return _joined([row.tags for row in self.rows], np.int32)


class SparseRows:
    """Compressed sparse rows, the columns of a row in the order given, with the transpose at hand."""

    def __init__(self, starts: Ints, columns: NDArray[np.int32], values: NDArray[Any], width: int) -> None:
        self.starts, self.columns, self.values, self.width = starts, columns, values, width

    def rows(self, rows: slice) -> Any:
        """Give some rows as a scipy array."""
        from scipy.sparse import csr_array  # here, not above: a process that never scores never pays for it

        starts = self.starts[rows.start : rows.stop + 1]
        part = slice(starts[0], starts[-1])
        shape = (len(starts) - 1, self.width)
        starts = (starts - starts[0]).astype(np.int32)
        return csr_array((self.values[part], self.columns[part], starts), shape=shape)

    @cached_property
    def transposed(self) -> Any:
        """All rows as columns of a scipy array."""
        return self.rows(slice(0, len(self.starts) - 1)).T.tocsr()


class Collection:
    """All items of one side at one moment."""

    def __init__(self, rows: dict[UUID, Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, item_id: UUID) -> Row:
        return self._rows[item_id]

    @cached_property
    def _all(self) -> list[tuple[NDArray[Any], Tile]]:
        return list(_tiles(self._rows))

    def tiles(self, ids: Sequence[UUID] | None) -> list[tuple[NDArray[Any], Tile]]:
        """Give (ids, tile) for the named items, each once, unknown ones left out; None means all of them."""
        if ids is None:
            return self._all
        return list(_tiles({item_id: self._rows[item_id] for item_id in ids if item_id in self._rows}))


def _tiles(rows: dict[UUID, Row]) -> Iterator[tuple[NDArray[Any], Tile]]:
    ids, values = list(rows), list(rows.values())
    for start in range(0, len(ids), TILE_ROWS):
        yield np.array(ids[start : start + TILE_ROWS], object), Tile(values[start : start + TILE_ROWS])


def sums(groups: Ints, values: Floats, size: int) -> Floats:
    """Add up the values of each group, 0 to size - 1, one by one in the order given.

    NumPy's own sums go by pairs, as an array lies in memory: the last bit would depend on a row's neighbours.
    """
    return np.bincount(groups, values, minlength=size).astype(np.float64, copy=False)


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _joined(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(arrays, dtype=dtype) if arrays else np.empty(0, dtype)

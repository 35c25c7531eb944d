"""Embeddings in memory: cosines of whole items and of passages, exact and the same whoever asks.

Vectors are of whole numbers: unit vectors times `SCALE`, rounded. So products and sums of float32 are exact in any
order, and one pair has one cosine, alone or in a block, with whatever BLAS and however many threads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

SCALE = 2000
"""Times itself, and a little more for the rounding, it is below 2**24; as half precision numbers go, it is exact."""
_NONE = -1
_AT_ONCE = 1024
"""Items whose passages are laid side by side: some megabytes."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Whole = NDArray[np.int16]


def unit(vectors: NDArray[np.floating]) -> Floats:
    """Give vectors (n, dimensions) at length 1; a vector of zeros stays one."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return vectors / np.where(lengths > 0.0, lengths, 1.0)


def scaled(vectors: Floats) -> Whole:
    """Give unit vectors as whole numbers."""
    return np.rint(vectors * SCALE).astype(np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class ItemVectors:
    """An item: `whole` (dimensions,) and its `passages` (passages, dimensions), at least one; `scaled`."""

    whole: Whole
    passages: Whole


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingView:
    """The vectors of the items of one side at one moment, by row. It never changes."""

    whole: NDArray[np.float32]
    _passages: Whole
    _starts: Ints
    _rows: dict[UUID, int]

    def __len__(self) -> int:
        """Count the rows, those of items included that have others by now."""
        return len(self.whole)

    def rows_of(self, item_ids: Iterable[UUID]) -> Ints:
        """Give the row of each item, -1 where it has none."""
        found = (self._rows.get(item_id, _NONE) for item_id in item_ids)
        return np.array(list(found), np.int64)

    def items(self) -> Iterable[tuple[UUID, int]]:
        """Give all items with their rows."""
        return self._rows.items()

    def passages_of(self, row: int) -> Whole:
        """Give the passages of an item, in the order of the text."""
        return self._passages[self._starts[row] : self._starts[row + 1]]


def whole_cosines(one: EmbeddingView, rows: Ints, other: EmbeddingView) -> Floats:
    """Give the cosines (rows, len(other)) of some items with all of the other side."""
    return _cosines(one.whole[rows] @ other.whole.T)


def pair_cosines(one: EmbeddingView, rows: Ints, other: EmbeddingView, other_rows: Ints) -> Floats:
    """Give the cosine of each pair (rows[k], other_rows[k])."""
    return _cosines(np.einsum("kd,kd->k", one.whole[rows], other.whole[other_rows]))


def passage_cosines(asking: EmbeddingView, rows: Ints, asked: EmbeddingView, asked_rows: Ints) -> Floats:
    """Give for each pair (rows[k], asked_rows[k]) the mean, over the passages of the first, of the best cosine with
    a passage of the second. Quickest when many pairs have the same first.
    """
    result = np.empty(len(rows))
    order = np.argsort(rows, kind="stable")
    bounds = np.flatnonzero(np.diff(rows[order], prepend=_NONE, append=_NONE))
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        pairs = order[start:end]
        mine = asking.passages_of(int(rows[pairs[0]])).astype(np.float32)
        for some in np.array_split(pairs, -(-len(pairs) // _AT_ONCE)):
            theirs, starts = _gather(asked, asked_rows[some])
            best = np.maximum.reduceat(mine @ theirs.T, starts, axis=1)
            result[some] = _cosines(best.sum(axis=0, dtype=np.float64) / len(mine))
    return result


def best_passages(asking: EmbeddingView, row: int, asked: EmbeddingView, asked_row: int) -> tuple[int, int, float]:
    """Give the places, in their items, of the two passages that are most alike, and their cosine."""
    products = asking.passages_of(row).astype(np.float32) @ asked.passages_of(asked_row).astype(np.float32).T
    mine, theirs = np.unravel_index(int(np.argmax(products)), products.shape)
    return int(mine), int(theirs), float(_cosines(products[mine, theirs]))


def _gather(view: EmbeddingView, rows: Ints) -> tuple[NDArray[np.float32], Ints]:
    counts = view._starts[rows + 1] - view._starts[rows]
    starts = np.cumsum(counts) - counts
    places = np.arange(int(counts.sum())) + np.repeat(view._starts[rows] - starts, counts)
    return view._passages[places].astype(np.float32), starts


def _cosines(products: NDArray[np.floating]) -> Floats:
    return np.clip(products.astype(np.float64) / SCALE**2, -1.0, 1.0)

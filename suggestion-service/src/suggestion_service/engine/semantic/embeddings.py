"""Embeddings in memory: cosines of whole items and of passages, exact and the same whoever asks.

Vectors are of whole numbers: unit vectors times `SCALE`, rounded. So products and sums are exact in any order, and one
pair has one cosine, alone or in a block.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.semantic.integer_products import (
    Whole,
    products_of_pairs,
    products_with_all,
    sums_of_best,
)

SCALE = 2000
"""As half precision numbers go, which is how they are stored, whole numbers up to it are exact."""
ROUNDING = 1e-6
"""More than a similarity in single precision can be off by."""
NO_ROW = -1


def unit_vectors(vectors: NDArray[np.floating]) -> Floats:
    """Return vectors (n, dimensions) at length 1; a vector of zeros stays one."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return vectors / np.where(lengths > 0.0, lengths, 1.0)


def quantized(vectors: Floats) -> Whole:
    """Return unit vectors as whole numbers."""
    return np.rint(vectors * SCALE).astype(np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class ItemVectors:
    """An item: `whole` (dimensions,) and its `passages` (passages, dimensions), at least one; `quantized`."""

    whole: Whole
    passages: Whole


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingView:
    """The vectors of the items of one side at one moment, by row. It never changes.

    The passages of row r are `passages[starts[r]:starts[r + 1]]`. `changes` are the items that were put or removed, in
    that order, of all views with the same `lineage`: in these an item keeps its row until it changes.
    """

    whole: Whole
    passages: Whole
    starts: Ints
    changes: NDArray[Any]
    lineage: object
    _rows: dict[UUID, int]

    def __len__(self) -> int:
        """Count the rows, those of items included that have others by now."""
        return len(self.whole)

    def row_of(self, item_id: UUID) -> int:
        """Return the row of an item, -1 when it has none."""
        return self._rows.get(item_id, NO_ROW)

    def items(self) -> Iterable[tuple[UUID, int]]:
        """Return all items with their rows."""
        return self._rows.items()

    def passages_of(self, row: int) -> Whole:
        """Return the passages of an item, in the order of the text."""
        return self.passages[self.starts[row] : self.starts[row + 1]]


def whole_cosines(one: EmbeddingView, rows: Ints, other: EmbeddingView) -> Floats:
    """Return the cosines (rows, len(other)) of some items with all of the other side."""
    return _cosines(products_with_all(one.whole, rows, other.whole))


def pair_cosines(one: EmbeddingView, rows: Ints, other: EmbeddingView, other_rows: Ints) -> Floats:
    """Return the cosine of each pair (rows[k], other_rows[k])."""
    return _cosines(products_of_pairs(one.whole, rows, other.whole, other_rows))


def passage_cosines(one: EmbeddingView, rows: Ints, other: EmbeddingView, other_rows: Ints) -> Floats:
    """Return for each pair (rows[k], other_rows[k]) the mean, over the passages of the first, of the best cosine with
    a passage of the second.
    """
    sums = sums_of_best(one.passages, one.starts, rows, other.passages, other.starts, other_rows)
    return _cosines(sums / (one.starts[rows + 1] - one.starts[rows]))


def _cosines(products: NDArray[Any]) -> Floats:
    return np.clip(products.astype(np.float64) / SCALE**2, -1.0, 1.0)

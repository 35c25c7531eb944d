"""The vectors of one side's items, as arrays that the scoring loops walk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class SparseVectors:
    """Sparse vectors, a row an item, in one or two parts (two weightings of the same terms).

    All arrays are C-contiguous. `starts`: int64, shape (rows + 1,), where each row begins. `terms`: int32, shape
    (entries,), below `width`; within a row each once and in the order of their spelling. `values`: float64, shape
    (parts, entries), not negative; each part of a row is a unit vector, or all zero. `weights`: float64, shape
    (parts,), adding up to 1: the score of a pair is the sum over the parts of weight times dot product.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def every(self, step: int) -> "SparseVectors":
        """Return every `step`-th row, copied."""
        lengths = np.diff(self.starts)[::step]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        entries: NDArray[Any] = np.arange(starts[-1]) + np.repeat(self.starts[:-1:step] - starts[:-1], lengths)
        return SparseVectors(starts, self.terms[entries], self.values.take(entries, axis=1), self.weights, self.width)

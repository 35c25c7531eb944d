"""An inverted index of one side, in blocks small enough that a sum for each row of a block stays in the cache.

The most frequent terms are left out of it: of these "heavy" terms a row keeps their norm and, where they are few, the
terms themselves in columns. All carry upper bounds, not values: one number a term, its length over the parts, is
enough to rule a pair out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.compiled import compiled
from suggestion_service.engine.vectors import Arrays, Vectors

# Rows that a search looks at in one go: the rows of a block are a multiple of it.
SLICE_ROWS = 64
MOST_COLUMNS = 64
"""Heavy terms up to which each row keeps them all: 256 bytes a row."""
LANES = 8
"""The columns are a multiple of it: so many are multiplied at once."""


class Postings(NamedTuple):
    """The index. Block b's postings of term t are starts[b, t] to starts[b, t + 1], counted from firsts[b]."""

    columns: NDArray[np.int32]  # (width,), the column of a heavy term, -1 for a light one
    firsts: NDArray[np.int64]  # (blocks + 1,)
    starts: NDArray[np.int32]  # (blocks, width + 1)
    rows: NDArray[np.uint16]  # (postings,), counted from the block's first row, ascending for each term
    lengths: NDArray[np.float32]  # (postings,), the length of the term in the row
    heavy_norms: NDArray[np.float32]  # (blocks, rows of a block), 0 behind the last row
    heavy_lengths: NDArray[np.float32]  # (rows, columns), no columns where the heavy terms are many


def postings(vectors: Vectors, heavy: NDArray[np.integer[Any]], block_rows: int) -> Postings:
    """Index all rows, `block_rows` (a multiple of 64, to 65536) a block; `heavy` are the terms to leave out."""
    slices = -(-min(len(vectors), block_rows) // SLICE_ROWS)
    columns = np.full(vectors.width, -1, np.int32)
    columns[heavy] = np.arange(len(heavy))
    kept = -(-len(heavy) // LANES) * LANES if len(heavy) <= MOST_COLUMNS else 0
    return Postings(columns, *_index(vectors.arrays, columns, kept, max(slices, 1) * SLICE_ROWS))


@compiled
def entry_length(values: NDArray[np.float64], weights: NDArray[np.float64], entry: int) -> Any:
    """Give the length of one entry over all parts: what a pair shares adds at most the product of its lengths."""
    square = 0.0
    for part in range(len(weights)):
        square += weights[part] * values[part, entry] ** 2
    return np.sqrt(square)


@compiled
def _index(vectors: Arrays, columns: NDArray[np.int32], kept: int, block_rows: int) -> Any:
    row_starts, terms, values, weights = vectors
    count, width = len(row_starts) - 1, len(columns)
    blocks = -(-count // block_rows)
    firsts = np.zeros(blocks + 1, np.int64)
    starts = np.zeros((blocks, width + 1), np.int32)
    for block in range(blocks):
        start, stop = block * block_rows, min(count, (block + 1) * block_rows)
        for entry in range(row_starts[start], row_starts[stop]):
            if columns[terms[entry]] < 0:
                starts[block, terms[entry] + 1] += 1
        for term in range(width):
            starts[block, term + 1] += starts[block, term]
        firsts[block + 1] = firsts[block] + starts[block, width]
    rows = np.empty(firsts[blocks], np.uint16)
    lengths = np.empty(firsts[blocks], np.float32)
    heavy_norms = np.zeros((blocks, block_rows), np.float32)
    heavy_lengths = np.zeros((count, kept), np.float32)
    for block in range(blocks):
        start, stop = block * block_rows, min(count, (block + 1) * block_rows)
        free = firsts[block] + starts[block].astype(np.int64)
        for row in range(start, stop):
            heavy_square = 0.0
            for entry in range(row_starts[row], row_starts[row + 1]):
                term, length = terms[entry], entry_length(values, weights, entry)
                if columns[term] >= 0:
                    heavy_square += length**2
                    if kept:
                        heavy_lengths[row, columns[term]] = length
                else:
                    rows[free[term]] = row - start
                    lengths[free[term]] = length
                    free[term] += 1
            heavy_norms[block, row - start] = np.sqrt(heavy_square)
    return firsts, starts, rows, lengths, heavy_norms, heavy_lengths

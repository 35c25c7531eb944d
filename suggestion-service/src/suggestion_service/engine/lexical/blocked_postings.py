"""An inverted index of one side, in blocks small enough that a sum for each row of a block stays in the cache.

The terms of the highest document frequency (df) are left out of it, which makes it the index of a prefix filter: of
these a row has their norm and, where they are few, the terms themselves in columns. All carry upper bounds, not values:
one number a term, its length over the parts, is enough to rule a pair out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.lexical.sparse_vectors import SparseVectors
from suggestion_service.engine.native import call, struct

# Rows that a search looks at in one go: the rows of a block are a multiple of it.
SLICE_ROWS = 64
MOST_COLUMNS = 64
"""High-df terms up to which each row has them all: 256 bytes a row."""
LANES = 8
"""The columns are a multiple of it: so many are multiplied at once."""


class BlockedPostings(NamedTuple):
    """The index. Block b's postings of term t are starts[b, t] to starts[b, t + 1], counted from firsts[b]."""

    column_of: NDArray[np.int32]  # (width,), the column of a high-df term, -1 for one that is indexed
    firsts: NDArray[np.int64]  # (blocks + 1,)
    starts: NDArray[np.int32]  # (blocks, width + 1)
    rows: NDArray[np.uint16]  # (postings,), counted from the block's first row, ascending for each term
    lengths: NDArray[np.float32]  # (postings,), the length of the term in the row
    high_df_norms: NDArray[np.float32]  # (blocks, rows of a block), 0 behind the last row
    high_df_lengths: NDArray[np.float32]  # (rows, columns), no columns where the high-df terms are many


def blocked_postings(vectors: SparseVectors, high_df: NDArray[np.integer[Any]], block_rows: int) -> BlockedPostings:
    """Index all rows, `block_rows` (a multiple of 64, to 65536) a block; `high_df` are the terms to leave out."""
    slices = -(-min(len(vectors), block_rows) // SLICE_ROWS)
    column_of = np.full(vectors.width, -1, np.int32)
    column_of[high_df] = np.arange(len(high_df))
    columns = -(-len(high_df) // LANES) * LANES if len(high_df) <= MOST_COLUMNS else 0
    return _filled(vectors, column_of, columns, max(slices, 1) * SLICE_ROWS)


def _filled(vectors: SparseVectors, column_of: NDArray[np.int32], columns: int, block_rows: int) -> BlockedPostings:
    width, blocks = vectors.width, -(-len(vectors) // block_rows)
    firsts, starts = np.zeros(blocks + 1, np.int64), np.zeros((blocks, width + 1), np.int32)
    side = native_vectors(vectors)
    call("count_postings", side[0], column_of, width, block_rows, blocks, firsts, starts)
    rows, lengths = np.empty(firsts[blocks], np.uint16), np.empty(firsts[blocks], np.float32)
    high_df_norms = np.zeros((blocks, block_rows), np.float32)
    high_df_lengths = np.zeros((len(vectors), columns), np.float32)
    shape, scratch = (width, columns, block_rows, blocks), np.empty(width, np.int64)
    filled = rows, lengths, high_df_norms, high_df_lengths
    call("fill_postings", side[0], column_of, *shape, firsts, starts, scratch, *filled)
    return BlockedPostings(column_of, firsts, starts, *filled)


def native_vectors(vectors: SparseVectors) -> Any:
    """Return the vectors as a C struct."""
    parts = vectors.starts, vectors.terms, vectors.values, vectors.weights
    return struct("vectors", len(vectors), len(vectors.terms), len(vectors.weights), *parts)


def native_postings(index: BlockedPostings) -> Any:
    """Return the index as a C struct."""
    sizes = len(index.column_of), *index.high_df_norms.shape, index.high_df_lengths.shape[1]
    return struct("index_of_postings", *sizes, *index)

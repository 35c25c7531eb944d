"""An inverted index of one side, in blocks small enough that a sum for each row of a block stays in the cache.

The most frequent terms are left out of it: of these "heavy" terms a row keeps their norm and, where they are few, the
terms themselves in columns. All carry upper bounds, not values: one number a term, its length over the parts, is
enough to rule a pair out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.lexical.sparse_vectors import Vectors
from suggestion_service.engine.native import doubles, ffi, floats, ints, library, longs, unsigned_shorts

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
    return _filled(vectors, columns, kept, max(slices, 1) * SLICE_ROWS)


def _filled(vectors: Vectors, columns: NDArray[np.int32], kept: int, block_rows: int) -> Postings:
    width, blocks = vectors.width, -(-len(vectors) // block_rows)
    firsts, starts = np.zeros(blocks + 1, np.int64), np.zeros((blocks, width + 1), np.int32)
    side = native_vectors(vectors)
    shape = width, block_rows, blocks, longs(firsts), ints(starts)
    library().count_postings(side[0], ints(columns), *shape)
    rows, lengths = np.empty(firsts[blocks], np.uint16), np.empty(firsts[blocks], np.float32)
    heavy_norms = np.zeros((blocks, block_rows), np.float32)
    heavy_lengths = np.zeros((len(vectors), kept), np.float32)
    library().fill_postings(
        side[0],
        ints(columns),
        width,
        kept,
        *shape[1:],
        longs(np.empty(width, np.int64)),
        unsigned_shorts(rows),
        floats(lengths),
        floats(heavy_norms),
        floats(heavy_lengths),
    )
    return Postings(columns, firsts, starts, rows, lengths, heavy_norms, heavy_lengths)


def native_vectors(vectors: Vectors) -> Any:
    """Return the vectors as a C struct; it is good as long as both it and they are there."""
    parts = longs(vectors.starts), ints(vectors.terms), doubles(vectors.values), doubles(vectors.weights)
    sizes = len(vectors), len(vectors.terms), len(vectors.weights)
    return ffi.new("vectors *", (*sizes, *parts))


def native_postings(index: Postings) -> Any:
    """Return the index as a C struct; it is good as long as both it and the index are there."""
    blocks, block_rows = index.heavy_norms.shape
    sizes = len(index.columns), blocks, block_rows, index.heavy_lengths.shape[1]
    return ffi.new(
        "index_of_postings *",
        (
            *sizes,
            ints(index.columns),
            longs(index.firsts),
            ints(index.starts),
            unsigned_shorts(index.rows),
            floats(index.lengths),
            floats(index.heavy_norms),
            floats(index.heavy_lengths),
        ),
    )

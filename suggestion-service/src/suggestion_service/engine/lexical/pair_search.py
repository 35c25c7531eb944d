"""The search for pairs that reach a threshold: see native/pairs.c for how it goes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.lexical.blocked_postings import BlockedPostings, native_postings, native_vectors
from suggestion_service.engine.lexical.sparse_vectors import SparseVectors
from suggestion_service.engine.native import call, ffi


class SearchResult(NamedTuple):
    """Pairs with their scores, parallel arrays, and what finding them took."""

    left: Ints
    right: Ints
    scores: Floats
    postings_read: int
    candidates: int
    """Pairs that the norms of high-df terms do not rule out."""
    verified: int
    """Pairs that were computed exactly."""


def search(
    left: SparseVectors, rows: Ints, right: SparseVectors, index: BlockedPostings, threshold: float
) -> SearchResult:
    """Return the pairs of some left rows with all rows of `right`, of which `index` is; raise MemoryError."""
    # The structs must outlive the call: they are what keeps the arrays where they are.
    left_vectors, right_vectors, postings = native_vectors(left), native_vectors(right), native_postings(index)
    found = ffi.new("pairs *")
    if call("search_pairs", left_vectors[0], rows, len(rows), right_vectors[0], postings[0], threshold, found):
        raise MemoryError("There is no memory for the pairs of a search.")
    try:
        columns = (_copied(found.left, found.count, np.int64), _copied(found.right, found.count, np.int64))
        scores = _copied(found.scores, found.count, np.float64)
        return SearchResult(*columns, scores, found.postings_read, found.candidates, found.verified)
    finally:
        call("free_pairs", found)


def _copied(pointer: Any, count: int, dtype: Any) -> NDArray[Any]:
    return np.frombuffer(ffi.buffer(pointer, count * np.dtype(dtype).itemsize), dtype).copy()

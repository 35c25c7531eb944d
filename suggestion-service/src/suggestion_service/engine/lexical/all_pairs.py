"""All pairs of two sides that score at least a threshold, exactly, without a look at most of the pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.lexical.blocked_postings import blocked_postings
from suggestion_service.engine.lexical.pair_search import search
from suggestion_service.engine.lexical.sparse_vectors import SparseVectors

__all__ = ["SearchIndex", "SparseVectors", "pairs_at_least"]

_BLOCK_ROWS = 8192
# Left rows that are searched together: a block comes into the cache once for all of them.
_ROWS_AT_ONCE = 1024

# The numbers of high-df terms that are tried on a sample of both sides: with too few the index is long, with too many
# the bounds rule out too little. Costs in nanoseconds.
_HIGH_DF = (0, 8, 16, 24, 32, 48, 64, 128, 192, 256, 384, 512)
_SAMPLE_LEFT, _SAMPLE_RIGHT = 64, 4096
_POSTING_COST, _CANDIDATE_COST, _VERIFIED_COST = 0.7, 50.0, 150.0


class SearchIndex:
    """The right side prepared for searches from `left` at one threshold (any; above 1 no pair is found).

    Nothing in it changes: any number of threads may search it. `high_df`, the number of terms that are not
    indexed, and `block_rows` change no result; by default they are what takes least time.
    """

    def __init__(
        self,
        right: SparseVectors,
        left: SparseVectors,
        threshold: float,
        *,
        high_df: int | None = None,
        block_rows: int = _BLOCK_ROWS,
    ) -> None:
        self.right, self.threshold = right, threshold
        frequencies = np.bincount(left.terms, minlength=right.width) + np.bincount(right.terms, minlength=right.width)
        ranking = np.argsort(-frequencies, kind="stable")
        if high_df is None:
            high_df = _cheapest(left, right, threshold, ranking)
        self.postings = blocked_postings(right, ranking[:high_df], block_rows)


def pairs_at_least(
    left: SparseVectors, rows: Sequence[int] | Ints | slice, index: SearchIndex
) -> tuple[Ints, Ints, Floats]:
    """Return (left rows, right rows, scores) of all pairs of some left rows that share a term and reach the threshold.

    A pair reaches it from 1e-9 below. Its score is the same to the last bit whatever it is searched with. No order is
    promised.
    """
    chosen = np.arange(len(left))[rows] if isinstance(rows, slice) else np.asarray(rows, np.int64)
    found = [
        search(left, chosen[start : start + _ROWS_AT_ONCE], index.right, index.postings, index.threshold)
        for start in range(0, max(1, len(chosen)), _ROWS_AT_ONCE)
    ]
    i, j, scores = (np.concatenate([part[column] for part in found]) for column in range(3))
    return i, j, scores


def _cheapest(left: SparseVectors, right: SparseVectors, threshold: float, ranking: NDArray[np.integer[Any]]) -> int:
    """Choose the number of high-df terms by what a sample takes: counted, not timed, so that it is always the same."""
    rows = np.arange(0, len(left), max(1, len(left) // _SAMPLE_LEFT))
    sample = right.every(max(1, len(right) // _SAMPLE_RIGHT))
    best, best_cost = 0, np.inf
    for high_df in _HIGH_DF:
        index = blocked_postings(sample, ranking[:high_df], _BLOCK_ROWS)
        *_, postings_read, candidates, verified = search(left, rows, sample, index, threshold)
        cost_of_candidates = candidates * _CANDIDATE_COST + verified * _VERIFIED_COST
        cost = postings_read * _POSTING_COST + cost_of_candidates
        if cost < best_cost:
            best, best_cost = high_df, cost
        if high_df >= right.width or cost_of_candidates >= best_cost:
            break  # the more terms are left out, the more candidates there are
    return best

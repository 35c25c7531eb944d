"""Whether ours and the peer have found the same pairs with the same scores, from the same terms."""

import numpy as np

from benchmarks.engine import peers
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.sizes import Size

_WITHIN = 1e-6


def compare(inputs: Inputs, size: Size, rows: int, threshold: float) -> bool:
    """Compare the `tfidf` pairs of the first `rows` requirements; print and return whether they are the same.

    A pair whose score is the threshold, as far as rounding goes, may be in one of them alone.
    """
    ours = _by_pair(inputs, "tfidf", size, rows)
    theirs = _by_pair(inputs, peers.OUR_TERMS, size, rows)
    shared, mine, its = np.intersect1d(ours[0], theirs[0], return_indices=True)
    off = np.abs(ours[1][mine] - theirs[1][its]).max(initial=0.0)
    alone = np.concatenate((np.delete(ours[1], mine), np.delete(theirs[1], its)))
    same = bool(off <= _WITHIN and (np.abs(alone - threshold) <= _WITHIN).all())
    where = "" if rows == size.requirements else f" for the first {rows:,} requirements"
    result = "the same pairs" if same else "NOT THE SAME PAIRS"
    print(
        f"tfidf and sparse-dot-topn{where}: {result}; {len(shared):,} in both, {len(alone):,} in one"
        f" alone, scores at most {off:.1e} apart; goal {_WITHIN:.0e}"
    )
    return same


def _by_pair(
    inputs: Inputs, name: str, size: Size, rows: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    found_rows, columns, scores = inputs.pairs(name)
    asked = found_rows < rows
    return found_rows[asked].astype(np.int64) * size.test_cases + columns[asked], scores[asked]

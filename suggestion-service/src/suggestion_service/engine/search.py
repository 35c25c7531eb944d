"""The search for pairs that reach a threshold: for each left row and block, sum up bounds, sift, compute what is left.

The bounds are in single precision; the threshold is lowered by as much as they can be off.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.compiled import compiled
from suggestion_service.engine.dots import clear, dots, lay_out
from suggestion_service.engine.postings import LANES, SLICE_ROWS, Postings, entry_length
from suggestion_service.engine.vectors import Arrays

_TOLERANCE = 1e-9
# The relative rounding error of single precision, 2 to the -24, a little more.
_ROUNDING = 6e-8
# Above 0: pairs that share no term are never found.
_LEAST_BOUND = 1e-30


@compiled
def search(left: Arrays, rows: NDArray[np.int64], right: Arrays, index: Postings, threshold: float) -> Any:
    """Give (left rows, right rows, scores) of the pairs found, and what that took: (postings read, pairs that were
    sifted out by norms, pairs that were computed).
    """
    columns, firsts, starts, posting_rows, posting_lengths, heavy_norms, heavy_lengths = index
    weights, block_rows = left[3], heavy_norms.shape[1]
    kept = heavy_lengths.shape[1]
    light_starts, light_terms, light_lengths, left_heavy_norms, left_heavy_lengths = _terms(left, rows, columns, kept)
    bounds, candidates = np.zeros(block_rows, np.float32), np.empty(block_rows, np.int64)
    lights = np.empty(block_rows, np.float32)
    by_term, products = np.zeros((len(columns), len(weights))), np.empty((len(weights), block_rows))
    i, j, scores = np.empty(256, np.int64), np.empty(256, np.int64), np.empty(256)
    found = postings_read = sifted = computed = 0
    for block in range(len(starts)):
        block_posting_rows = posting_rows[firsts[block] : firsts[block + 1]]
        block_lengths = posting_lengths[firsts[block] : firsts[block + 1]]
        for at, row in enumerate(rows):
            for light in range(light_starts[at], light_starts[at + 1]):
                start, stop = starts[block, light_terms[light]], starts[block, light_terms[light] + 1]
                _add(bounds, block_posting_rows[start:stop], block_lengths[start:stop], light_lengths[light])
                postings_read += stop - start
            slack = _TOLERANCE + _ROUNDING * (left[0][row + 1] - left[0][row] + 8)
            limit = np.float32(max(threshold - slack, _LEAST_BOUND))
            count = _sift(bounds, heavy_norms[block], left_heavy_norms[at], limit, candidates, lights)
            sifted += count
            candidates[:count] += block * block_rows
            if kept:
                count = _sift_again(candidates[:count], lights, heavy_lengths, left_heavy_lengths[at], limit)
            if count == 0:
                continue
            computed += count
            if found + count > len(i):
                i, j, scores = _grown(i, found + count), _grown(j, found + count), _grown(scores, found + count)
            lay_out(left, row, by_term)
            dots(right, candidates[:count], by_term, products)
            clear(left, row, by_term)
            for place in range(count):
                score = 0.0
                for part in range(len(weights)):
                    score += weights[part] * products[part, place]
                if score > 0.0 and score >= threshold - _TOLERANCE:
                    i[found], j[found], scores[found] = row, candidates[place], score
                    found += 1
    return i[:found], j[:found], scores[:found], postings_read, sifted, computed


@compiled
def _terms(left: Arrays, rows: NDArray[np.int64], columns: NDArray[np.int32], kept: int) -> Any:
    """Give (starts, terms, lengths) of some rows' light terms, the norms of their heavy ones, and these in columns."""
    row_starts, row_terms, values, weights = left
    entries = 0
    for row in rows:
        entries += row_starts[row + 1] - row_starts[row]
    starts, heavy_norms = np.zeros(len(rows) + 1, np.int64), np.empty(len(rows), np.float32)
    terms, lengths = np.empty(entries, np.int32), np.empty(entries, np.float32)
    heavy_lengths = np.zeros((len(rows), kept), np.float32)
    count = 0
    for at, row in enumerate(rows):
        heavy_square = 0.0
        for entry in range(row_starts[row], row_starts[row + 1]):
            term, length = row_terms[entry], entry_length(values, weights, entry)
            if columns[term] >= 0:
                heavy_square += length**2
                if kept:
                    heavy_lengths[at, columns[term]] = length
            else:
                terms[count], lengths[count] = term, length
                count += 1
        heavy_norms[at], starts[at + 1] = np.sqrt(heavy_square), count
    return starts, terms, lengths, heavy_norms, heavy_lengths


@compiled
def _add(
    bounds: NDArray[np.float32], rows: NDArray[np.uint16], lengths: NDArray[np.float32], length: np.float32
) -> None:
    for place in range(len(rows)):
        bounds[rows[place]] += length * lengths[place]


@compiled
def _sift(
    bounds: NDArray[np.float32],
    heavy_norms: NDArray[np.float32],
    heavy_norm: np.float32,
    limit: np.float32,
    candidates: NDArray[np.int64],
    light_bounds: NDArray[np.float32],
) -> int:
    """Write the places whose bound reaches the limit to `candidates`, the bounds of their light terms to
    `light_bounds`; give how many there are, and set `bounds` to 0.
    """
    count = 0
    for start in range(0, len(bounds), SLICE_ROWS):
        lights, norms = bounds[start : start + SLICE_ROWS], heavy_norms[start : start + SLICE_ROWS]
        hits = 0
        for at in range(SLICE_ROWS):  # becomes vector instructions, because it always runs to its end
            hits += lights[at] + heavy_norm * norms[at] >= limit
        if hits:
            for at in range(SLICE_ROWS):
                if lights[at] + heavy_norm * norms[at] >= limit:
                    candidates[count], light_bounds[count] = start + at, lights[at]
                    count += 1
        for at in range(SLICE_ROWS):
            lights[at] = 0
    return count


@compiled
def _sift_again(
    candidates: NDArray[np.int64],
    light_bounds: NDArray[np.float32],
    heavy_lengths: NDArray[np.float32],
    mine: NDArray[np.float32],
    limit: np.float32,
) -> int:
    """Keep the candidates that reach the limit when each heavy term is bounded by itself; give how many these are."""
    count = 0
    lanes = np.zeros(LANES, np.float32)
    for place in range(len(candidates)):
        theirs = heavy_lengths[candidates[place]]
        lanes[:] = 0
        for start in range(0, len(mine), LANES):
            for lane in range(LANES):  # becomes vector instructions
                lanes[lane] += mine[start + lane] * theirs[start + lane]
        bound = light_bounds[place]
        for lane in range(LANES):
            bound += lanes[lane]
        if bound >= limit:
            candidates[count] = candidates[place]
            count += 1
    return count


@compiled
def _grown(array: NDArray[Any], size: int) -> Any:
    grown = np.empty(max(size, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown

"""Exact dot products of pairs of rows: one row laid out by term, the other walked.

They add up over the shared terms only, in the order of the terms' spelling, one part after the other: the same to
the last bit from either side, for one pair or for many.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from suggestion_service.engine.vectors import Arrays


@njit(nogil=True, cache=True)
def desk(left: Arrays, right: Arrays, width: int) -> Any:
    """Give the room that a left row is laid out in, and that of a right row's walk: what `lay_out` and `dots` take."""
    longest = 0
    for row in range(len(right[0]) - 1):
        longest = max(longest, right[0][row + 1] - right[0][row])
    parts = len(left[3])
    return np.zeros(width, np.uint8), np.empty((width, parts)), np.empty(longest + 1, np.int64), np.empty(parts)


@njit(nogil=True, cache=True)
def lay_out(vectors: Arrays, row: int, present: NDArray[np.uint8], by_term: NDArray[np.float64]) -> None:
    """Mark a row's terms in `present` (width,), and write its values to `by_term` (width, parts)."""
    starts, terms, values, weights = vectors
    for entry in range(starts[row], starts[row + 1]):
        present[terms[entry]] = 1
        for part in range(len(weights)):
            by_term[terms[entry], part] = values[part, entry]


@njit(nogil=True, cache=True)
def clear(vectors: Arrays, row: int, present: NDArray[np.uint8]) -> None:
    """Unmark a row's terms."""
    starts, terms, _, _ = vectors
    for entry in range(starts[row], starts[row + 1]):
        present[terms[entry]] = 0


@njit(nogil=True, cache=True)
def dots(
    vectors: Arrays,
    row: int,
    present: NDArray[np.uint8],
    by_term: NDArray[np.float64],
    shared: NDArray[np.int64],
    result: NDArray[np.float64],
) -> None:
    """Write the dot products of a row with the one laid out to `result` (parts,)."""
    starts, terms, values, _ = vectors
    count = 0
    for entry in range(starts[row], starts[row + 1]):
        shared[count] = entry  # without a branch: a processor cannot foresee which terms are shared
        count += present[terms[entry]]
    for part in range(len(result)):
        total = 0.0
        for place in range(count):
            total += by_term[terms[shared[place]], part] * values[part, shared[place]]
        result[part] = total


@njit(nogil=True, cache=True)
def dots_of_pairs(left: Arrays, i: NDArray[np.int64], right: Arrays, j: NDArray[np.int64], width: int) -> Any:
    """Give the dot products of the pairs (i[k], j[k]), shape (parts, pairs)."""
    present, by_term, shared, result = desk(left, right, width)
    products = np.empty((len(result), len(i)))
    for pair in range(len(i)):
        if pair == 0 or i[pair] != i[pair - 1]:
            if pair > 0:
                clear(left, i[pair - 1], present)
            lay_out(left, i[pair], present, by_term)
        dots(right, j[pair], present, by_term, shared, result)
        products[:, pair] = result
    return products

"""Products of vectors of whole numbers: compiled, and exact in any order. Twice and more as fast as a matrix product
of floats, for what counts is how many bytes are read.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.compiled import compiled
from suggestion_service.engine.embedding import ROUNDING

Whole = NDArray[np.int16]
Ints = NDArray[np.int64]


@compiled
def _product(left: Whole, i: int, right: Whole, j: int) -> Any:
    total = np.int32(0)
    for place in range(left.shape[1]):  # becomes vector instructions
        # Said to be of 32 bits at each step: numba would widen it to 64, which takes three times as long.
        total = np.int32(total + np.int32(np.int32(left[i, place]) * np.int32(right[j, place])))
    return total


@compiled
def products_with_all(left: Whole, i: Ints, right: Whole) -> Any:
    """Give the products (len(i), len(right)) of some rows with all rows of `right`, which are read once."""
    products = np.empty((len(i), len(right)), np.int32)
    for j in range(len(right)):
        for place in range(len(i)):
            products[place, j] = _product(left, i[place], right, j)
    return products


@compiled
def products_of_pairs(left: Whole, i: Ints, right: Whole, j: Ints) -> Any:
    """Give the product of each pair of rows (i[k], j[k])."""
    products = np.empty(len(i), np.int32)
    for pair in range(len(i)):
        products[pair] = _product(left, i[pair], right, j[pair])
    return products


@compiled
def sums_of_best(left: Whole, starts: Ints, i: Ints, right: Whole, right_starts: Ints, j: Ints) -> Any:
    """Give for each pair of groups (i[k], j[k]) the sum, over the rows of the first, of the best product with a row of
    the second. Group g has the rows from starts[g] to starts[g + 1], at least one.
    """
    sums = np.empty(len(i), np.int64)
    for pair in range(len(i)):
        total = 0
        for mine in range(starts[i[pair]], starts[i[pair] + 1]):
            best = _product(left, mine, right, right_starts[j[pair]])
            for theirs in range(right_starts[j[pair]] + 1, right_starts[j[pair] + 1]):
                best = max(best, _product(left, mine, right, theirs))
            total += best
        sums[pair] = total
    return sums


@compiled
def most_alike(words: Any, alive: Any, cosines: Any, rows: Ints, weights: Any, passages_from: float) -> Any:
    """Give for each slot what the likeness of words, whole texts and passages, of these `weights`, does not exceed;
    see `EmbeddedLikeness`; 0 for one that is not `alive`. `words` (slots,) bounds that of the words; `cosines` are by
    the `rows` that slots have, -1 for none.
    """
    of_words, of_whole, of_passages = weights
    most = np.zeros(len(words), np.float32)
    for slot in range(len(words)):
        if not alive[slot]:
            continue
        cosine = words[slot] if rows[slot] < 0 else cosines[rows[slot]]
        first = of_words * words[slot] + (of_whole + of_passages) * cosine
        if rows[slot] >= 0 and first >= passages_from - ROUNDING:
            first += of_passages * (1.0 - cosine)
        most[slot] = first + ROUNDING
    return most

"""Products of vectors of whole numbers, exact in any order: see native/products.c."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.native import bools, doubles, floats, ints, library, longs, shorts

Whole = NDArray[np.int16]


def products_with_all(left: Whole, i: Ints, right: Whole) -> NDArray[np.int32]:
    """Return the products (len(i), len(right)) of some rows with all rows of `right`, which are read once."""
    products = np.empty((len(i), len(right)), np.int32)
    rows, dimensions = right.shape
    library().multiply_with_all(shorts(left), longs(i), len(i), shorts(right), rows, dimensions, ints(products))
    return products


def products_of_pairs(left: Whole, i: Ints, right: Whole, j: Ints) -> NDArray[np.int32]:
    """Return the product of each pair of rows (i[k], j[k])."""
    products = np.empty(len(i), np.int32)
    library().multiply_pairs(shorts(left), longs(i), shorts(right), longs(j), len(i), right.shape[1], ints(products))
    return products


def sums_of_best(left: Whole, starts: Ints, i: Ints, right: Whole, right_starts: Ints, j: Ints) -> Ints:
    """Return for each pair of groups (i[k], j[k]) the sum, over the rows of the first, of the best product with a row
    of the second. Group g has the rows from starts[g] to starts[g + 1], at least one.
    """
    sums = np.empty(len(i), np.int64)
    library().sum_best_of_groups(
        shorts(left),
        longs(starts),
        longs(i),
        shorts(right),
        longs(right_starts),
        longs(j),
        len(i),
        right.shape[1],
        longs(sums),
    )
    return sums


def upper_bounds(
    words: NDArray[np.float32],
    alive: Bools,
    cosines: Floats,
    rows: Ints,
    weights: tuple[float, float, float],
    passages_from: float,
    rounding: float,
) -> NDArray[Any]:
    """Return for each row what the similarity of words, whole texts and passages, of these `weights`, does not exceed;
    see `EmbeddedSimilarity`; 0 for one that is not `alive`. `words` (rows,) bounds that of the words; `cosines` are by
    `rows` of embeddings, -1 for none. `rounding` is more than it can be off by in single precision.
    """
    most = np.empty(len(words), np.float32)
    library().bound_embedded_similarity(
        floats(words),
        bools(alive),
        doubles(cosines),
        longs(rows),
        len(words),
        *weights,
        passages_from,
        rounding,
        floats(most),
    )
    return most

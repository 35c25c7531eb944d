"""Products of vectors of whole numbers, exact in any order: see native/products.c."""

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Ints
from suggestion_service.engine.native import call

Whole = NDArray[np.int16]


def products_with_all(left: Whole, i: Ints, right: Whole) -> NDArray[np.int32]:
    """Return the products (len(i), len(right)) of some rows with all rows of `right`, which are read once."""
    products = np.empty((len(i), len(right)), np.int32)
    rows, dimensions = right.shape
    call("multiply_with_all", left, i, len(i), right, rows, dimensions, products)
    return products


def products_of_pairs(left: Whole, i: Ints, right: Whole, j: Ints) -> NDArray[np.int32]:
    """Return the product of each pair of rows (i[k], j[k])."""
    products = np.empty(len(i), np.int32)
    call("multiply_pairs", left, i, right, j, len(i), right.shape[1], products)
    return products


def sums_of_best(left: Whole, starts: Ints, i: Ints, right: Whole, right_starts: Ints, j: Ints) -> Ints:
    """Return for each pair of groups (i[k], j[k]) the sum, over the rows of the first, of the best product with a row
    of the second. Group g has the rows from starts[g] to starts[g + 1], at least one.
    """
    sums = np.empty(len(i), np.int64)
    call("sum_best_of_groups", left, starts, i, right, right_starts, j, len(i), right.shape[1], sums)
    return sums

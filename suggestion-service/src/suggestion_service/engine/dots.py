"""Exact dot products of a row with others: the one laid out by term, the others walked.

What a pair shares is added up in the order of the terms' spelling, and what it does not share adds 0: the same to the
last bit from either side, for one pair or for many.
"""

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.compiled import compiled
from suggestion_service.engine.vectors import Arrays


@compiled
def lay_out(vectors: Arrays, row: int, by_term: NDArray[np.float64]) -> None:
    """Write a row's values to `by_term`, shape (width, parts), which is 0 elsewhere."""
    starts, terms, values, weights = vectors
    for entry in range(starts[row], starts[row + 1]):
        for part in range(len(weights)):
            by_term[terms[entry], part] = values[part, entry]


@compiled
def clear(vectors: Arrays, row: int, by_term: NDArray[np.float64]) -> None:
    """Write 0 where a row was laid out."""
    starts, terms, _, _ = vectors
    for entry in range(starts[row], starts[row + 1]):
        by_term[terms[entry]] = 0.0


@compiled
def dots(vectors: Arrays, rows: NDArray[np.int64], by_term: NDArray[np.float64], products: NDArray[np.float64]) -> None:
    """Write the dot products of some rows with the one laid out to `products`, shape (parts, at least rows)."""
    starts, terms, values, weights = vectors
    other = len(weights) - 1  # both parts in one walk; where there is one part, it is walked twice at no cost
    for place, row in enumerate(rows):
        first_sum, other_sum = 0.0, 0.0
        for entry in range(starts[row], starts[row + 1]):
            first_sum += by_term[terms[entry], 0] * values[0, entry]
            other_sum += by_term[terms[entry], other] * values[other, entry]
        products[0, place], products[other, place] = first_sum, other_sum

"""The k largest of many values."""

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.native import call


def top_k(values: NDArray[np.float32], k: int) -> Ints:
    """Return the places of the `k` largest values above 0, of all such where they are fewer."""
    places = np.empty(k, np.int64)
    found = call("find_largest", values, len(values), k, places)
    return places[:found]


def merge_top_k(best: Floats, rows: Ints, values: Floats) -> None:
    """Put values where they belong among the best of their rows, (rows, k), best first."""
    call("put_among_best", best, best.shape[1], rows, values, len(rows))

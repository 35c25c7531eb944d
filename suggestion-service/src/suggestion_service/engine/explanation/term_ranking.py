"""The shared terms of many pairs, ranked at once: which weigh most, which are rarest, and what is left out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints

DECIMALS = 9
"""Weights that differ by less are the same: sums of them may differ by their rounding."""
_UNSURE = 1e-3


class TermRanking(NamedTuple):
    """Of the matches of many pairs, given by their places, pair after pair.

    `best` weigh most, best first: those of pair k from `starts[k]` to `starts[k + 1]`. `rarest` and `next` are for each
    pair the ones of them that the fewest items have, -1 where there is none. Of each pair `others` are left out, which
    weigh `other_weight` together.
    """

    best: Ints
    starts: Ints
    rarest: Ints
    next: Ints
    others: Ints
    other_weight: Floats


def rank_terms(pair: Ints, weights: Floats, frequencies: Ints, pairs: int, most: int) -> TermRanking:
    """Rank matches, by pair and within a pair in the order of the terms' spelling, which decides among equals.

    `pair` is the number of each one's pair, below `pairs`; up to `most` of each are ranked.
    """
    order = np.lexsort((-_rounded(weights), pair))
    starts = np.searchsorted(pair, np.arange(pairs + 1))
    among_best = np.arange(len(order)) - starts[pair] < most
    best, left = order[among_best], np.sort(order[~among_best])
    best_starts = np.searchsorted(pair[best], np.arange(pairs + 1))
    spelt = np.sort(best)
    other_weight = np.bincount(pair[left], weights[left], minlength=pairs)
    by_rarity = spelt[np.lexsort((frequencies[spelt], pair[spelt]))]
    return TermRanking(
        best,
        best_starts,
        _at(by_rarity, best_starts, 0),
        _at(by_rarity, best_starts, 1),
        np.bincount(pair[left], minlength=pairs),
        other_weight.astype(np.float64),
    )


def _rounded(weights: Floats) -> Floats:
    """Return weights as whole numbers of their last decimal, rounded as `round` does."""
    scaled = weights * 10.0**DECIMALS
    rounded: Floats = np.rint(scaled)
    # The product is rounded itself: what lies half-way is looked at one by one.
    for place in np.flatnonzero(np.abs(np.abs(scaled - rounded) - 0.5) < _UNSURE).tolist():
        rounded[place] = np.rint(round(float(weights[place]), DECIMALS) * 10.0**DECIMALS)
    return rounded


def _at(matches: Ints, starts: Ints, place: int) -> Ints:
    """Return for each pair its match at a place, -1 where it has fewer."""
    at = starts[:-1] + place
    there = at < starts[1:]
    found: NDArray[np.int64] = np.full(len(at), -1)
    found[there] = matches[at[there]]
    return found

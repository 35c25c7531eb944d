"""How similar the nearest neighbours of items are: what keeps a hub, an item that resembles all, from crowding in."""

from collections.abc import Iterator, Mapping

import numpy as np

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.corpus.query import OTHER, RowQuery, Side
from suggestion_service.engine.lexical.similarity import ScoredPairs, Similarity
from suggestion_service.engine.lexical.top_k import merge_top_k

NEIGHBOURS = 4
_MISSING = 0.3
"""What a neighbour counts that is not there, on a side with fewer items."""
_FEW = 0.02
"""The share of a side up to which items are looked up one by one; for more, everything is multiplied once."""


class Neighbourhoods:
    """The mean similarity of each item's nearest neighbours on the other side, of one snapshot; found when asked for.

    Each neighbour counts `floor` at least. Below is only noise, and finding it costs most.
    """

    def __init__(self, similarity: Similarity, views: Mapping[Side, StoreView], floor: float) -> None:
        self._similarity = similarity
        self._views = views
        self._floor = floor
        self._means: dict[Side, Floats] = {side: np.full(len(view), np.nan) for side, view in views.items()}

    def means(self, side: Side, rows: Ints) -> Floats:
        """Return the means of some items, `floor` to 1."""
        means = self._means[side]
        unknown = np.unique(rows[np.isnan(means[rows])])
        if len(unknown) > max(8, _FEW * self._views[side].count):
            everything = RowQuery("requirement", self._views["requirement"].live_rows(), self._floor)
            for _ in self.observe(self._similarity.pairs(everything)):
                pass
        else:
            nearest = self._similarity.nearest(RowQuery(side, unknown, self._floor), NEIGHBOURS)
            means[unknown] = self._mean(nearest, side)
        return self._means[side][rows]

    def lower_bounds(self, side: Side, rows: Ints) -> Floats:
        """Return what the means of some items do not fall below: the means themselves where they are known."""
        means = self._means[side][rows]
        missing = np.isnan(means)
        unknown, which = np.unique(rows[missing], return_inverse=True)
        near = self._similarity.near(RowQuery(side, unknown, self._floor), NEIGHBOURS)
        means[missing] = self._mean(near, side)[which]
        return means

    def observe(self, everything: Iterator[ScoredPairs]) -> Iterator[ScoredPairs]:
        """Pass on all pairs of all requirements, from `floor` or below upwards. The means of the requirements that
        were passed on are known at once, those of the test cases at the end.
        """
        best = {side: np.full((len(view), NEIGHBOURS), self._floor) for side, view in self._views.items()}
        for pairs in everything:
            merge_top_k(best["requirement"], pairs.requirements, pairs.similarity)
            merge_top_k(best["test_case"], pairs.test_cases, pairs.similarity)
            self._means["requirement"][pairs.rows] = self._mean(best["requirement"][pairs.rows], "requirement")
            yield pairs
        self._means["test_case"] = self._mean(best["test_case"], "test_case")

    def _mean(self, nearest: Floats, side: Side) -> Floats:
        """Return the means of rows, best first, added up in this order: the same to the last bit for all."""
        there = self._views[OTHER[side]].count
        total = np.zeros(len(nearest))
        for place in range(NEIGHBOURS):
            total += nearest[:, place] if place < there else _MISSING
        return total / NEIGHBOURS

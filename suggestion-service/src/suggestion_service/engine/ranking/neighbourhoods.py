"""How alike the nearest neighbours of items are: what keeps an item that resembles everything from crowding in."""

from collections.abc import Iterator, Mapping

import numpy as np

from suggestion_service.engine.corpus.column_store import Floats, Ints, ShelfView, Side
from suggestion_service.engine.lexical.inverted_index import keep_best
from suggestion_service.engine.lexical.similarity import Alike, Likeness

NEIGHBOURS = 4
_MISSING = 0.3
"""What a neighbour counts that is not there, on a side with fewer items."""
_FEW = 0.02
"""The share of a side up to which items are looked up one by one; for more, everything is multiplied once."""


class Neighbourhoods:
    """The mean likeness of each item's nearest neighbours on the other side, of one snapshot; worked out when asked."""

    def __init__(self, likeness: Likeness, views: Mapping[Side, ShelfView], least: float) -> None:
        """`least`: what a neighbour counts at least. Below is only noise, and finding it costs most."""
        self._likeness = likeness
        self._views = views
        self._least = least
        self._means: dict[Side, Floats] = {side: np.full(view.slots, np.nan) for side, view in self._views.items()}

    def means(self, side: Side, slots: Ints) -> Floats:
        """Return the means of some items, `least` to 1."""
        means = self._means[side]
        unknown = np.unique(slots[np.isnan(means[slots])])
        if len(unknown) > max(8, _FEW * self._views[side].count):
            for _ in self.seen(self._likeness.of_many("requirement", self._views["requirement"].living(), self._least)):
                pass
        else:
            means[unknown] = self._mean(self._likeness.nearest(side, unknown, NEIGHBOURS, self._least), side)
        return self._means[side][slots]

    def at_least(self, side: Side, slots: Ints) -> Floats:
        """Return what the means of some items do not fall below: the means themselves where they are known."""
        means = self._means[side][slots]
        missing = np.isnan(means)
        unknown, which = np.unique(slots[missing], return_inverse=True)
        means[missing] = self._mean(self._likeness.near(side, unknown, NEIGHBOURS, self._least), side)[which]
        return means

    def seen(self, everything: Iterator[Alike]) -> Iterator[Alike]:
        """Pass on all pairs of all requirements, from `least` or below upwards. The means of the requirements that
        were passed on are known at once, those of the test cases at the end.
        """
        best = {side: np.full((view.slots, NEIGHBOURS), self._least) for side, view in self._views.items()}
        for alike in everything:
            keep_best(best["requirement"], alike.requirements, alike.likeness)
            keep_best(best["test_case"], alike.test_cases, alike.likeness)
            self._means["requirement"][alike.slots] = self._mean(best["requirement"][alike.slots], "requirement")
            yield alike
        self._means["test_case"] = self._mean(best["test_case"], "test_case")

    def _mean(self, nearest: Floats, side: Side) -> Floats:
        """Return the means of rows, best first, added up in this order: the same to the last bit for all."""
        other: Side = "test_case" if side == "requirement" else "requirement"
        there = self._views[other].count
        total = np.zeros(len(nearest))
        for place in range(NEIGHBOURS):
            total += nearest[:, place] if place < there else _MISSING
        return total / NEIGHBOURS

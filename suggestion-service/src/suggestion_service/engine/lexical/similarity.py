"""How alike texts are: cosines of weighted terms, exact, one item against all or everything against everything."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import Floats, Ints, ShelfView, Side
from suggestion_service.engine.lexical.all_pairs import Blocks, Vectors, pairs_at_least
from suggestion_service.engine.lexical.inverted_index import (
    Index,
    estimates,
    exact,
    index_of,
    keep_best,
    largest,
    likely,
    shared,
    unit_values,
)

_FEW = 32
"""So many items are looked up in the index one by one; more are multiplied at once."""
_ROWS_AT_ONCE = 1024
LOOKED_UP_AT_ONCE = 8
"""So many items have their embeddings compared with all others in one go."""
_PROMISING = 16
"""So many others are compared first, to learn what the nearest ones reach."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Pairs of slots with their likeness, 0..1: parallel arrays; found for the items in `slots`, of the side asked
    for, among `pairs` that were looked at.
    """

    requirements: Ints
    test_cases: Ints
    likeness: Floats
    slots: Ints
    pairs: int

    def only(self, kept: NDArray[np.bool_]) -> "Alike":
        """Return some of the pairs."""
        return replace(
            self, requirements=self.requirements[kept], test_cases=self.test_cases[kept], likeness=self.likeness[kept]
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """What terms add to the cosines of pairs: `products` (parts, matches) of `terms` (matches,), with the place of
    their pair in `pair`, ascending. `cosines` (parts, pairs) is what they add up to.
    """

    pair: Ints
    terms: NDArray[np.int32]
    products: Floats
    cosines: Floats


class Bounds(NamedTuple):
    """What the likeness of one item with each slot of the other side does not exceed, 0 for the dead ones; and what
    that of their words does not.
    """

    most: NDArray[Any]
    words: NDArray[Any]


class Part(NamedTuple):
    """One part of the likeness, or of the scores, of pairs: its own score, and its weight in the whole."""

    score: Floats
    weight: Floats


class Likeness:
    """The likeness of the texts of one snapshot: sum over parts of weight x cosine.

    `scales` (parts, terms): the weight of each term in each part, 0 for a term that nobody uses. A pair's likeness
    is the same to the last bit whoever asks.
    """

    multiplies = True
    """Whether many items may be multiplied at once."""

    def __init__(self, name: str, views: Mapping[Side, ShelfView], scales: Floats, weights: Floats) -> None:
        self.weights = weights
        self._name = name
        self._views = views
        self._scales = scales
        self._blocks: tuple[Side, float, Blocks] | None = None
        self._indexes: dict[Side, tuple[Index, float]] = {}
        self._last: tuple[tuple[Side, bytes], list[Bounds]] | None = None

    def looks_up(self, items: int) -> bool:
        """Check whether so many items are looked up one by one."""
        return items <= _FEW or not self.multiplies

    def nearest(self, side: Side, slots: Ints, count: int, least: float) -> Floats:
        """Return (slots, count) the greatest likenesses of each item with the other side, best first; not less than
        `least`.
        """
        best = np.full((len(slots), count), least)
        for start in range(0, len(slots), LOOKED_UP_AT_ONCE):
            part = slots[start : start + LOOKED_UP_AT_ONCE]
            for place, bounds in enumerate(self._bounds_of(side, part), start):
                promising = largest(bounds.most, _PROMISING)
                reached = np.full((1, count), least)
                keep_best(reached, np.zeros(len(promising), np.int64), self._exact(side, slots[place], promising))
                others = self._reaching(side, slots[place], bounds, reached[0, -1])
                keep_best(best, np.full(len(others), place), self._exact(side, slots[place], others))
        return best

    def near(self, side: Side, slots: Ints, count: int, least: float) -> Floats:
        """Return (slots, count) likenesses of each item with some others that are like it, best first; not less than
        `least`. They bound those of the nearest from below, and take a fraction of the time.
        """
        best = np.full((len(slots), count), least)
        index, _ = self._index(side)
        for place, slot in enumerate(slots.tolist()):
            others = likely(index, self._item(side, slot), self._scales[0], _PROMISING)
            others = others[self._views[OTHER[side]].alive[others]]
            keep_best(best, np.full(len(others), place), self._exact(side, slot, others))
        return best

    def _bounds_of(self, side: Side, slots: Ints) -> list["Bounds"]:
        """Return the bounds of a few items; kept, for whose neighbours are known is looked up next."""
        asked = side, slots.tobytes()
        if self._last is None or self._last[0] != asked:
            self._last = asked, list(self._bounds(side, slots))
        return self._last[1]

    def _bounds(self, side: Side, slots: Ints) -> Iterator["Bounds"]:
        for slot in slots.tolist():
            most = self._estimates(side, slot)
            most[~self._views[OTHER[side]].alive] = 0.0
            yield Bounds(most, most)

    def _reaching(self, side: Side, slot: int, bounds: "Bounds", threshold: float) -> Ints:
        """Return the slots of the other side that may be alike an item by `threshold` or more, and by more than 0."""
        return np.flatnonzero(bounds.most >= threshold if threshold > 0.0 else bounds.most > 0.0)

    def _estimates(self, side: Side, slot: int) -> NDArray[np.float32]:
        """Return for each slot of the other side what its likeness with an item does not exceed."""
        item, asked = self._item(side, slot), self._views[OTHER[side]]
        return estimates(asked, *self._index(side), item, self._scales, self.weights)

    def _index(self, side: Side) -> tuple[Index, float]:
        if side not in self._indexes:
            self._indexes[side] = index_of(self._views[OTHER[side]], self._scales, self._name)
        return self._indexes[side]

    def _exact(self, side: Side, slot: int, others: Ints) -> Floats:
        cosines = exact(*self._item(side, slot), self._views[OTHER[side]], others, self._scales)
        return combined(cosines, self.weights)

    def _item(self, side: Side, slot: int) -> tuple[NDArray[np.int32], Floats]:
        view = self._views[side]
        entries = slice(*view.starts[slot : slot + 2].tolist())
        return view.terms[entries], view.counts[entries]

    def of_many(self, side: Side, slots: Ints, threshold: float, rows_at_once: int = 0) -> Iterator[Alike]:
        """Return all pairs of some items with the other side, at `threshold` or above and not 0, part by part."""
        few = self.looks_up(len(slots))
        step = rows_at_once or (LOOKED_UP_AT_ONCE if few else _ROWS_AT_ONCE)
        for start in range(0, len(slots), step):
            part = slots[start : start + step]
            yield (
                self.looked_up(side, part, np.full(len(part), threshold))
                if few
                else self._multiplied(side, part, threshold)
            )

    def matches(self, requirements: Ints, test_cases: Ints) -> "Matches":
        """Say for pairs of slots what each term adds to the cosines."""
        starts, terms, products = shared(
            self._views["requirement"], requirements, self._views["test_case"], test_cases, self._scales
        )
        pair_of = np.repeat(np.arange(len(requirements)), np.diff(starts))
        # One after the other, as all sums over a pair run; NumPy's own go by pairs of numbers.
        cosines = [np.bincount(pair_of, part, minlength=len(requirements)) for part in products]
        return Matches(pair_of, terms, products, np.array(cosines, np.float64))

    def parts(self, requirements: Ints, test_cases: Ints, matches: "Matches") -> tuple[dict[str, "Part"], Floats]:
        """Return the parts of the likeness of pairs of slots, those of the words first; and what they add up to."""
        names = ("semantic", "keyword")
        parts = {
            name: Part(cosines, np.full(len(requirements), weight))
            for name, cosines, weight in zip(names, matches.cosines, self.weights, strict=True)
        }
        return parts, combined(matches.cosines, self.weights)

    def looked_up(self, side: Side, slots: Ints, thresholds: Floats) -> Alike:
        """Return all pairs of a few items with the other side, at the threshold of each or above and not 0."""
        found = []
        for slot, bounds, threshold in zip(
            slots.tolist(), self._bounds_of(side, slots), thresholds.tolist(), strict=True
        ):
            others = self._reaching(side, slot, bounds, threshold)
            likeness = self._exact(side, slot, others)
            kept = (likeness >= threshold) & (likeness > 0.0)
            found.append((np.full(int(kept.sum()), slot), others[kept], likeness[kept]))
        mine, theirs, likenesses = (np.concatenate(column) for column in zip(*found, strict=True))
        return self._alike(side, slots, mine, theirs, likenesses)

    def _alike(self, side: Side, slots: Ints, mine: Ints, theirs: Ints, likeness: Floats) -> Alike:
        i, j = (mine, theirs) if side == "requirement" else (theirs, mine)
        return Alike(i, j, likeness, slots, len(slots) * self._views[OTHER[side]].count)

    def _multiplied(self, side: Side, slots: Ints, threshold: float) -> Alike:
        if self._blocks is None or self._blocks[:2] != (side, threshold):
            self._blocks = (side, threshold, Blocks(self._vectors[OTHER[side]], self._vectors[side], threshold))
        mine, theirs, likeness = pairs_at_least(self._vectors[side], slots, self._blocks[2])
        found = (likeness >= threshold) & (likeness > 0.0)
        return self._alike(side, slots, mine[found], theirs[found], likeness[found])

    @cached_property
    def _vectors(self) -> dict[Side, Vectors]:
        return {
            side: Vectors(view.starts, view.terms, unit_values(view, self._scales), self.weights, self._scales.shape[1])
            for side, view in self._views.items()
        }


def combined(parts: Floats, weights: Floats) -> Floats:
    """Return the likeness of pairs from the cosines (parts, pairs) of its parts."""
    likeness: Floats = weights[0] * parts[0]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        likeness = likeness + weight * part
    return likeness


OTHER: dict[Side, Side] = {"requirement": "test_case", "test_case": "requirement"}

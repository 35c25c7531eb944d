"""Similarity of texts: cosines of weighted terms, exact, one item against all or everything against everything."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.corpus.query import OTHER, RowQuery, Side
from suggestion_service.engine.lexical.all_pairs import SearchIndex, SparseVectors, pairs_at_least
from suggestion_service.engine.lexical.inverted_index import (
    InvertedIndex,
    Item,
    cosines_with,
    index_of,
    rows_sharing_rarest,
    shared_terms,
    unit_values,
    upper_bounds,
)
from suggestion_service.engine.lexical.top_k import merge_top_k, top_k

_FEW = 32
"""So many items are looked up in the index one by one; more are multiplied at once."""
_ROWS_AT_ONCE = 1024
LOOKED_UP_AT_ONCE = 8
"""So many items have their embeddings compared with all others in one go."""
_PROMISING = 16
"""So many others are compared first, to learn what the nearest ones reach."""


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Pairs of rows with their similarity, 0..1: parallel arrays; found for the `rows` of the side asked for, among
    `compared` pairs.
    """

    requirements: Ints
    test_cases: Ints
    similarity: Floats
    rows: Ints
    compared: int

    def where(self, mask: Bools) -> "ScoredPairs":
        """Return some of the pairs."""
        i, j, similarity = self.requirements[mask], self.test_cases[mask], self.similarity[mask]
        return replace(self, requirements=i, test_cases=j, similarity=similarity)


@dataclass(frozen=True, slots=True)
class TermProducts:
    """What terms add to the cosines of pairs: `products` (parts, matches) of `terms` (matches,), with the place of
    their pair in `pair`, ascending. `cosines` (parts, pairs) is what they add up to.
    """

    pair: Ints
    terms: NDArray[np.int32]
    products: Floats
    cosines: Floats


class UpperBounds(NamedTuple):
    """What the similarity of one item with each row of the other side does not exceed, 0 for the dead ones; and what
    that of their words does not.
    """

    side: Side
    row: int
    most: NDArray[Any]
    lexical: NDArray[Any]


class Part(NamedTuple):
    """One part of the similarity, or of the scores, of pairs: its own score, and its weight in the whole."""

    score: Floats
    weight: Floats


class Similarity:
    """The similarity of the texts of one snapshot: sum over parts of weight x cosine.

    `scales` (parts, terms): the weight of each term in each part, 0 for a term that no item has. A pair's similarity
    is the same to the last bit whoever asks.
    """

    multiplies = True
    """Whether many items may be multiplied at once."""

    def __init__(
        self, name: str, views: Mapping[Side, StoreView], names: Sequence[str], scales: Floats, weights: Floats
    ) -> None:
        """`names` are those of the parts."""
        self.names = names
        self.weights = weights
        self._name = name
        self._views = views
        self._scales = scales
        self._search_index: tuple[Side, float, SearchIndex] | None = None
        self._indexes: dict[Side, tuple[InvertedIndex, float]] = {}
        self._last: tuple[tuple[Side, bytes], list[UpperBounds]] | None = None

    def looks_up(self, query: RowQuery) -> bool:
        """Check whether the rows of a query are looked up one by one."""
        return len(query.rows) <= _FEW or not self.multiplies

    def pairs(self, query: RowQuery) -> Iterator[ScoredPairs]:
        """Return all pairs that are asked for and not 0, block by block."""
        few = self.looks_up(query)
        for block in query.blocks(LOOKED_UP_AT_ONCE if few else _ROWS_AT_ONCE):
            yield self.look_up(block, np.full(len(block.rows), block.threshold)) if few else self._multiply(block)

    def look_up(self, query: RowQuery, thresholds: Floats) -> ScoredPairs:
        """Return all pairs of a few rows with the other side, at the threshold of each row or above and not 0."""
        found = []
        for bounds, threshold in zip(self._bounds_of(query), thresholds.tolist(), strict=True):
            others = self._candidates(bounds, threshold)
            similarity = self._exact(query.side, bounds.row, others)
            reached = (similarity >= threshold) & (similarity > 0.0)
            found.append((np.full(int(reached.sum()), bounds.row), others[reached], similarity[reached]))
        return self._scored(query, *(np.concatenate(column) for column in zip(*found, strict=True)))

    def nearest(self, query: RowQuery, count: int) -> Floats:
        """Return (rows, count) the greatest similarities of each row with the other side, best first; not less than
        the threshold.
        """
        best = np.full((len(query.rows), count), query.threshold)
        for start in range(0, len(query.rows), LOOKED_UP_AT_ONCE):
            block = query._replace(rows=query.rows[start : start + LOOKED_UP_AT_ONCE])
            for place, bounds in enumerate(self._bounds_of(block), start):
                promising = top_k(bounds.most, _PROMISING)
                reached = np.full((1, count), query.threshold)
                first = np.zeros(len(promising), np.int64)
                merge_top_k(reached, first, self._exact(query.side, bounds.row, promising))
                others = self._candidates(bounds, reached[0, -1])
                merge_top_k(best, np.full(len(others), place), self._exact(query.side, bounds.row, others))
        return best

    def near(self, query: RowQuery, count: int) -> Floats:
        """Return (rows, count) similarities of each row with some others that are like it, best first; not less than
        the threshold. They bound those of the nearest from below, and take a fraction of the time.
        """
        best = np.full((len(query.rows), count), query.threshold)
        index, _ = self._index(query.side)
        for place, row in enumerate(query.rows.tolist()):
            others = rows_sharing_rarest(index, self._item(query.side, row), self._scales[0], _PROMISING)
            others = others[self._views[OTHER[query.side]].alive[others]]
            merge_top_k(best, np.full(len(others), place), self._exact(query.side, row, others))
        return best

    def term_products(self, requirements: Ints, test_cases: Ints) -> TermProducts:
        """Return for pairs of rows what each term adds to the cosines."""
        starts, terms, products = shared_terms(
            self._views["requirement"], requirements, self._views["test_case"], test_cases, self._scales
        )
        pair_of = np.repeat(np.arange(len(requirements)), np.diff(starts))
        # One after the other, as all sums over a pair run; NumPy's own go by pairs of numbers.
        cosines = [np.bincount(pair_of, part, minlength=len(requirements)) for part in products]
        return TermProducts(pair_of, terms, products, np.array(cosines, np.float64))

    def parts(self, requirements: Ints, test_cases: Ints, words: TermProducts) -> tuple[dict[str, Part], Floats]:
        """Return the parts of the similarity of pairs of rows, those of the words first; and what they add up to."""
        parts = {
            name: Part(cosines, np.full(len(requirements), weight))
            for name, cosines, weight in zip(self.names, words.cosines, self.weights, strict=True)
        }
        return parts, weighted_sum(words.cosines, self.weights)

    def _bounds_of(self, query: RowQuery) -> list[UpperBounds]:
        """Return the bounds of a few rows; remembered, for the rows whose neighbours are known are looked up next."""
        key = query.side, query.rows.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, list(self._bounds(query))
        return self._last[1]

    def _bounds(self, query: RowQuery) -> Iterator[UpperBounds]:
        others = self._views[OTHER[query.side]]
        for row in query.rows.tolist():
            item = self._item(query.side, row)
            most = upper_bounds(others, *self._index(query.side), item, self._scales, self.weights)
            most[~others.alive] = 0.0
            yield UpperBounds(query.side, row, most, most)

    def _candidates(self, bounds: UpperBounds, threshold: float) -> Ints:
        """Return the rows of the other side whose similarity may reach `threshold`, and more than 0."""
        return np.flatnonzero(bounds.most >= threshold if threshold > 0.0 else bounds.most > 0.0)

    def _index(self, side: Side) -> tuple[InvertedIndex, float]:
        if side not in self._indexes:
            self._indexes[side] = index_of(self._views[OTHER[side]], self._scales, self._name)
        return self._indexes[side]

    def _exact(self, side: Side, row: int, others: Ints) -> Floats:
        cosines = cosines_with(self._item(side, row), self._views[OTHER[side]], others, self._scales)
        return weighted_sum(cosines, self.weights)

    def _item(self, side: Side, row: int) -> Item:
        view = self._views[side]
        entries = slice(*view.starts[row : row + 2].tolist())
        return view.terms[entries], view.counts[entries]

    def _multiply(self, query: RowQuery) -> ScoredPairs:
        side, threshold = query.side, query.threshold
        if self._search_index is None or self._search_index[:2] != (side, threshold):
            index = SearchIndex(self._vectors[OTHER[side]], self._vectors[side], threshold)
            self._search_index = side, threshold, index
        mine, theirs, similarity = pairs_at_least(self._vectors[side], query.rows, self._search_index[2])
        found = (similarity >= threshold) & (similarity > 0.0)
        return self._scored(query, mine[found], theirs[found], similarity[found])

    def _scored(self, query: RowQuery, mine: Ints, theirs: Ints, similarity: Floats) -> ScoredPairs:
        i, j = (mine, theirs) if query.side == "requirement" else (theirs, mine)
        return ScoredPairs(i, j, similarity, query.rows, len(query.rows) * self._views[OTHER[query.side]].count)

    @cached_property
    def _vectors(self) -> dict[Side, SparseVectors]:
        width = self._scales.shape[1]
        return {
            side: SparseVectors(view.starts, view.terms, unit_values(view, self._scales), self.weights, width)
            for side, view in self._views.items()
        }


def weighted_sum(parts: Floats, weights: Floats) -> Floats:
    """Return the similarity of pairs from the cosines (parts, pairs) of its parts."""
    similarity: Floats = weights[0] * parts[0]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        similarity = similarity + weight * part
    return similarity

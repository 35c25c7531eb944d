"""One item against all of the other side: an inverted index of its rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.lexical.top_k import top_k
from suggestion_service.engine.native import call

Item = tuple[NDArray[np.int32], Floats]
"""The terms of an item and their sublinear counts."""

_UNINDEXED = 1024
"""Newest rows that are looked at one by one before the index is made anew."""
_STALE = 0.15
"""How far inverse document frequencies may drift, relatively, before norms are computed anew."""
_COMMON = 0.25
"""A term is common when more than this share of all rows has it: to look it up takes long and says little."""
_ROUNDING = 1e-4
"""More than sums of float32 can be off by, relatively."""
_RAREST = 4096
"""So many postings of an item's rarest terms are read to find some that are like it."""


@dataclass(frozen=True, slots=True, eq=False)
class InvertedIndex:
    """The first `size` rows by their terms, with the sublinear counts: those of term t from starts[t] to starts[t + 1].

    `common` (terms,) are those that many rows have. `scales` (parts, terms) are the weights of terms at the time when
    `norms` and `common_norms` (parts, rows), those of the common terms alone, were computed; 0 for a term that no row
    had.
    """

    starts: Ints
    rows: NDArray[np.int32]
    counts: NDArray[np.float32]
    size: int
    common: Bools
    scales: Floats
    norms: NDArray[np.float32]
    common_norms: NDArray[np.float32]

    @property
    def postings(self) -> tuple[Ints, int, NDArray[np.int32], NDArray[np.float32]]:
        """What the compiled loops take of the postings: starts, number of terms, rows, counts."""
        return self.starts, len(self.starts) - 1, self.rows, self.counts


def index_of(view: StoreView, scales: Floats, name: str) -> tuple[InvertedIndex, float]:
    """Return an index of all rows but the newest, and how far its norms may be off, relatively.

    `scales` (parts, terms): the weight of each term as of now. An index serves all views of a store until too much
    has changed; it is in their cache by its `name`.
    """
    postings: tuple[Ints, NDArray[np.int32], NDArray[np.float32], int] | None = view.cache.get("postings")
    if postings is None or not postings[3] <= len(view) <= postings[3] + _UNINDEXED:
        postings = view.cache["postings"] = (*_postings(view, scales.shape[1]), len(view))
    index: InvertedIndex | None = view.cache.get(name)
    if index is not None and index.rows is postings[1]:
        drift = _drift(index.scales, scales)
        if drift <= _STALE:
            return index, drift
    common = np.diff(postings[0]) > _COMMON * postings[3]
    norms = _norms(view, scales, postings[3], common)
    view.cache[name] = index = InvertedIndex(*postings, common, scales, *norms)
    return index, 0.0


def upper_bounds(
    view: StoreView, index: InvertedIndex, drift: float, item: Item, scales: Floats, weights: Floats
) -> NDArray[np.float32]:
    """Return for each row, dead ones included, what its similarity with one item does not exceed.

    What common terms add is bounded by their norms.
    """
    bounds, scratch = np.empty(len(view), np.float32), np.empty(index.size, np.float32)
    norms = index.common, index.norms, index.common_norms, index.size
    asked = *item, len(item[0]), scales, *scales.shape, weights
    call("bound_similarity", len(view), *index.postings, *norms, *asked, scratch, bounds)
    bounds *= (1.0 + _ROUNDING) * (1.0 + drift) / (1.0 - drift)
    return bounds


def rows_sharing_rarest(index: InvertedIndex, item: Item, scale: Floats, count: int) -> Ints:
    """Return up to `count` rows, dead ones perhaps, that share the most with an item in its rarest terms.

    `scale` (terms,): the weight of each term.
    """
    terms, counts = item
    order = np.argsort(_lengths(index, terms), kind="stable")
    asked = terms, counts, order, len(terms), scale
    sums = np.zeros(index.size, np.float32)
    sharing, similarity = np.empty(_RAREST, np.int64), np.empty(_RAREST, np.float32)
    arguments = *index.postings, index.norms[0], *asked, _RAREST, sums, sharing, similarity
    found = call("find_sharing_rarest", *arguments)
    return sharing[top_k(similarity[:found], count)]


def _lengths(index: InvertedIndex, terms: NDArray[np.int32]) -> Ints:
    """Return how many postings each of these terms has; none where the index does not know it yet."""
    lengths: Ints = np.zeros(len(terms), np.int64)
    known = terms < len(index.starts) - 1
    lengths[known] = index.starts[terms[known] + 1] - index.starts[terms[known]]
    return lengths


def cosines_with(item: Item, view: StoreView, rows: Ints, scales: Floats) -> Floats:
    """Return the cosines (parts, rows) of one item with some rows, to the last bit those of the other way round."""
    size, (parts, width) = len(item[0]), scales.shape
    place, values, cosines = np.full(width, -1, np.int32), np.empty(size), np.empty((parts, len(rows)))
    others = *view.entries, rows, len(rows), scales, parts, width
    call("write_cosines", *item, size, *others, place, values, cosines)
    return cosines


def unit_values(view: StoreView, scales: Floats) -> Floats:
    """Return the entries (parts, entries) of the unit vectors of all rows, zeros where a row is dead."""
    entries = len(view.terms)
    values = np.empty((len(scales), entries))
    call("write_unit_values", *view.entries, entries, view.alive, len(view), scales, *scales.shape, values)
    return values


def shared_terms(
    left: StoreView, i: Ints, right: StoreView, j: Ints, scales: Floats
) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return what terms add to the cosines of pairs of rows: starts (pairs + 1,), terms, and products (parts, terms).

    The terms of a pair stand in the order of their spelling; their products add up to the cosines.
    """
    parts, width = scales.shape
    most = int(np.minimum(np.diff(left.starts)[i], np.diff(right.starts)[j]).sum())
    starts, terms, products = np.empty(len(i) + 1, np.int64), np.empty(most, np.int32), np.empty((parts, most))
    pairs = *left.entries, i, *right.entries, j, len(i)
    place = np.full(width, -1, np.int64)
    found = call("write_shared", *pairs, scales, parts, width, most, place, starts, terms, products)
    return starts, terms[:found].copy(), products[:, :found].copy()


def _drift(then: Floats, now: Floats) -> float:
    """Return by how much weights have changed, relatively, of the terms that were and are used."""
    drift: float = call("greatest_drift", len(then), then, then.shape[1], now, now.shape[1])
    return drift


def _postings(view: StoreView, width: int) -> tuple[Ints, NDArray[np.int32], NDArray[np.float32]]:
    """Return (starts, rows, counts) of the postings of each term, the rows ascending."""
    starts, terms, counts = view.entries
    bounds = np.zeros(width + 1, np.int64)
    np.cumsum(np.bincount(terms, minlength=width), out=bounds[1:])
    rows, their_counts = np.empty(len(terms), np.int32), np.empty(len(terms), np.float32)
    call("fill_rows_by_term", starts, len(view), terms, counts, bounds[:-1].copy(), rows, their_counts)
    return bounds, rows, their_counts


def _norms(
    view: StoreView, scales: Floats, rows: int, common: Bools
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the norms (parts, rows) of the rows' terms, and those of the common ones alone."""
    norms, of_common = np.empty((len(scales), rows), np.float32), np.empty((len(scales), rows), np.float32)
    call("write_norms", *view.entries, scales, *scales.shape, rows, common, norms, of_common)
    return norms, of_common

"""One item against all of the other side: an inverted index of its rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.lexical.top_k import top_k
from suggestion_service.engine.native import bools, doubles, floats, ints, library, longs

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


def index_of(view: StoreView, scales: Floats, name: str) -> tuple[InvertedIndex, float]:
    """Return an index of all rows but the newest, and how far its norms may be off, relatively.

    `scales` (parts, terms): the weight of each term as of now. An index serves all views of a store until too much
    has changed; it is in their cache by its `name`.
    """
    starts, terms, counts = view.starts, view.terms, view.counts
    postings: tuple[Ints, NDArray[np.int32], NDArray[np.float32], int] | None = view.cache.get("postings")
    if postings is None or not postings[3] <= len(view) <= postings[3] + _UNINDEXED:
        postings = view.cache["postings"] = (*_postings(starts, terms, counts, scales.shape[1]), len(view))
    index: InvertedIndex | None = view.cache.get(name)
    if index is not None and index.rows is postings[1]:
        drift = _drift(index.scales, scales)
        if drift <= _STALE:
            return index, drift
    common = np.diff(postings[0]) > _COMMON * postings[3]
    norms = _norms(starts, terms, counts, scales, postings[3], common)
    view.cache[name] = index = InvertedIndex(*postings, common, scales, *norms)
    return index, 0.0


def upper_bounds(
    view: StoreView,
    index: InvertedIndex,
    drift: float,
    item: tuple[NDArray[np.int32], Floats],
    scales: Floats,
    weights: Floats,
) -> NDArray[np.float32]:
    """Return for each row, dead ones included, what its similarity with one item does not exceed.

    `item`: its terms and sublinear counts. What common terms add is bounded by their norms.
    """
    bounds = np.empty(len(view), np.float32)
    terms, counts = item
    library().bound_similarity(
        len(view),
        longs(index.starts),
        len(index.starts) - 1,
        ints(index.rows),
        floats(index.counts),
        bools(index.common),
        floats(index.norms),
        floats(index.common_norms),
        index.norms.shape[1],
        ints(terms),
        doubles(counts),
        len(terms),
        doubles(scales),
        *scales.shape,
        doubles(weights),
        floats(np.empty(index.norms.shape[1], np.float32)),
        floats(bounds),
    )
    bounds *= (1.0 + _ROUNDING) * (1.0 + drift) / (1.0 - drift)
    return bounds


def rows_sharing_rarest(
    index: InvertedIndex, item: tuple[NDArray[np.int32], Floats], scale: Floats, count: int
) -> Ints:
    """Return up to `count` rows, dead ones perhaps, that share the most with an item in its rarest terms.

    `scale` (terms,): the weight of each term.
    """
    terms, counts = item
    order = np.argsort(_lengths(index, terms), kind="stable")
    sharing, similarity = np.empty(_RAREST, np.int64), np.empty(_RAREST, np.float32)
    found = library().find_sharing_rarest(
        longs(index.starts),
        len(index.starts) - 1,
        ints(index.rows),
        floats(index.counts),
        floats(index.norms[0]),
        ints(terms),
        doubles(counts),
        longs(order),
        len(terms),
        doubles(scale),
        _RAREST,
        floats(np.zeros(index.size, np.float32)),
        longs(sharing),
        floats(similarity),
    )
    return sharing[top_k(similarity[:found], count)]


def _lengths(index: InvertedIndex, terms: NDArray[np.int32]) -> Ints:
    """Return how many postings each of these terms has; none where the index does not know it yet."""
    lengths: Ints = np.zeros(len(terms), np.int64)
    known = terms < len(index.starts) - 1
    lengths[known] = index.starts[terms[known] + 1] - index.starts[terms[known]]
    return lengths


def cosines_with(terms: NDArray[np.int32], counts: Floats, view: StoreView, rows: Ints, scales: Floats) -> Floats:
    """Return the cosines (parts, rows) of one item with some rows, to the last bit those of the other way round."""
    parts, width = scales.shape
    cosines = np.empty((parts, len(rows)))
    library().write_cosines(
        ints(terms),
        doubles(counts),
        len(terms),
        longs(view.starts),
        ints(view.terms),
        doubles(view.counts),
        longs(rows),
        len(rows),
        doubles(scales),
        parts,
        width,
        ints(np.full(width, -1, np.int32)),
        doubles(np.empty(len(terms))),
        doubles(cosines),
    )
    return cosines


def unit_values(view: StoreView, scales: Floats) -> Floats:
    """Return the entries (parts, entries) of the unit vectors of all rows, zeros where a row is dead."""
    parts, width = scales.shape
    values = np.empty((parts, len(view.terms)))
    library().write_unit_values(
        longs(view.starts),
        ints(view.terms),
        doubles(view.counts),
        len(view.terms),
        bools(view.alive),
        len(view),
        doubles(scales),
        parts,
        width,
        doubles(values),
    )
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
    found = library().write_shared(
        longs(left.starts),
        ints(left.terms),
        doubles(left.counts),
        longs(i),
        longs(right.starts),
        ints(right.terms),
        doubles(right.counts),
        longs(j),
        len(i),
        doubles(scales),
        parts,
        width,
        most,
        longs(np.full(width, -1, np.int64)),
        longs(starts),
        ints(terms),
        doubles(products),
    )
    return starts, terms[:found].copy(), products[:, :found].copy()


def _drift(then: Floats, now: Floats) -> float:
    """Return by how much weights have changed, relatively, of the terms that were and are used."""
    drift: float = library().greatest_drift(len(then), doubles(then), then.shape[1], doubles(now), now.shape[1])
    return drift


def _postings(
    starts: Ints, terms: NDArray[np.int32], counts: Floats, width: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.float32]]:
    """Return (starts, rows, counts) of the postings of each term, the rows ascending."""
    bounds = np.zeros(width + 1, np.int64)
    np.cumsum(np.bincount(terms, minlength=width), out=bounds[1:])
    rows, their_counts = np.empty(len(terms), np.int32), np.empty(len(terms), np.float32)
    library().fill_rows_by_term(
        longs(starts),
        len(starts) - 1,
        ints(terms),
        doubles(counts),
        longs(bounds[:-1].copy()),
        ints(rows),
        floats(their_counts),
    )
    return bounds, rows, their_counts


def _norms(
    starts: Ints,
    terms: NDArray[np.int32],
    counts: Floats,
    scales: Floats,
    rows: int,
    common: Bools,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the norms (parts, rows) of the rows' terms, and those of the common ones alone."""
    norms, of_common = np.empty((len(scales), rows), np.float32), np.empty((len(scales), rows), np.float32)
    library().write_norms(
        longs(starts),
        ints(terms),
        doubles(counts),
        doubles(scales),
        *scales.shape,
        rows,
        bools(common),
        floats(norms),
        floats(of_common),
    )
    return norms, of_common

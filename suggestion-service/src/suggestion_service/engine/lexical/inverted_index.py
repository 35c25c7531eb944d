"""One item against all of the other side: an inverted index of its slots."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import Floats, Ints, ShelfView
from suggestion_service.engine.native import bools, doubles, floats, ints, library, longs

_UNINDEXED = 1024
"""Newest slots that are looked at one by one before the index is made anew."""
_STALE = 0.15
"""How far inverse document frequencies may drift, relatively, before norms are computed anew."""
_COMMON = 0.25
"""A term is common when more than so many of all slots hold it: to look it up takes long and says little."""
_ROUNDING = 1e-4
"""More than sums of float32 can be off by, relatively."""
_RAREST = 4096
"""So many postings of an item's rarest terms are read to find some that are like it."""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The slots below `slots` that hold each term, with the sublinear counts: postings from starts[t] to starts[t + 1].

    `common` (terms,) are those that many slots hold. `scales` (parts, terms) are the weights of terms at the time when
    `norms` and `common_norms` (parts, slots), those of the common terms alone, were computed; 0 for a term that nobody
    used.
    """

    starts: Ints
    holders: NDArray[np.int32]
    counts: NDArray[np.float32]
    slots: int
    common: NDArray[np.bool_]
    scales: Floats
    norms: NDArray[np.float32]
    common_norms: NDArray[np.float32]


def index_of(view: ShelfView, scales: Floats, kept_as: str) -> tuple[Index, float]:
    """Return an index of all slots but the newest, and how far its norms may be off, relatively.

    `scales` (parts, terms): the weight of each term as of now. An index serves all views of a shelf until too much
    has changed.
    """
    starts, terms, counts = view.starts, view.terms, view.counts
    postings: tuple[Ints, NDArray[np.int32], NDArray[np.float32], int] | None = view.kept.get("postings")
    if postings is None or not postings[3] <= view.slots <= postings[3] + _UNINDEXED:
        postings = view.kept["postings"] = (*_postings(starts, terms, counts, scales.shape[1]), view.slots)
    index: Index | None = view.kept.get(kept_as)
    if index is not None and index.holders is postings[1]:
        drift = _drift(index.scales, scales)
        if drift <= _STALE:
            return index, drift
    common = np.diff(postings[0]) > _COMMON * postings[3]
    norms = _norms(starts, terms, counts, scales, postings[3], common)
    view.kept[kept_as] = index = Index(*postings, common, scales, *norms)
    return index, 0.0


def estimates(
    view: ShelfView,
    index: Index,
    drift: float,
    asked: tuple[NDArray[np.int32], Floats],
    scales: Floats,
    weights: Floats,
) -> NDArray[np.float32]:
    """Return for each slot, dead ones included, a likeness with one item that the exact one does not exceed.

    `asked`: the terms and sublinear counts of the item. What common terms add is bounded by their norms.
    """
    estimated = np.empty(view.slots, np.float32)
    terms, counts = asked
    library().estimate_likeness(
        view.slots,
        longs(index.starts),
        len(index.starts) - 1,
        ints(index.holders),
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
        floats(estimated),
    )
    estimated *= (1.0 + _ROUNDING) * (1.0 + drift) / (1.0 - drift)
    return estimated


def likely(index: Index, asked: tuple[NDArray[np.int32], Floats], scale: Floats, count: int) -> Ints:
    """Return up to `count` slots, dead ones perhaps, that share the most with an item in its rarest terms.

    `scale` (terms,): the weight of each term.
    """
    terms, counts = asked
    order = np.argsort(_lengths(index, terms), kind="stable")
    sharing, likeness = np.empty(_RAREST, np.int64), np.empty(_RAREST, np.float32)
    found = library().find_sharing_rarest(
        longs(index.starts),
        len(index.starts) - 1,
        ints(index.holders),
        floats(index.counts),
        floats(index.norms[0]),
        ints(terms),
        doubles(counts),
        longs(order),
        len(terms),
        doubles(scale),
        _RAREST,
        floats(np.zeros(index.slots, np.float32)),
        longs(sharing),
        floats(likeness),
    )
    return sharing[largest(likeness[:found], count)]


def _lengths(index: Index, terms: NDArray[np.int32]) -> Ints:
    """Return how many postings each of these terms has; none where the index does not know it yet."""
    lengths: Ints = np.zeros(len(terms), np.int64)
    known = terms < len(index.starts) - 1
    lengths[known] = index.starts[terms[known] + 1] - index.starts[terms[known]]
    return lengths


def exact(terms: NDArray[np.int32], counts: Floats, view: ShelfView, slots: Ints, scales: Floats) -> Floats:
    """Return the cosines (parts, slots) of one item with some slots, to the last bit those of the other way round."""
    parts, width = scales.shape
    cosines = np.empty((parts, len(slots)))
    library().write_cosines(
        ints(terms),
        doubles(counts),
        len(terms),
        longs(view.starts),
        ints(view.terms),
        doubles(view.counts),
        longs(slots),
        len(slots),
        doubles(scales),
        parts,
        width,
        ints(np.full(width, -1, np.int32)),
        doubles(np.empty(len(terms))),
        doubles(cosines),
    )
    return cosines


def unit_values(view: ShelfView, scales: Floats) -> Floats:
    """Return the entries (parts, entries) of the unit vectors of all slots, zeros where a slot is dead."""
    parts, width = scales.shape
    values = np.empty((parts, len(view.terms)))
    library().write_unit_values(
        longs(view.starts),
        ints(view.terms),
        doubles(view.counts),
        len(view.terms),
        bools(view.alive),
        view.slots,
        doubles(scales),
        parts,
        width,
        doubles(values),
    )
    return values


def shared(
    left: ShelfView, i: Ints, right: ShelfView, j: Ints, scales: Floats
) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return what terms add to the cosines of pairs of slots: starts (pairs + 1,), terms, and products (parts, terms).

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


def largest(values: NDArray[np.float32], count: int) -> Ints:
    """Return the places of the `count` largest values above 0, of all such where they are fewer."""
    places = np.empty(count, np.int64)
    found = library().find_largest(floats(values), len(values), count, longs(places))
    return places[:found]


def keep_best(best: Floats, rows: Ints, values: Floats) -> None:
    """Put values where they belong among the best of their rows, (rows, best), best first."""
    library().put_among_best(doubles(best), best.shape[1], longs(rows), doubles(values), len(rows))


def shared_labels(
    starts: Ints,
    labels: NDArray[np.int32],
    i: Ints,
    other_starts: Ints,
    other_labels: NDArray[np.int32],
    j: Ints,
) -> Ints:
    """Return for each pair of rows how many labels both have."""
    shared = np.empty(len(i), np.int64)
    library().count_shared_labels(
        longs(starts),
        ints(labels),
        longs(i),
        longs(other_starts),
        ints(other_labels),
        longs(j),
        len(i),
        longs(shared),
    )
    return shared


def _drift(then: Floats, now: Floats) -> float:
    """Return by how much weights have changed, relatively, of the terms that were and are used."""
    drift: float = library().greatest_drift(len(then), doubles(then), then.shape[1], doubles(now), now.shape[1])
    return drift


def _postings(
    starts: Ints, terms: NDArray[np.int32], counts: Floats, width: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.float32]]:
    """Return (starts, holders, counts) of the postings of each term, the slots ascending."""
    bounds = np.zeros(width + 1, np.int64)
    np.cumsum(np.bincount(terms, minlength=width), out=bounds[1:])
    holders, kept = np.empty(len(terms), np.int32), np.empty(len(terms), np.float32)
    library().fill_slots_by_term(
        longs(starts),
        len(starts) - 1,
        ints(terms),
        doubles(counts),
        longs(bounds[:-1].copy()),
        ints(holders),
        floats(kept),
    )
    return bounds, holders, kept


def _norms(
    starts: Ints,
    terms: NDArray[np.int32],
    counts: Floats,
    scales: Floats,
    slots: int,
    common: NDArray[np.bool_],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the norms (parts, slots) of the slots' terms, and those of the common ones alone."""
    norms, of_common = np.empty((len(scales), slots), np.float32), np.empty((len(scales), slots), np.float32)
    library().write_norms(
        longs(starts),
        ints(terms),
        doubles(counts),
        doubles(scales),
        *scales.shape,
        slots,
        bools(common),
        floats(norms),
        floats(of_common),
    )
    return norms, of_common

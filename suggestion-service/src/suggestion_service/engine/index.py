"""One item against all of the other side: an inverted index, and the loops over it, compiled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.compiled import compiled
from suggestion_service.engine.shelf import Floats, Ints, ShelfView

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
    """Give an index of all slots but the newest, and how far its norms may be off, relatively.

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
    """Give for each slot, dead ones included, a likeness with one item that the exact one does not exceed.

    `asked`: the terms and sublinear counts of the item. What common terms add is bounded by their norms.
    """
    estimated: NDArray[np.float32] = _estimates(
        view.slots,
        index.starts,
        index.holders,
        index.counts,
        index.common,
        index.norms,
        index.common_norms,
        *asked,
        scales,
        weights,
    )
    estimated *= (1.0 + _ROUNDING) * (1.0 + drift) / (1.0 - drift)
    return estimated


def likely(index: Index, asked: tuple[NDArray[np.int32], Floats], scale: Floats, count: int) -> Ints:
    """Give up to `count` slots, dead ones perhaps, that share the most with an item in its rarest terms.

    `scale` (terms,): the weight of each term.
    """
    postings = index.starts, index.holders, index.counts
    sharing, likeness = _of_rarest(index.slots, *postings, index.norms[0], *asked, scale)
    slots: Ints = sharing[largest(likeness, count)]
    return slots


def exact(terms: NDArray[np.int32], counts: Floats, view: ShelfView, slots: Ints, scales: Floats) -> Floats:
    """Give the cosines (parts, slots) of one item with some slots, to the last bit those of the other way round."""
    cosines: Floats = _exact(terms, counts, view.starts, view.terms, view.counts, slots, scales)
    return cosines


def unit_values(view: ShelfView, scales: Floats) -> Floats:
    """Give the entries (parts, entries) of the unit vectors of all slots, zeros where a slot is dead."""
    values: Floats = _unit_values(view.starts, view.terms, view.counts, view.alive, scales)
    return values


def shared(
    left: ShelfView, i: Ints, right: ShelfView, j: Ints, scales: Floats
) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Give what terms add to the cosines of pairs of slots: starts (pairs + 1,), terms, and products (parts, terms).

    The terms of a pair stand in the order of their spelling; their products add up to the cosines.
    """
    found: tuple[Ints, NDArray[np.int32], Floats] = _shared(
        left.starts, left.terms, left.counts, i, right.starts, right.terms, right.counts, j, scales
    )
    return found


@compiled
def _drift(then, now):  # type: ignore[no-untyped-def]
    """Give by how much weights have changed, relatively, of the terms that were and are used."""
    most = 0.0
    for part in range(len(then)):
        for term in range(min(then.shape[1], now.shape[1])):
            if then[part, term] > 0.0 and now[part, term] > 0.0:
                most = max(most, abs(now[part, term] / then[part, term] - 1.0))
    return most


@compiled
def _postings(starts, terms, counts, width):  # type: ignore[no-untyped-def]
    bounds = np.zeros(width + 1, np.int64)
    for entry in range(len(terms)):
        bounds[terms[entry] + 1] += 1
    for term in range(width):
        bounds[term + 1] += bounds[term]
    free = bounds[:-1].copy()
    holders = np.empty(len(terms), np.int32)
    kept = np.empty(len(terms), np.float32)
    for slot in range(len(starts) - 1):
        for entry in range(starts[slot], starts[slot + 1]):
            place = free[terms[entry]]
            free[terms[entry]] = place + 1
            holders[place] = slot
            kept[place] = counts[entry]
    return bounds, holders, kept


@compiled
def _norms(starts, terms, counts, scales, slots, common):  # type: ignore[no-untyped-def]
    norms, of_common = np.zeros((len(scales), slots), np.float32), np.zeros((len(scales), slots), np.float32)
    for part in range(len(scales)):
        for slot in range(slots):
            total = of_common_total = 0.0
            for entry in range(starts[slot], starts[slot + 1]):
                square = (counts[entry] * scales[part, terms[entry]]) ** 2
                total += square
                if common[terms[entry]]:
                    of_common_total += square
            norms[part, slot], of_common[part, slot] = np.sqrt(total), np.sqrt(of_common_total)
    return norms, of_common


@compiled
def _norm(terms, counts, start, end, scale):  # type: ignore[no-untyped-def]
    total = 0.0
    for entry in range(start, end):
        weight = counts[entry] * scale[terms[entry]]
        total += weight * weight
    return np.sqrt(total)


@compiled
def _unit_values(starts, terms, counts, alive, scales):  # type: ignore[no-untyped-def]
    values = np.zeros((len(scales), len(terms)))
    for part in range(len(scales)):
        for slot in range(len(alive)):
            if alive[slot]:
                norm = _norm(terms, counts, starts[slot], starts[slot + 1], scales[part])
                for entry in range(starts[slot], starts[slot + 1]):
                    values[part, entry] = counts[entry] * scales[part, terms[entry]] / norm
    return values


@compiled
def _estimates(slots, starts, holders, counts, common, norms, common_norms, asked, asked_counts, scales, weights):  # type: ignore[no-untyped-def]
    likeness = np.zeros(slots, np.float32)
    parts, indexed = norms.shape
    one = np.empty(indexed, np.float32)
    for part in range(parts):
        norm = _norm(asked, asked_counts, 0, len(asked), scales[part])
        if norm == 0.0:
            continue
        one[:] = 0.0
        common_square = 0.0
        for k in range(len(asked)):
            term = asked[k]
            if term >= len(starts) - 1:
                continue
            weight = asked_counts[k] * scales[part, term]
            if common[term]:
                common_square += weight * weight
                continue
            factor = np.float32(weights[part] * weight / norm * scales[part, term])
            for place in range(starts[term], starts[term + 1]):
                one[holders[place]] += factor * counts[place]
        of_common = np.float32(weights[part] * np.sqrt(common_square) / norm)
        for slot in range(indexed):
            if norms[part, slot] > 0.0:
                likeness[slot] += (one[slot] + of_common * common_norms[part, slot]) / norms[part, slot]
    # What is not in the index may be alike by anything.
    likeness[indexed:] = 2.0
    return likeness


@compiled
def _of_rarest(slots, starts, holders, counts, norms, asked, asked_counts, scale):  # type: ignore[no-untyped-def]
    lengths = np.zeros(len(asked), np.int64)
    for k in range(len(asked)):
        if asked[k] < len(starts) - 1:
            lengths[k] = starts[asked[k] + 1] - starts[asked[k]]
    sums, sharing = np.zeros(slots, np.float32), np.empty(_RAREST, np.int64)
    read = size = 0
    for k in np.argsort(lengths):
        read += lengths[k]
        if read > _RAREST:
            break
        factor = np.float32(asked_counts[k] * scale[asked[k]] ** 2)
        for place in range(starts[asked[k]], starts[asked[k]] + lengths[k]):
            slot = holders[place]
            if sums[slot] == 0.0:
                sharing[size] = slot
                size += 1
            sums[slot] += factor * counts[place]
    likeness = np.zeros(size, np.float32)
    for place in range(size):
        if norms[sharing[place]] > 0.0:
            likeness[place] = sums[sharing[place]] / norms[sharing[place]]
    return sharing[:size], likeness


@compiled
def _exact(asked, asked_counts, starts, terms, counts, slots, scales):  # type: ignore[no-untyped-def]
    place = np.full(scales.shape[1], -1, np.int32)
    for k in range(len(asked)):
        place[asked[k]] = k
    cosines = np.zeros((len(scales), len(slots)))
    mine = np.empty(len(asked))
    for part in range(len(scales)):
        norm = _norm(asked, asked_counts, 0, len(asked), scales[part])
        for k in range(len(asked)):
            mine[k] = asked_counts[k] * scales[part, asked[k]] / norm
        for n in range(len(slots)):
            start, end = starts[slots[n]], starts[slots[n] + 1]
            norm = _norm(terms, counts, start, end, scales[part])
            total = 0.0
            for entry in range(start, end):
                k = place[terms[entry]]
                if k >= 0:
                    total += mine[k] * (counts[entry] * scales[part, terms[entry]] / norm)
            cosines[part, n] = total
    return cosines


@compiled
def _shared(starts, terms, counts, i, other_starts, other_terms, other_counts, j, scales):  # type: ignore[no-untyped-def]
    place = np.full(scales.shape[1], -1, np.int64)
    bounds = np.zeros(len(i) + 1, np.int64)
    most = 0
    for pair in range(len(i)):
        most += min(starts[i[pair] + 1] - starts[i[pair]], other_starts[j[pair] + 1] - other_starts[j[pair]])
    names = np.empty(most, np.int32)
    products = np.empty((len(scales), most))
    size = 0
    for pair in range(len(i)):
        start, end = starts[i[pair]], starts[i[pair] + 1]
        other_start, other_end = other_starts[j[pair]], other_starts[j[pair] + 1]
        for entry in range(start, end):
            place[terms[entry]] = entry
        first = size
        for other in range(other_start, other_end):
            if place[other_terms[other]] >= 0:
                names[size] = other_terms[other]
                size += 1
        for part in range(len(scales)):
            norm = _norm(terms, counts, start, end, scales[part])
            other_norm = _norm(other_terms, other_counts, other_start, other_end, scales[part])
            at = first
            for other in range(other_start, other_end):
                entry = place[other_terms[other]]
                if entry >= 0:
                    scale = scales[part, terms[entry]]
                    products[part, at] = (counts[entry] * scale / norm) * (other_counts[other] * scale / other_norm)
                    at += 1
        for entry in range(start, end):
            place[terms[entry]] = -1
        bounds[pair + 1] = size
    return bounds, names[:size].copy(), products[:, :size].copy()


@compiled
def largest(values, count):  # type: ignore[no-untyped-def]
    """Give the places of the `count` largest values above 0, of all such where they are fewer."""
    places = np.empty(count, np.int64)
    size = least = 0
    for place in range(len(values)):
        if values[place] <= 0.0 or (size == count and values[place] <= values[places[least]]):
            continue
        if size < count:
            places[size] = place
            size += 1
        else:
            places[least] = place
        for other in range(size):
            if values[places[other]] < values[places[least]]:
                least = other
    return places[:size].copy()


@compiled
def keep_best(best, rows, values):  # type: ignore[no-untyped-def]
    """Put values where they belong among the best of their rows, (rows, best), best first."""
    for n in range(len(rows)):
        row = best[rows[n]]
        place = len(row)
        while place > 0 and values[n] > row[place - 1]:
            place -= 1
        for later in range(len(row) - 1, place, -1):
            row[later] = row[later - 1]
        if place < len(row):
            row[place] = values[n]


@compiled
def shared_labels(starts, labels, i, other_starts, other_labels, j):  # type: ignore[no-untyped-def]
    """Count for each pair of rows the labels that both have."""
    shared = np.zeros(len(i), np.int64)
    for pair in range(len(i)):
        for mine in range(starts[i[pair]], starts[i[pair] + 1]):
            for other in range(other_starts[j[pair]], other_starts[j[pair] + 1]):
                if labels[mine] == other_labels[other]:
                    shared[pair] += 1
    return shared

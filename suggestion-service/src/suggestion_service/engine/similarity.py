"""Ways of comparing texts: each gives pairs a score in 0..1 and says which terms it comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.tile import Floats, Ints, SparseRows, Tile, sums

# A term is a keyword of its item when it weighs at least this share of the item's mean term weight.
_KEYWORD_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Matches:
    """What single terms add to the scores of pairs: parallel arrays, grouped by pair in ascending order."""

    pair: Ints
    term: NDArray[np.integer[Any]]
    weight: Floats


class Similarity(Protocol):
    """A port: texts in, similarity out. A pair's score must not depend on what else is asked for."""

    def between(self, requirements: Tile, rows: slice, test_cases: Tile) -> Any:
        """Score some rows of one tile against all of another: a sparse (rows, test cases) array."""

    def matches(self, requirements: Tile, test_cases: Tile) -> tuple[Floats, Matches]:
        """Score the pairs (row k of one, row k of the other), and say what each term adds."""


class LexicalSimilarity:
    """The cosine of weighted term vectors.

    `weigh` gives from (sublinear counts, inverse document frequencies, row of each) the weight of every term
    in its row, 0 to leave it out. The sum over a pair always runs in the order of the terms' spelling, so that
    a pair has the same score to the last bit whoever asks.
    """

    def __init__(self, weigh: Callable[[Floats, Floats, Ints], Floats], idf: Floats) -> None:
        self._weigh, self._idf = weigh, idf
        self._vectors: WeakKeyDictionary[Tile, SparseRows] = WeakKeyDictionary()

    def between(self, requirements: Tile, rows: slice, test_cases: Tile) -> Any:
        return self._of(requirements).rows(rows) @ self._of(test_cases).transposed

    def matches(self, requirements: Tile, test_cases: Tile) -> tuple[Floats, Matches]:
        left, right = self._of(requirements), self._of(test_cases)
        left_key, right_key = _pair_and_term(left), _pair_and_term(right)
        order = np.argsort(right_key)
        right_key, right_weight = right_key[order], right.values[order]
        at = np.searchsorted(right_key, left_key)
        at[at == len(right_key)] = 0
        shared = right_key[at] == left_key if len(right_key) else np.zeros(len(left_key), bool)
        pair = left_key[shared] // left.width
        weight = left.values[shared] * right_weight[at[shared]]
        return (
            sums(pair, weight, len(requirements)),
            Matches(pair=pair, term=left.columns[shared], weight=weight),
        )

    def _of(self, tile: Tile) -> SparseRows:
        vectors = self._vectors.get(tile)
        if vectors is None:
            vectors = self._vectors[tile] = self._weighted(tile)
        return vectors

    def _weighted(self, tile: Tile) -> SparseRows:
        weights = self._weigh(tile.sublinear_counts, self._idf[tile.terms], tile.row_of)
        kept = weights > 0
        row_of, weights = tile.row_of[kept], weights[kept]
        norms = np.sqrt(sums(row_of, weights**2, len(tile)))
        starts = np.concatenate(([0], np.cumsum(np.bincount(row_of, minlength=len(tile)))))
        return SparseRows(starts, tile.terms[kept], weights / norms[row_of], len(self._idf))


def inverse_document_frequencies(items: int, document_frequencies: Ints) -> Floats:
    """Give ln((1 + items) / (1 + df)) + 1 for each term: 1 for a word that every item has."""
    idf: Floats = np.log((1.0 + items) / (1.0 + document_frequencies)) + 1.0
    return idf


def tfidf_weights(sublinear_counts: Floats, idf: Floats, _row_of: Ints) -> Floats:
    """Weigh every term by sublinear TF-IDF."""
    return sublinear_counts * idf


def keyword_weights(sublinear_counts: Floats, idf: Floats, row_of: Ints) -> Floats:
    """Weigh the keywords of each item, the terms that stand out of it by TF-IDF, and leave the rest out.

    The cosine of these weights is the overlap of the two keyword sets, sum over the shared of sqrt(u v) over
    sqrt(sum u x sum v), where u and v are a keyword's idf times its squared sublinear count in either item.
    """
    tfidf = sublinear_counts * idf
    lengths = np.bincount(row_of)
    means = sums(row_of, tfidf, len(lengths)) / np.maximum(lengths, 1)
    return np.where(tfidf >= _KEYWORD_SHARE * means[row_of], sublinear_counts * np.sqrt(idf), 0.0)


def merged(*weighted: tuple[Matches, Floats]) -> Matches:
    """Add up matches of the same pairs from several similarities, each with its weight in each pair."""
    pairs = np.concatenate([matches.pair for matches, _ in weighted])
    terms = np.concatenate([matches.term for matches, _ in weighted])
    weights = np.concatenate([matches.weight * weight[matches.pair] for matches, weight in weighted])
    width = int(terms.max(initial=0)) + 1
    keys, group = np.unique(pairs * width + terms, return_inverse=True)
    pair, term = np.divmod(keys, width)
    return Matches(pair=pair, term=term, weight=sums(group, weights, len(keys)))


def _pair_and_term(vectors: SparseRows) -> Ints:
    pairs = np.repeat(np.arange(len(vectors.starts) - 1), np.diff(vectors.starts))
    return pairs * vectors.width + vectors.columns

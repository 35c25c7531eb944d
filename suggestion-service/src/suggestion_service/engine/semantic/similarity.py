"""Similarity of texts by their words and by what they mean: the lexical one together with embeddings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.corpus.query import OTHER, RowQuery, Side
from suggestion_service.engine.lexical.similarity import Part, Similarity, TermProducts, UpperBounds
from suggestion_service.engine.native import call
from suggestion_service.engine.semantic.embedding_rows import embedding_rows
from suggestion_service.engine.semantic.embeddings import (
    ROUNDING,
    EmbeddingView,
    pair_cosines,
    passage_cosines,
    whole_cosines,
)

WORDS, WHOLE, PASSAGES = 0.6, 0.2, 0.2
_PASSAGES_FROM = 0.25
"""The similarity of words and whole texts from which passages are compared; below, whole texts count for them."""


@dataclass(frozen=True, slots=True)
class EmbeddingCosines:
    """What embeddings say of pairs: cosines of the whole texts, and of the passages where these were `compared`.

    Where one of the items has no embedding, both are the similarity of the words.
    """

    whole: Floats
    passages: Floats
    known: Bools
    compared: Bools


class EmbeddedSimilarity(Similarity):
    """With d the cosine of two whole texts and f = 0.6 lexical + 0.4 d, the similarity of a pair is f below 0.25, else
    0.6 lexical + 0.2 d + 0.2 q, where q is the mean, over the passages of the requirement, of the best cosine with a
    passage of the test case. A pair of which one has no embedding, yet, is as similar as its words.
    """

    multiplies = False

    def __init__(
        self,
        name: str,
        views: Mapping[Side, StoreView],
        names: Sequence[str],
        scales: Floats,
        weights: Floats,
        embeddings: Mapping[Side, EmbeddingView],
    ) -> None:
        super().__init__(name, views, names, scales, weights)
        self._embeddings = embeddings
        self._embedding_rows = {side: embedding_rows(view, embeddings[side]) for side, view in views.items()}

    def parts(self, requirements: Ints, test_cases: Ints, words: TermProducts) -> tuple[dict[str, Part], Floats]:
        """Return the parts of the similarity of pairs of rows, and what they add up to."""
        of_words, lexical = super().parts(requirements, test_cases, words)
        cosines = self._cosines(requirements, test_cases, lexical)
        passages = np.where(cosines.compared, PASSAGES, 0.0)
        share = np.where(cosines.known, WORDS, 1.0)
        parts = {name: Part(part.score, share * part.weight) for name, part in of_words.items()}
        parts["whole_text"] = Part(cosines.whole, 1.0 - share - passages)
        parts["passages"] = Part(cosines.passages, passages)
        return parts, _similarity(lexical, cosines)

    def _cosines(self, requirements: Ints, test_cases: Ints, lexical: Floats) -> EmbeddingCosines:
        """Return what embeddings say of pairs of rows; `lexical` is the similarity of their words."""
        one, other = self._embeddings["requirement"], self._embeddings["test_case"]
        i, j = self._embedding_rows["requirement"][requirements], self._embedding_rows["test_case"][test_cases]
        known = (i >= 0) & (j >= 0)
        whole = lexical.copy()
        whole[known] = pair_cosines(one, i[known], other, j[known])
        compared = known & (WORDS * lexical + (WHOLE + PASSAGES) * whole >= _PASSAGES_FROM)
        passages = whole.copy()
        passages[compared] = passage_cosines(one, i[compared], other, j[compared])
        return EmbeddingCosines(whole, passages, known, compared)

    def _bounds(self, query: RowQuery) -> Iterator[UpperBounds]:
        other = OTHER[query.side]
        alive, rows = self._views[other].alive, self._embedding_rows[other]
        mine = self._embedding_rows[query.side][query.rows]
        weights = WORDS, WHOLE, PASSAGES, _PASSAGES_FROM
        # All of them at once, so that the embeddings of the other side are read once.
        cosines = iter(whole_cosines(self._embeddings[query.side], mine[mine >= 0], self._embeddings[other]))
        for bounds, row in zip(super()._bounds(query), mine.tolist(), strict=True):
            if row < 0:
                yield bounds
            else:
                most = np.empty(len(alive), np.float32)
                others = bounds.lexical, alive, next(cosines), rows, len(alive)
                call("bound_embedded_similarity", *others, *weights, ROUNDING, most)
                yield bounds._replace(most=most)

    def _candidates(self, bounds: UpperBounds, threshold: float) -> Ints:
        others = super()._candidates(bounds, threshold)
        lexical = bounds.lexical[others].astype(np.float64)
        cosines = self._cosines(*_pairs(bounds.side, bounds.row, others), lexical)
        # Where the words are alike by less than that, passages may count for nothing after all.
        most = WORDS * lexical + WHOLE * cosines.whole + PASSAGES * np.maximum(cosines.passages, cosines.whole)
        return others[most >= threshold - ROUNDING]

    def _exact(self, side: Side, row: int, others: Ints) -> Floats:
        lexical = super()._exact(side, row, others)
        return _similarity(lexical, self._cosines(*_pairs(side, row, others), lexical))


def _similarity(lexical: Floats, cosines: EmbeddingCosines) -> Floats:
    similarity: Floats = WORDS * lexical + WHOLE * cosines.whole + PASSAGES * cosines.passages
    return similarity


def _pairs(side: Side, row: int, others: Ints) -> tuple[Ints, Ints]:
    mine = np.full(len(others), row, np.int64)
    return (mine, others) if side == "requirement" else (others, mine)

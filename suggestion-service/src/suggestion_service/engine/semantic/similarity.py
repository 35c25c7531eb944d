"""How alike texts are by their words and by what they mean: the lexical likeness together with embeddings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import Floats, Ints, ShelfView, Side
from suggestion_service.engine.lexical.similarity import OTHER, Bounds, Likeness, Matches, Part
from suggestion_service.engine.semantic.embedding_rows import embedding_rows
from suggestion_service.engine.semantic.embeddings import (
    ROUNDING,
    EmbeddingView,
    pair_cosines,
    passage_cosines,
    whole_cosines,
)
from suggestion_service.engine.semantic.integer_products import most_alike

WORDS, WHOLE, PASSAGES = 0.5, 0.25, 0.25
_PASSAGES_FROM = 0.25
"""The likeness of words and whole texts from which passages are looked at; below, whole texts count for them."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What embeddings say of pairs: cosines of the whole texts, and of the passages where they were looked at.

    Where one of the items has no embedding, both are the likeness of the words.
    """

    whole: Floats
    passages: Floats
    known: NDArray[np.bool_]
    looked_at: NDArray[np.bool_]


class EmbeddedLikeness(Likeness):
    """With d the cosine of two whole texts and f = 0.5 lexical + 0.5 d, the likeness of a pair is f below 0.25, else
    0.5 lexical + 0.25 d + 0.25 q, where q is the mean, over the passages of the requirement, of the best cosine with a
    passage of the test case. A pair of which one has no embedding, yet, is as alike as its words.
    """

    multiplies = False

    def __init__(
        self,
        name: str,
        views: Mapping[Side, ShelfView],
        scales: Floats,
        weights: Floats,
        embeddings: Mapping[Side, EmbeddingView],
    ) -> None:
        super().__init__(name, views, scales, weights)
        self._embeddings = embeddings
        self._rows = {side: embedding_rows(view, embeddings[side]) for side, view in views.items()}
        """The row of each slot's item in its embeddings."""

    def meaning(self, requirements: Ints, test_cases: Ints, lexical: Floats) -> Meaning:
        """Return what embeddings say of pairs of slots; `lexical` is the likeness of their words."""
        one, other = self._embeddings["requirement"], self._embeddings["test_case"]
        i, j = self._rows["requirement"][requirements], self._rows["test_case"][test_cases]
        known = (i >= 0) & (j >= 0)
        whole = lexical.copy()
        whole[known] = pair_cosines(one, i[known], other, j[known])
        looked_at = known & (_first(lexical, whole) >= _PASSAGES_FROM)
        passages = whole.copy()
        passages[looked_at] = passage_cosines(one, i[looked_at], other, j[looked_at])
        return Meaning(whole, passages, known, looked_at)

    def parts(self, requirements: Ints, test_cases: Ints, matches: Matches) -> tuple[dict[str, Part], Floats]:
        """Return the parts of the likeness of pairs of slots, and the likeness that they add up to."""
        words, lexical = super().parts(requirements, test_cases, matches)
        meaning = self.meaning(requirements, test_cases, lexical)
        passages = np.where(meaning.looked_at, PASSAGES, 0.0)
        share = np.where(meaning.known, WORDS, 1.0)
        parts = {name: Part(part.score, share * part.weight) for name, part in words.items()}
        parts["whole_text"] = Part(meaning.whole, 1.0 - share - passages)
        parts["passages"] = Part(meaning.passages, passages)
        return parts, likeness_of(lexical, meaning)

    def _bounds(self, side: Side, slots: Ints) -> Iterator[Bounds]:
        alive, rows = self._views[OTHER[side]].alive, self._rows[OTHER[side]]
        mine = self._rows[side][slots]
        # All of them at once, so that the embeddings of the other side are read once.
        cosines = iter(whole_cosines(self._embeddings[side], mine[mine >= 0], self._embeddings[OTHER[side]]))
        for bounds, row in zip(super()._bounds(side, slots), mine.tolist(), strict=True):
            if row < 0:
                yield bounds
            else:
                weights = WORDS, WHOLE, PASSAGES
                most = most_alike(bounds.words, alive, next(cosines), rows, weights, _PASSAGES_FROM, ROUNDING)
                yield Bounds(most, bounds.words)

    def _reaching(self, side: Side, slot: int, bounds: Bounds, threshold: float) -> Ints:
        others = super()._reaching(side, slot, bounds, threshold)
        words = bounds.words[others].astype(np.float64)
        meaning = self.meaning(*_pairs(side, slot, others), words)
        # Where the words are alike by less than that, passages may count for nothing after all.
        most = WORDS * words + WHOLE * meaning.whole + PASSAGES * np.maximum(meaning.passages, meaning.whole)
        return others[most >= threshold - ROUNDING]

    def _exact(self, side: Side, slot: int, others: Ints) -> Floats:
        lexical = super()._exact(side, slot, others)
        i, j = _pairs(side, slot, others)
        return likeness_of(lexical, self.meaning(i, j, lexical))


def likeness_of(lexical: Floats, meaning: Meaning) -> Floats:
    """Put the likeness of pairs together."""
    likeness: Floats = WORDS * lexical + WHOLE * meaning.whole + PASSAGES * meaning.passages
    return likeness


def _pairs(side: Side, slot: int, others: Ints) -> tuple[Ints, Ints]:
    mine = np.full(len(others), slot, np.int64)
    return (mine, others) if side == "requirement" else (others, mine)


def _first(lexical: Floats, whole: Floats) -> Floats:
    first: Floats = WORDS * lexical + (WHOLE + PASSAGES) * whole
    return first

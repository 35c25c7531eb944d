"""The engine's face: scores pairs of a snapshot, and says what scores are made of. Safe to use in any thread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.corpus.enrichment import enriched
from suggestion_service.engine.corpus.query import Algorithm, Query, Side
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.explanation.explanation import Facts
from suggestion_service.engine.explanation.facts import facts
from suggestion_service.engine.lexical.similarity import Similarity
from suggestion_service.engine.ranking.calibrated_ranking import CalibratedRanking
from suggestion_service.engine.ranking.calibration import CALIBRATIONS, EMBEDDED, LEXICAL_PARTS, Calibration, rounded
from suggestion_service.engine.semantic.embeddings import EmbeddingView
from suggestion_service.engine.semantic.similarity import EmbeddedSimilarity
from suggestion_service.engine.text.languages import common_form

_PAIRS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs at or above the threshold, as parallel arrays, out of `pairs` that were looked at for this block.

    `requirement_ids` and `test_case_ids` are object arrays of UUID, `scores` float64 in 0..1 with 6 decimals.
    `progress` is the share of all pairs asked for that is done with this block; that of the last block is 1.
    """

    requirement_ids: NDArray[Any]
    test_case_ids: NDArray[Any]
    scores: Floats
    pairs: int
    progress: float


class Scorer:
    """Scores of pairs of one snapshot, and what they are made of; what is computed is remembered."""

    def __init__(
        self,
        snapshot: Snapshot,
        embeddings: Mapping[Side, EmbeddingView] | None = None,
        calibrations: Mapping[Algorithm, Calibration] | None = None,
    ) -> None:
        """With `embeddings` hybrid scores are made of them, too. `calibrations`: others than those that are shipped."""
        self.snapshot = enriched(snapshot, common_form)
        self.embeddings = embeddings
        self._calibrations = CALIBRATIONS | ({"hybrid": EMBEDDED} if embeddings is not None else {})
        self._calibrations |= calibrations or {}
        self._rankings: dict[Algorithm, CalibratedRanking] = {}

    def score(self, query: Query) -> Iterator[Block]:
        """Score block by block. The order of the pairs in a block means nothing."""
        snapshot, row_query = self.snapshot, self.snapshot.rows(query)
        wanted = None
        if query.requirements is not None and query.test_cases is not None:
            wanted = snapshot.test_cases.rows_of(query.test_cases)
        everything = len(row_query.rows) * (snapshot.count - snapshot.views[row_query.side].count)
        done = 0
        ranking = self._ranking(query.algorithm)
        for pairs in ranking.candidates(row_query):
            if wanted is not None:
                pairs = pairs.where(np.isin(pairs.test_cases, wanted))
            scores = rounded(ranking.scores(pairs.requirements, pairs.test_cases, pairs.similarity).score)
            reached = (scores >= query.threshold) & (scores > 0.0)
            done += pairs.compared
            yield Block(
                snapshot.requirements.ids[pairs.requirements[reached]],
                snapshot.test_cases.ids[pairs.test_cases[reached]],
                scores[reached],
                pairs.compared,
                done / everything if everything else 1.0,
            )

    def score_pairs(self, algorithm: Algorithm, pairs: Sequence[tuple[UUID, UUID]]) -> Floats:
        """Return the scores of (requirement, test case) pairs, in their order, as `facts` does.

        Raises KeyError for an id that the snapshot does not have.
        """
        ranking = self._ranking(algorithm)
        scores: list[Floats] = [np.zeros(0)]
        for i, j in self._rows(pairs):
            words = ranking.similarity.term_products(i, j)
            scores.append(ranking.scores(i, j, ranking.similarity.parts(i, j, words)[1]).score)
        return rounded(np.concatenate(scores))

    def facts(self, algorithm: Algorithm, pairs: Sequence[tuple[UUID, UUID]]) -> Iterator[Facts]:
        """Return what `explain` makes explanations of, for (requirement, test case) pairs in their order.

        Raises KeyError for an id that the snapshot does not have.
        """
        ranking = self._ranking(algorithm)
        for i, j in self._rows(pairs):
            yield from facts(self.snapshot, algorithm, ranking, i, j)

    def _rows(self, pairs: Sequence[tuple[UUID, UUID]]) -> Iterator[tuple[Ints, Ints]]:
        """Return the rows of the pairs, some at once."""
        i = self.snapshot.requirements.rows_of_all([requirement_id for requirement_id, _ in pairs])
        j = self.snapshot.test_cases.rows_of_all([test_case_id for _, test_case_id in pairs])
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            yield i[some], j[some]

    def _ranking(self, algorithm: Algorithm) -> CalibratedRanking:
        """Return the ranking of an algorithm, which is made when it is asked for first."""
        ranking = self._rankings.get(algorithm)
        if ranking is None:
            made = CalibratedRanking(self.snapshot, self._similarity(algorithm), self._calibrations[algorithm])
            # Of two threads that make one, both go on with the same.
            ranking = self._rankings.setdefault(algorithm, made)
        return ranking

    def _similarity(self, algorithm: Algorithm) -> Similarity:
        views, idf = self.snapshot.views, self.snapshot.idf()
        if algorithm == "tfidf":
            return Similarity(algorithm, views, [algorithm], idf[None], np.ones(1))
        if algorithm == "keyword":
            return Similarity(algorithm, views, [algorithm], np.sqrt(idf)[None], np.ones(1))
        both = list(LEXICAL_PARTS), np.array((idf, np.sqrt(idf))), np.array(list(LEXICAL_PARTS.values()))
        if self.embeddings is None:
            return Similarity(algorithm, views, *both)
        return EmbeddedSimilarity(algorithm, views, *both, self.embeddings)

"""Scores of pairs, and the pairs that may reach a score, found before the neighbours of all items are known."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.corpus.query import RowQuery, Side
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.lexical.similarity import LOOKED_UP_AT_ONCE, ScoredPairs, Similarity
from suggestion_service.engine.ranking.calibration import Calibration, Scores
from suggestion_service.engine.ranking.certainty import SharedEvidence
from suggestion_service.engine.ranking.metadata import Agreement, compare, nothing_known
from suggestion_service.engine.ranking.neighbourhoods import Neighbourhoods

_MOST_PAIRS = 8_000_000
"""Pairs in memory until all neighbours are known; what comes after them is computed a second time."""


class CalibratedRanking:
    """The scores of one algorithm over one snapshot."""

    def __init__(self, snapshot: Snapshot, similarity: Similarity, calibration: Calibration) -> None:
        self.calibration = calibration
        self._snapshot = snapshot
        self.similarity = similarity
        self._evidence = SharedEvidence(snapshot)
        self._neighbourhoods = Neighbourhoods(similarity, snapshot.views, calibration.floor)

    def scores(self, i: Ints, j: Ints, similarity: Floats) -> Scores:
        """Score pairs of rows of this similarity."""
        return self._scores(i, j, similarity, self._neighbourhoods.means, self._evidence.of(i, j).certainty)

    def candidates(self, query: RowQuery) -> Iterator[ScoredPairs]:
        """Return the pairs whose score may reach the threshold."""
        everything = query.side == "requirement" and len(query.rows) == self._snapshot.requirements.count
        if self.similarity.looks_up(query) and not everything:
            return self._few(query)
        floor = self.calibration.floor
        needed = self.calibration.needed_similarity(query.threshold, np.array(floor)).item()
        similar = query._replace(threshold=min(floor, needed))
        if everything:
            return self._everything(query, similar)
        return self._reaching(query, self.similarity.pairs(similar))

    def _few(self, query: RowQuery) -> Iterator[ScoredPairs]:
        """Look items up when their neighbours are known, and with them how similar others have to be."""
        for block in query.blocks(LOOKED_UP_AT_ONCE):
            means = self._neighbourhoods.means(query.side, block.rows)
            thresholds = self.calibration.needed_similarity(query.threshold, means)
            for pairs in self._reaching(query, iter((self.similarity.look_up(block, thresholds),))):
                # Most of what is left resembles others more: cheaper shown than the neighbours of each are found.
                i, j = pairs.requirements, pairs.test_cases
                certain = np.full(len(i), np.inf)
                most = self._scores(i, j, pairs.similarity, self._neighbourhoods.lower_bounds, certain).score
                yield pairs.where(most >= query.threshold)

    def _reaching(self, query: RowQuery, found: Iterator[ScoredPairs]) -> Iterator[ScoredPairs]:
        """Return those of the pairs that may reach the threshold, by the neighbours of the side asked for."""
        for pairs in found:
            mine = pairs.requirements if query.side == "requirement" else pairs.test_cases
            means = self._neighbourhoods.means(query.side, mine)
            metadata = self._metadata(pairs.requirements, pairs.test_cases)
            yield pairs.where(self.calibration.upper_bounds(pairs.similarity, means, metadata) >= query.threshold)

    def _everything(self, query: RowQuery, similar: RowQuery) -> Iterator[ScoredPairs]:
        """Look at all pairs, and return those that may have the score once the neighbours of all items are known."""
        compared: list[ScoredPairs | Ints] = []
        in_memory = 0
        everything = self._neighbourhoods.observe(self.similarity.pairs(similar))
        for pairs in self._reaching(query, everything):
            in_memory += len(pairs.similarity)
            compared.append(pairs if in_memory <= _MOST_PAIRS else pairs.rows)
            # Nothing is found yet, but a caller may stop here.
            yield pairs.where(np.zeros(len(pairs.similarity), np.bool_))
        for found in compared:
            if isinstance(found, ScoredPairs):
                yield replace(found, compared=0)
            else:
                again = self.similarity.pairs(similar._replace(rows=found))
                yield from (replace(pairs, compared=0) for pairs in self._reaching(query, again))

    def _scores(
        self, i: Ints, j: Ints, similarity: Floats, means: Callable[[Side, Ints], Floats], certainty: Floats
    ) -> Scores:
        neighbours = means("requirement", i), means("test_case", j)
        return self.calibration.scores(similarity, *neighbours, certainty, self._metadata(i, j))

    def _metadata(self, i: Ints, j: Ints) -> Agreement:
        return compare(self._snapshot, i, j) if self.calibration.heuristic else nothing_known(len(i))

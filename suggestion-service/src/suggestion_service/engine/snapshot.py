"""The corpus at one moment: scores pairs, and explains scores. Never changes; safe to use in any thread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.blend import Part, hybrid, most_hybrid, total, whole
from suggestion_service.engine.explanation import Explanation, explanation
from suggestion_service.engine.metadata import MetadataComparison
from suggestion_service.engine.similarity import (
    LexicalSimilarity,
    Similarity,
    inverse_document_frequencies,
    keyword_weights,
    merged,
    tfidf_weights,
)
from suggestion_service.engine.tile import TILE_ROWS, Collection, Floats, Ints, Tile

Algorithm = Literal["tfidf", "keyword", "hybrid"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

_EXPLAINED_AT_ONCE = 512
# More than rounding can lift a score by.
_ROUNDING = 1e-6


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


class Snapshot:
    """Get one from `Corpus.snapshot()`."""

    def __init__(
        self,
        *,
        requirements: Collection,
        test_cases: Collection,
        term_names: tuple[str, ...],
        document_frequencies: Ints,
        labels: int,
    ) -> None:
        self._requirements, self._test_cases, self._term_names = requirements, test_cases, term_names
        # Read at once: the corpus goes on counting in the array it came from.
        idf = inverse_document_frequencies(len(requirements) + len(test_cases), document_frequencies)
        self._semantic: Similarity = LexicalSimilarity(tfidf_weights, idf)
        self._keyword: Similarity = LexicalSimilarity(keyword_weights, idf)
        self._metadata = MetadataComparison(labels)

    def score(
        self,
        algorithm: Algorithm,
        threshold: float,
        requirements: Sequence[UUID] | None = None,
        test_cases: Sequence[UUID] | None = None,
        block_rows: int = 256,
    ) -> Iterator[Block]:
        """Score requirements against test cases, block by block; None means all items of that side.

        Gives every pair whose score, rounded to 6 decimals, is at least `threshold` and above 0: threshold 0
        means every pair that has something in common. Ids that the corpus does not have are left out.
        The order of the pairs in a block means nothing.
        A block looks at `block_rows` requirements against up to 2048 test cases; at more against fewer.
        """
        lefts, rights = self._requirements.tiles(requirements), self._test_cases.tiles(test_cases)
        every = sum(len(left) for _, left in lefts) * sum(len(right) for _, right in rights)
        done = 0
        for left_ids, left in lefts:
            for right_ids, right in rights:
                step = max(block_rows, block_rows * TILE_ROWS // len(right))
                for start in range(0, len(left), step):
                    rows = slice(start, min(start + step, len(left)))
                    i, j, parts = self._between(algorithm, threshold, left, rows, right)
                    scores = total(parts)
                    kept = (scores >= threshold) & (scores > 0)
                    pairs = (rows.stop - rows.start) * len(right)
                    done += pairs
                    yield Block(left_ids[i[kept] + start], right_ids[j[kept]], scores[kept], pairs, done / every)

    def explain(
        self,
        algorithm: Algorithm,
        requirement_id: UUID,
        test_case_id: UUID,
        words: Mapping[UUID, Mapping[str, str]] | None = None,
    ) -> Explanation:
        """Explain the score of one pair; see `explain_many`."""
        return self.explain_many(algorithm, [(requirement_id, test_case_id)], words)[0]

    def explain_many(
        self,
        algorithm: Algorithm,
        pairs: Sequence[tuple[UUID, UUID]],
        words: Mapping[UUID, Mapping[str, str]] | None = None,
    ) -> list[Explanation]:
        """Explain the scores of (requirement, test case) pairs, in their order; far quicker than one by one.

        `words` gives for an item the `readable_words` of its texts: the explanation then shows words as they
        stand in the requirement, else in the test case. Terms of other items are shown as stems.
        Raises KeyError for an id that the corpus does not have.
        """
        explained: list[Explanation] = []
        for start in range(0, len(pairs), _EXPLAINED_AT_ONCE):
            explained += self._explain(algorithm, pairs[start : start + _EXPLAINED_AT_ONCE], words or {})
        return explained

    def _between(
        self, algorithm: Algorithm, threshold: float, left: Tile, rows: slice, right: Tile
    ) -> tuple[Ints, Ints, dict[str, Part]]:
        """Give (row within `rows`, test case, parts of the score) of all pairs that may reach the threshold."""
        floor = threshold - _ROUNDING
        if algorithm != "hybrid":
            found = self._single(algorithm).between(left, rows, right)
            at = np.flatnonzero((found.data >= floor) & (found.data > 0))
            i = np.searchsorted(found.indptr, at, side="right") - 1
            return i, found.indices[at], whole(algorithm, found.data[at])
        semantic = self._semantic.between(left, rows, right).toarray()
        keyword = self._keyword.between(left, rows, right).toarray()
        i, j = np.nonzero((most_hybrid(semantic, keyword) >= floor) & (semantic > 0))
        metadata = self._metadata.compare(left, i + rows.start, right, j)
        return i, j, hybrid(semantic[i, j], keyword[i, j], metadata)

    def _single(self, algorithm: Algorithm) -> Similarity:
        return self._semantic if algorithm == "tfidf" else self._keyword

    def _explain(
        self,
        algorithm: Algorithm,
        pairs: Sequence[tuple[UUID, UUID]],
        words: Mapping[UUID, Mapping[str, str]],
    ) -> Iterator[Explanation]:
        left = Tile([self._requirements[requirement_id] for requirement_id, _ in pairs])
        right = Tile([self._test_cases[test_case_id] for _, test_case_id in pairs])
        metadata: list[list[str]] = [[] for _ in pairs]
        if algorithm != "hybrid":
            score, matches = self._single(algorithm).matches(left, right)
            parts = whole(algorithm, score)
        else:
            (semantic, words_matched), (keyword, keywords_matched) = (
                similarity.matches(left, right) for similarity in (self._semantic, self._keyword)
            )
            agreement = self._metadata.compare(left, np.arange(len(pairs)), right, np.arange(len(pairs)))
            parts, metadata = hybrid(semantic, keyword, agreement), agreement.in_words()
            matches = merged((words_matched, parts["semantic"].weight), (keywords_matched, parts["keyword"].weight))
        bounds = np.searchsorted(matches.pair, np.arange(len(pairs) + 1)).tolist()
        added = list(zip(matches.term.tolist(), matches.weight.tolist(), strict=True))
        for k, ((requirement_id, test_case_id), score) in enumerate(zip(pairs, total(parts).tolist(), strict=True)):
            first, second = words.get(requirement_id, {}), words.get(test_case_id, {})
            names = ((self._term_names[term], weight) for term, weight in added[bounds[k] : bounds[k + 1]])
            yield explanation(
                algorithm,
                score,
                {name: (part.score[k], part.weight[k]) for name, part in parts.items()},
                [(first.get(name) or second.get(name) or name, weight) for name, weight in names],
                metadata[k],
            )

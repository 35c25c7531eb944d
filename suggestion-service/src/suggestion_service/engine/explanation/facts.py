"""From pairs of rows to the facts that explain their scores, many pairs at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Ints
from suggestion_service.engine.corpus.query import Algorithm
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.explanation.evidence import Common
from suggestion_service.engine.explanation.explanation import Facts
from suggestion_service.engine.explanation.term_ranking import TermRanking, rank_terms
from suggestion_service.engine.lexical.similarity import Part, Similarity, weighted_sum
from suggestion_service.engine.ranking.calibration import HybridScores, rounded
from suggestion_service.engine.ranking.hybrid import HybridRanking
from suggestion_service.engine.ranking.metadata import other_modules

_MOST_TERMS = 500
"""Shared terms that are looked at, the heaviest: texts of a megabyte share a hundred thousand."""


def facts(
    snapshot: Snapshot, algorithm: Algorithm, similarity: Similarity, hybrid: HybridRanking | None, i: Ints, j: Ints
) -> Iterator[Facts]:
    """Return for each pair of rows (i[k], j[k]) what its score is made of; `hybrid`: None for the other algorithms."""
    words = similarity.term_products(i, j)
    hybrid_facts: Sequence[dict[str, Any]] = [{}] * len(i)
    if hybrid is None:
        scores, words_weight = weighted_sum(words.cosines, similarity.weights), np.ones(len(i))
        parts: dict[str, Part] = {algorithm: Part(scores, words_weight)}
    else:
        of_texts, similar = similarity.parts(i, j, words)
        scored = hybrid.scores(i, j, similar)
        scores = scored.score
        words_weight = (of_texts["semantic"].weight + of_texts["keyword"].weight) * scored.gain
        hybrid_facts = _hybrid_facts(scored, hybrid.calibration.steps(scored, of_texts))
        parts = {
            "texts": Part(scored.probability, scored.text_weight),
            "heuristic": Part(scored.agreed, scored.metadata_weight),
        }
    weights = weighted_sum(words.products, similarity.weights) * words_weight[words.pair]
    frequencies = snapshot.document_frequencies[words.terms]
    ranking = rank_terms(words.pair, weights, frequencies, len(i), _MOST_TERMS)
    names = snapshot.term_names[words.terms]
    best, weight_of = names[ranking.best].tolist(), weights[ranking.best].tolist()
    bounds, others, other_weight = (column.tolist() for column in (ranking.starts, *ranking[-2:]))
    common = _common(snapshot.count, names, frequencies, ranking)
    of_parts = {name: zip(part.score.tolist(), part.weight.tolist(), strict=True) for name, part in parts.items()}
    other_module = other_modules(snapshot, i, j).tolist()
    for k, score in enumerate(rounded(scores).tolist()):
        of_pair = slice(bounds[k], bounds[k + 1])
        yield Facts(
            algorithm,
            score,
            {name: next(part) for name, part in of_parts.items()},
            dict(zip(best[of_pair], weight_of[of_pair], strict=True)),
            common[k],
            others[k],
            other_weight[k],
            other_module=other_module[k],
            **hybrid_facts[k],
        )


def _common(items: int, names: NDArray[Any], frequencies: Ints, ranking: TermRanking) -> list[Common | None]:
    """Return for each pair how common the terms are that it shares; None where it shares none."""
    if not len(names):
        return [None] * len(ranking.rarest)
    rarest, second = ranking.rarest, ranking.next
    columns = names[rarest], frequencies[rarest], np.where(second >= 0, frequencies[second], 0)
    return [
        Common(term, fewest, more, items) if place >= 0 else None
        for place, term, fewest, more in zip(rarest.tolist(), *(column.tolist() for column in columns), strict=True)
    ]


def _hybrid_facts(scored: HybridScores, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each pair what only a hybrid score knows."""
    return [
        {
            "agreement": agreement,
            "closer_test_cases": step["likeness"] < step["requirement_neighbours"],
            "closer_requirements": step["likeness"] < step["test_case_neighbours"],
            "by_meaning": "whole_text" in step["parts"],
            "calculation": step,
        }
        for agreement, step in zip(scored.metadata.in_words(), steps, strict=True)
    ]

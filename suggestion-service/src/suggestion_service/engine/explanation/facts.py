"""From pairs of rows to the facts that explain their scores, many pairs at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Floats, Ints
from suggestion_service.engine.corpus.query import Algorithm
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.explanation.evidence import Common
from suggestion_service.engine.explanation.explanation import Facts
from suggestion_service.engine.explanation.term_ranking import DECIMALS, TermRanking, rank_terms
from suggestion_service.engine.lexical.similarity import Part, weighted_sum
from suggestion_service.engine.ranking.calibrated_ranking import CalibratedRanking
from suggestion_service.engine.ranking.calibration import Scores, rounded
from suggestion_service.engine.ranking.metadata import other_modules

_MOST_TERMS = 500
"""Shared terms that are looked at, the heaviest: texts of a megabyte share a hundred thousand."""


def facts(snapshot: Snapshot, algorithm: Algorithm, ranking: CalibratedRanking, i: Ints, j: Ints) -> Iterator[Facts]:
    """Return for each pair of rows (i[k], j[k]) what its score is made of."""
    similarity = ranking.similarity
    words = similarity.term_products(i, j)
    of_texts, similar = similarity.parts(i, j, words)
    scored = ranking.scores(i, j, similar)
    words_weight = sum(of_texts[name].weight for name in similarity.names) * scored.gain
    ranking_facts = _ranking_facts(scored, ranking.calibration.steps(scored, of_texts))
    parts = {"texts": Part(scored.probability, scored.text_weight)}
    if algorithm == "hybrid":
        parts["heuristic"] = Part(scored.agreed, scored.metadata_weight)
    else:
        # The plain cosine, which has no share of its own: it is what the probability is made of.
        parts[algorithm] = Part(similar, np.zeros(len(i)))
    weights = weighted_sum(words.products, similarity.weights) * words_weight[words.pair]
    pair, terms = words.pair, words.terms
    inferred_weight: Floats = np.zeros(len(i))
    if snapshot.inferred is not None:
        inferred = snapshot.inferred[terms]
        inferred_weight = np.bincount(pair[inferred], weights[inferred], minlength=len(i)).astype(np.float64)
        pair, terms, weights = pair[~inferred], terms[~inferred], weights[~inferred]
    frequencies = snapshot.document_frequencies[terms]
    ranked = rank_terms(pair, weights, frequencies, len(i), _MOST_TERMS)
    names = snapshot.term_names[terms]
    best, weight_of = names[ranked.best].tolist(), weights[ranked.best].round(DECIMALS).tolist()
    bounds, others = ranked.starts.tolist(), ranked.others.tolist()
    other_weight = (ranked.other_weight + inferred_weight).round(DECIMALS).tolist()
    common = _common(snapshot.count, names, frequencies, ranked)
    of_parts = {name: zip(part.score.tolist(), part.weight.tolist(), strict=True) for name, part in parts.items()}
    other_module = other_modules(snapshot, i, j).tolist()
    for k, score in enumerate(rounded(scored.score).tolist()):
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
            languages=snapshot.languages,
            **ranking_facts[k],
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


def _ranking_facts(scored: Scores, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each pair how its score came about, and what is closer."""
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

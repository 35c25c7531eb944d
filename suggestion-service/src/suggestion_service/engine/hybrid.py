"""How a hybrid score comes about: the texts, corrected for what resembles everything, as a probability; and metadata.

The frame is 0.6 semantic + 0.3 keyword + 0.1 heuristic. The figures of the calibration were fitted on public sets of
requirements and tests with known links.
"""

from dataclasses import dataclass

import numpy as np

from suggestion_service.engine.metadata import Agreement
from suggestion_service.engine.neighbours import LEAST, NEIGHBOURS
from suggestion_service.engine.shelf import Floats

SEMANTIC, KEYWORD, HEURISTIC = 0.6, 0.3, 0.1
TEXT = SEMANTIC + KEYWORD
PARTS = {"semantic": SEMANTIC / TEXT, "keyword": KEYWORD / TEXT}
"""The parts of the likeness of texts, with their weights."""
INTERCEPT, SLOPE = -0.5, 18.5


@dataclass(frozen=True, slots=True)
class HybridScores:
    """The scores of some pairs, and all that they are made of: parallel arrays.

    score = text_weight x probability + metadata_weight x agreed, with probability = 1 / (1 + exp(-(INTERCEPT + SLOPE x
    advantage))) and advantage = 2 x likeness - the means of the nearest neighbours of either item.
    """

    likeness: Floats
    requirement_neighbours: Floats
    test_case_neighbours: Floats
    probability: Floats
    text_weight: Floats
    agreed: Floats
    metadata_weight: Floats
    score: Floats

    @property
    def lift(self) -> Floats:
        """What the likeness of each pair is multiplied by until it is the texts' share of the score."""
        texts = self.text_weight * self.probability
        return np.divide(texts, self.likeness, out=self.text_weight.copy(), where=self.likeness > 0.0)

    def components(self, cosines: Floats) -> list[dict[str, tuple[float, float]]]:
        """Give for each pair the (score, weight) of its parts, which add up to its score.

        `cosines` (2, pairs) are those of the two parts of the texts.
        """
        lift = self.lift
        parts = {name: (cosines[k], weight * lift) for k, (name, weight) in enumerate(PARTS.items())}
        parts["heuristic"] = (self.agreed, self.metadata_weight)
        return [
            {name: (float(score[k]), float(weight[k])) for name, (score, weight) in parts.items()}
            for k in range(len(self.score))
        ]

    def calculations(self) -> list[dict[str, float]]:
        """Give for each pair the figures from likeness to probability."""
        return [
            {
                "likeness": likeness,
                "requirement_neighbours": requirement,
                "test_case_neighbours": test_case,
                "intercept": INTERCEPT,
                "slope": SLOPE,
                "probability": probability,
            }
            for likeness, requirement, test_case, probability in zip(
                self.likeness.round(9).tolist(),
                self.requirement_neighbours.round(9).tolist(),
                self.test_case_neighbours.round(9).tolist(),
                self.probability.round(9).tolist(),
                strict=True,
            )
        ]


def hybrid(
    likeness: Floats, requirement_neighbours: Floats, test_case_neighbours: Floats, metadata: Agreement
) -> HybridScores:
    """Score pairs. What metadata one side lacks takes its share of the weight with it, so that it lowers no score;
    and metadata without any likeness of the texts makes none.
    """
    probability = _logistic(2.0 * likeness - requirement_neighbours - test_case_neighbours)
    probability = np.where(likeness > 0.0, probability, 0.0)
    known = np.where(likeness > 0.0, metadata.known, 0.0)
    weight = TEXT + HEURISTIC * known
    agreed = np.divide(metadata.agreed, known, out=np.zeros_like(known), where=known > 0.0)
    text_weight, metadata_weight = TEXT / weight, HEURISTIC * known / weight
    return HybridScores(
        likeness,
        requirement_neighbours,
        test_case_neighbours,
        probability,
        text_weight,
        agreed,
        metadata_weight,
        text_weight * probability + metadata_weight * agreed,
    )


def least_advantage(score: float) -> float:
    """Give the advantage that a pair needs for this score, whatever its metadata say: minus infinity for any."""
    probability = (score * (TEXT + HEURISTIC) - HEURISTIC) / TEXT
    if probability <= 0.0:
        return -np.inf
    if probability >= 1.0:
        return np.inf
    return (float(np.log(probability / (1.0 - probability))) - INTERCEPT) / SLOPE


def least_likeness(score: float) -> float:
    """Give the likeness that a pair needs for this score, whatever its neighbours are and its metadata say."""
    return max(0.0, least_advantage(score) / 2.0 + LEAST)


def may_reach(score: float, likeness: Floats, neighbours: Floats) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Tell which pairs may have this score, when the neighbours of one of the two are known: the pair itself is one
    of the other's.
    """
    least_mean = (np.maximum(likeness, LEAST) + (NEIGHBOURS - 1) * LEAST) / NEIGHBOURS
    # A mean of nearest neighbours is no smaller than this pair makes it, if it is one of them, else no smaller than
    # the pair's own likeness.
    return 2.0 * likeness - neighbours - least_mean >= least_advantage(score) - 1e-9


def _logistic(advantage: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-(INTERCEPT + SLOPE * advantage)))

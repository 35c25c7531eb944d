"""How a score comes about: the texts, corrected for hubs (CSLS), as a probability; of hybrid, the metadata, too.

The frame of hybrid is 0.6 semantic + 0.3 keyword + 0.1 heuristic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suggestion_service.engine.corpus.arrays import Floats
from suggestion_service.engine.corpus.query import Algorithm
from suggestion_service.engine.lexical.similarity import Part
from suggestion_service.engine.ranking.metadata import Agreement
from suggestion_service.engine.ranking.neighbourhoods import NEIGHBOURS

_DECIMALS = 6
SEMANTIC, KEYWORD, HEURISTIC = 0.6, 0.3, 0.1
TEXT = SEMANTIC + KEYWORD
LEXICAL_PARTS = {"semantic": SEMANTIC / TEXT, "keyword": KEYWORD / TEXT}
"""The parts of the similarity of words of hybrid, with their weights."""

_SAME, _LESS_SAME = 0.3, 20.0
"""Texts that are the same belong together although they are the nearest neighbours of others, too: CSLS counts as
_SAME there at least, and by _LESS_SAME less for each 1 that the similarity is lower.
"""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of some pairs, and all that they are made of: parallel arrays.

    score = text_weight x probability + metadata_weight x agreed; what the probability comes from: `Calibration`.
    """

    similarity: Floats
    requirement_neighbours: Floats
    test_case_neighbours: Floats
    csls: Floats
    certainty: Floats
    probability: Floats
    text_weight: Floats
    agreed: Floats
    metadata_weight: Floats
    score: Floats
    metadata: Agreement

    @property
    def gain(self) -> Floats:
        """What the similarity of each pair is multiplied by to be the texts' share of the score."""
        texts = self.text_weight * self.probability
        return np.divide(texts, self.similarity, out=np.zeros_like(texts), where=self.similarity > 0.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """From similarity to probability: 1 / (1 + exp(-(intercept + slope x CSLS)) + exp(-certainty)).

    CSLS (cross-domain similarity local scaling) corrects for hubs, items that resemble everything: 2 x similarity - the
    means of the nearest neighbours of either item, of which each counts `floor` at least. The certainty, of what both
    share (`Evidence`), is what the probability cannot pass. `heuristic` is the weight of the metadata. The figures were
    fitted on public sets of requirements and tests with known links.
    """

    intercept: float
    slope: float
    floor: float
    heuristic: float = 0.0

    def fitted(self, intercept: float, slope: float) -> "Calibration":
        """Return the same with figures that were fitted otherwise."""
        return replace(self, intercept=intercept, slope=slope)

    def scores(
        self,
        similarity: Floats,
        requirement_neighbours: Floats,
        test_case_neighbours: Floats,
        certainty: Floats,
        metadata: Agreement,
    ) -> Scores:
        """Score pairs. What metadata one side lacks takes its share of the weight with it, so that it lowers no
        score; and metadata without any similarity of the texts makes none.
        """
        csls = 2.0 * similarity - requirement_neighbours - test_case_neighbours
        csls = np.maximum(csls, _SAME - _LESS_SAME * (1.0 - similarity))
        probability = 1.0 / (1.0 + np.exp(-(self.intercept + self.slope * csls)) + np.exp(-certainty))
        probability = np.where(similarity > 0.0, probability, 0.0)
        known = np.where(similarity > 0.0, metadata.known, 0.0)
        text = 1.0 - self.heuristic
        weight = text + self.heuristic * known
        agreed = np.divide(metadata.agreed, known, out=np.zeros_like(known), where=known > 0.0)
        text_weight, metadata_weight = text / weight, self.heuristic * known / weight
        return Scores(
            similarity,
            requirement_neighbours,
            test_case_neighbours,
            csls,
            certainty,
            probability,
            text_weight,
            agreed,
            metadata_weight,
            text_weight * probability + metadata_weight * agreed,
            metadata,
        )

    def steps(self, scored: Scores, parts: Mapping[str, Part]) -> list[dict[str, Any]]:
        """Return each pair's figures from the `parts` of the similarity, {name: {"score", "weight"}}, to probability.

        The weights of the parts add up to 1; a part of weight 0 is left out.
        """
        columns = {
            "likeness": scored.similarity,
            "requirement_neighbours": scored.requirement_neighbours,
            "test_case_neighbours": scored.test_case_neighbours,
            "csls": scored.csls,
            "intercept": np.full_like(scored.similarity, self.intercept),
            "slope": np.full_like(scored.similarity, self.slope),
            "certainty": scored.certainty,
            "probability": scored.probability,
        }
        rows = zip(*(column.round(9).tolist() for column in columns.values()), strict=True)
        of_parts = [(name, part.score.round(9).tolist(), part.weight.round(9).tolist()) for name, part in parts.items()]
        return [
            {
                "parts": {
                    name: {"score": score[k], "weight": weight[k]} for name, score, weight in of_parts if weight[k]
                },
                **dict(zip(columns, row, strict=True)),
            }
            for k, row in enumerate(rows)
        ]

    def needed_similarity(self, score: float, neighbours: Floats) -> Floats:
        """Return the similarity that a pair needs for this score, whatever its metadata and evidence say, when the
        `neighbours` of only one of the two items are known.
        """
        # The other's neighbours mean `floor` or more, and more with the pair among them.
        csls = self._needed_csls(score)
        needed = csls + neighbours
        rest = (NEIGHBOURS - 1) / NEIGHBOURS * self.floor
        similarity = np.maximum((needed + self.floor) / 2.0, 0.0)
        similarity = np.where(similarity < self.floor, similarity, (needed + rest) / (2.0 - 1.0 / NEIGHBOURS))
        return np.minimum(similarity, max(1.0 - (_SAME - csls) / _LESS_SAME, 0.0)) - 1e-9

    def upper_bounds(self, similarity: Floats, neighbours: Floats, metadata: Agreement) -> Floats:
        """Return what the scores do not exceed when the `neighbours` of only one of the two items are known."""
        # The pair itself is among the other's nearest neighbours, or these are more similar than the pair.
        least_mean = (np.maximum(similarity, self.floor) + (NEIGHBOURS - 1) * self.floor) / NEIGHBOURS
        return self.scores(similarity, neighbours, least_mean, np.full_like(similarity, np.inf), metadata).score

    def _needed_csls(self, score: float) -> float:
        """Return the CSLS that a pair needs for this score when all its metadata agree."""
        probability = (score - self.heuristic) / (1.0 - self.heuristic)
        if probability <= 0.0:
            return -np.inf
        if probability >= 1.0:
            return np.inf
        return (float(np.log(probability / (1.0 - probability))) - self.intercept) / self.slope


def rounded(scores: Floats) -> Floats:
    """Return scores as they are stored and compared: 0 to 1, with 6 decimals."""
    rounded: Floats = scores.clip(0.0, 1.0).round(_DECIMALS)
    return rounded


CALIBRATIONS: dict[Algorithm, Calibration] = {
    "tfidf": Calibration(intercept=-0.75, slope=33.0, floor=0.1),
    "keyword": Calibration(intercept=-0.75, slope=24.0, floor=0.15),
    "hybrid": Calibration(intercept=-0.75, slope=24.0, floor=0.15, heuristic=HEURISTIC),
}
EMBEDDED = Calibration(intercept=-0.8, slope=16.0, floor=0.2, heuristic=HEURISTIC)
"""That of hybrid with embeddings."""

"""What the calibration is worth on sets that it was not fitted on: each is left out once, and scored by the others."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.quality import measures
from benchmarks.quality.labelled import LabelledSet, Scores
from benchmarks.quality.measures import Figures
from suggestion_service import item_files
from suggestion_service.engine import ALGORITHMS, CALIBRATIONS, Algorithm, Calibration
from suggestion_service.score import FileCorpus

_INTERCEPTS = (-1.25, -1.0, -0.75, -0.5, -0.25)
_SLOPES = (0.75, 1.0, 1.3)
"""Of the slope that is shipped."""


def figures(found: Sequence[LabelledSet]) -> Mapping[str, list[Figures]]:
    """Return for each algorithm the figures of each set with the calibration that is best, by F1, on the others."""
    corpora = [
        FileCorpus(list(item_files.read(one.requirements)), list(item_files.read(one.test_cases))) for one in found
    ]
    return {algorithm: _of(algorithm, found, corpora) for algorithm in ALGORITHMS}


def _of(algorithm: Algorithm, found: Sequence[LabelledSet], corpora: Sequence[FileCorpus]) -> list[Figures]:
    shipped = CALIBRATIONS[algorithm]
    tried = [shipped.fitted(intercept, slope * shipped.slope) for intercept in _INTERCEPTS for slope in _SLOPES]

    def scores(place: int, calibration: Calibration, threshold: float) -> Scores:
        return found[place].matrix_of(corpora[place].calibrated(algorithm, calibration).scores(algorithm, threshold))

    f1 = np.array(
        [
            [measures.f1(scores(place, calibration, measures.THRESHOLD), found[place].truth) for calibration in tried]
            for place in range(len(found))
        ]
    )
    best = [int(np.delete(f1, left, axis=0).mean(axis=0).argmax()) for left in range(len(found))]
    return [measures.figures(scores(left, tried[best[left]], 0.0), found[left].truth) for left in range(len(found))]

"""What the calibration is worth on sets that it was not fitted on: each is left out once, and scored by the others."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.quality import measures
from benchmarks.quality.labelled import LabelledSet
from benchmarks.quality.measures import Figures
from suggestion_service import item_files
from suggestion_service.engine import ALGORITHMS, CALIBRATIONS, Algorithm
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
    tried = [
        [
            measures.figures(
                data_set.matrix_of(corpus.calibrated(algorithm, calibration).scores(algorithm)), data_set.truth
            )
            for data_set, corpus in zip(found, corpora, strict=True)
        ]
        for calibration in (
            shipped.fitted(intercept, slope * shipped.slope) for intercept in _INTERCEPTS for slope in _SLOPES
        )
    ]
    f1 = np.array([[of_set.f1 for of_set in of_calibration] for of_calibration in tried])
    return [tried[int(np.delete(f1, left, axis=1).mean(axis=1).argmax())][left] for left in range(len(found))]

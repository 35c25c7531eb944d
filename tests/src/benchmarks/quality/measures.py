"""What scores are worth beside the true links: the figures of the table, and the precision in each display band."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.quality.labelled import Scores, Truth

THRESHOLD = 0.3
# The lower ends of what people see as very high, high, moderate and low, down to what is suggested at all.
BANDS = {"0.90-1.00": 0.90, "0.75-0.89": 0.75, "0.60-0.74": 0.60, "0.30-0.59": THRESHOLD}


class Figures(NamedTuple):
    """Mean average precision over the requirements that have a link; over all pairs in one list average precision,
    the best F1 of all thresholds, and F1 at 0.3.
    """

    map: float
    ap: float
    best_f1: float
    f1: float


class Band(NamedTuple):
    """Of `suggested` pairs with a score in the band, `right` are links."""

    suggested: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.suggested


def figures(scores: Scores, truth: Truth) -> Figures:
    """Measure scores of shape (requirements, test cases). Equal scores rank by a fixed draw, not in favour of links."""
    from sklearn.metrics import average_precision_score, precision_recall_curve  # takes a second or two

    rank = _ranks(scores)
    linked = np.flatnonzero(truth.any(axis=1))
    precision, recall, _ = precision_recall_curve(truth.ravel(), rank.ravel())
    both = np.maximum(precision + recall, 1e-12)
    return Figures(
        map=float(np.mean([average_precision_score(truth[i], rank[i]) for i in linked])),
        ap=float(average_precision_score(truth.ravel(), rank.ravel())),
        best_f1=float((2 * precision * recall / both).max()),
        f1=f1(scores, truth),
    )


def f1(scores: Scores, truth: Truth) -> float:
    """Return F1 at 0.3."""
    given = scores >= THRESHOLD
    return float(2 * (given & truth).sum() / max(given.sum() + truth.sum(), 1))


def _ranks(scores: Scores) -> Scores:
    """Number the pairs from the lowest score to the highest, no two alike."""
    draw = np.random.RandomState(0).rand(scores.size)
    order = np.lexsort((draw, scores.ravel()))
    ranks = np.empty(scores.size)
    ranks[order] = np.arange(scores.size)
    return ranks.reshape(scores.shape)


def mean(measured: Sequence[Figures]) -> Figures:
    """Return the macro mean: every data set counts the same."""
    return Figures(*np.mean(measured, axis=0).tolist())


def bands(scores: Scores, truth: Truth) -> list[Band]:
    """Count each band of `BANDS`, highest first."""
    found = []
    above = np.inf
    for lower in BANDS.values():
        within = (scores >= lower) & (scores < above)
        found.append(Band(int(within.sum()), int((within & truth).sum())))
        above = lower
    return found


def precision_rises(counted: Sequence[Band]) -> bool:
    """Say whether each band, highest first, is righter than the next; bands without a suggestion do not count."""
    precisions = [band.precision for band in counted if band.suggested]
    return all(higher > lower or higher == 1 for higher, lower in pairwise(precisions))

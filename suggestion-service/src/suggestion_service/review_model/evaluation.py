"""The guard: whether reviews would have ranked the accepted above the rejected better than the score alone did."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.store.learning import State

LEAST_OF_EACH = 10
"""Reviews of both kinds, below which nothing is measured."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How often an accepted pair comes before a rejected one: by the score alone, and with what the others say.

    `error` is the standard error of the difference. All three are None when there are too few reviews.
    """

    accepted: int
    rejected: int
    by_score: float | None = None
    with_reviews: float | None = None
    error: float | None = None

    @classmethod
    def stored(cls, state: State) -> "Evaluation":
        """Return what was measured last."""
        return cls(state.accepted, state.rejected, state.by_score, state.with_reviews, state.error)

    @property
    def helps(self) -> bool:
        """Whether the order is better with reviews, by more than chance may well do."""
        if self.by_score is None or self.with_reviews is None or self.error is None:
            return False
        return self.with_reviews - self.by_score > max(self.error, 1e-9)

    @property
    def reason(self) -> str:
        """The same in words."""
        if self.by_score is None or self.with_reviews is None:
            return (
                f"Off: it takes {LEAST_OF_EACH} accepted and {LEAST_OF_EACH} rejected pairs to see whether reviews"
                f" help; there are {self.accepted} and {self.rejected}."
            )
        figures = (
            "judged by the other reviews, an accepted pair comes before a rejected one in"
            f" {self.with_reviews:.1%} of all cases, by the score alone in {self.by_score:.1%}"
        )
        if self.helps:
            return f"On: {figures}."
        better = self.with_reviews > self.by_score
        return f"Off: {figures}; that is {'not enough of a difference' if better else 'no better'}."

    @property
    def basis(self) -> str:
        """What is learnt from, in words."""
        return (
            f"{self.accepted} accepted and {self.rejected} rejected pairs: the latest of each, half and half as far as"
            " there are as many, at most 1,000 together and at most 50 of one review. A review does not count once a"
            " text of its pair has changed, its link was deleted, or it was undone."
        )


def compare(before: NDArray[np.float64], after: NDArray[np.float64], accepted: NDArray[np.bool_]) -> Evaluation:
    """Compare two rankings of the same reviews, the higher value first; both kinds of review must be there."""
    shares = [(np.sign(values[accepted][:, None] - values[~accepted]) + 1) / 2 for values in (before, after)]
    gain = shares[1] - shares[0]
    # Of a mean over all pairs of two samples, not of so many independent values.
    error = np.sqrt(gain.mean(axis=1).var() / gain.shape[0] + gain.mean(axis=0).var() / gain.shape[1])
    by_score, with_reviews = (round(float(share.mean()), 6) for share in shares)
    return Evaluation(gain.shape[0], gain.shape[1], by_score, with_reviews, round(float(error), 6))

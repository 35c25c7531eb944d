"""What reviews teach: a pair like those that were rejected moves down, one like those that were accepted up.

Nothing here changes a score. The log-odds of the score and the adjustment together are what people may sort by.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.review_model.evaluation import LEAST_OF_EACH, Evaluation, compare

Floats = NDArray[np.float64]
Terms = Mapping[str, int]
"""An item's terms with their counts, as the engine's `terms` gives them."""

_PULL = 4.0
_DOUBT = 1.0
"""How much likeness to reviewed pairs it takes to come half the way to what they say."""
_MOST = 2.0
"""No adjustment is larger, in log-odds."""
_LEAST = 0.005
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Review:
    """A pair that was accepted or rejected, with its score then."""

    requirement_id: UUID
    test_case_id: UUID
    accepted: bool
    score: float


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What reviews say of a pair, in log-odds, and the places of the reviews that say most, with their likeness."""

    value: float
    because: list[tuple[int, float]]


class ReviewModel:
    """What some reviews teach. A pair is as like another as their requirements are, times as their test cases are."""

    def __init__(self, reviews: Sequence[Review], terms: Mapping[UUID, Terms]) -> None:
        """Learn; `terms` are those of the items of the reviews. Takes about half a second for 1,000 reviews."""
        rarity = _Rarity([terms[item_id] for item_id in _items_of(reviews)])
        self._requirements = _Similarity([terms[review.requirement_id] for review in reviews], rarity)
        self._test_cases = _Similarity([terms[review.test_case_id] for review in reviews], rarity)
        self._accepted = np.array([review.accepted for review in reviews], bool)
        # A score of 0 or 1 is no certainty: the constants are also those of the column `relevance`.
        expected = 0.001 + 0.98 * np.array([review.score for review in reviews], np.float64)
        self._log_odds = np.log(expected / (1 - expected))
        self._surprise = self._accepted - expected
        self._reviews, self._terms = reviews, terms

    def evaluate(self) -> Evaluation:
        """Measure on the reviews themselves, each judged by all the others, whether the adjustment helps."""
        accepted = int(self._accepted.sum())
        rejected = len(self._accepted) - accepted
        if min(accepted, rejected) < LEAST_OF_EACH:
            return Evaluation(accepted, rejected)
        like = np.stack([self.like_requirement(self._terms[review.requirement_id]) for review in self._reviews])
        like *= np.stack([self.like_test_case(self._terms[review.test_case_id]) for review in self._reviews])
        np.fill_diagonal(like, 0)
        return compare(self._log_odds, self._log_odds + self._values(like), self._accepted)

    def like_requirement(self, terms: Terms) -> Floats:
        """Return how like a requirement is to that of each review, 0 to 1."""
        return self._requirements.to(terms)

    def like_test_case(self, terms: Terms) -> Floats:
        """Return how like a test case is to that of each review, 0 to 1."""
        return self._test_cases.to(terms)

    def adjustments(self, like_requirements: Floats, like_test_cases: Floats) -> list[Adjustment | None]:
        """Return what the reviews say of pairs, None where they say nothing.

        Row k is how like the items of pair k are to those of each review.
        """
        like = like_requirements * like_test_cases
        values = np.round(self._values(like), 4)
        telling = np.flatnonzero(np.abs(values) >= _LEAST)
        found: list[Adjustment | None] = [None] * len(values)
        for row, because in zip(telling.tolist(), self._because(like[telling], values[telling]), strict=True):
            found[row] = Adjustment(float(values[row]), because)
        return found

    def _because(self, like: Floats, values: Floats) -> list[list[tuple[int, float]]]:
        """Return for each row which reviews say most of what it is given; of two that say as much the first."""
        rows = np.arange(len(values))
        said = like * self._surprise * np.sign(values)[:, None]
        because: list[list[tuple[int, float]]] = [[] for _ in rows]
        for _ in range(min(_NAMED, said.shape[1])):
            most = said.argmax(axis=1)
            each = zip(because, most.tolist(), said[rows, most].tolist(), like[rows, most].tolist(), strict=True)
            for named, place, how_much, likeness in each:
                if how_much > 0:
                    named.append((place, round(likeness, 4)))
            said[rows, most] = 0
        return because

    def _values(self, like: Floats) -> Floats:
        values: Floats = _PULL * (like @ self._surprise) / (_DOUBT + like.sum(axis=1))
        return np.clip(values, -_MOST, _MOST)


class _Rarity:
    """Weights of terms: rare ones among these items count more."""

    def __init__(self, items: Sequence[Terms]) -> None:
        self._count = len(items)
        self._uses = Counter(term for item in items for term in item)

    def unit(self, item: Terms) -> dict[str, float]:
        """Return the weights of an item's terms, as a vector of length 1."""
        weights = {
            term: (1 + math.log(count)) * (math.log((1 + self._count) / (1 + self._uses[term])) + 1)
            for term, count in item.items()
        }
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return {term: weight / length for term, weight in weights.items()}


class _Similarity:
    """Cosines of any item with some items."""

    def __init__(self, items: Sequence[Terms], rarity: _Rarity) -> None:
        self._count, self._rarity = len(items), rarity
        places: dict[str, list[int]] = defaultdict(list)
        weights: dict[str, list[float]] = defaultdict(list)
        for place, item in enumerate(items):
            for term, weight in rarity.unit(item).items():
                places[term].append(place)
                weights[term].append(weight)
        self._postings = {term: (np.array(places[term]), np.array(weights[term])) for term in places}

    def to(self, item: Terms) -> Floats:
        unit = self._rarity.unit(item)
        found = [(*self._postings[term], weight) for term, weight in unit.items() if term in self._postings]
        if not found:
            return np.zeros(self._count)
        places, weights, own = zip(*found, strict=True)
        whole = np.concatenate(weights) * np.repeat(own, [len(each) for each in places])
        return np.bincount(np.concatenate(places), whole, self._count).astype(np.float64, copy=False)


def _items_of(reviews: Sequence[Review]) -> set[UUID]:
    return {item_id for review in reviews for item_id in (review.requirement_id, review.test_case_id)}

"""Which of the terms that pairs share are looked at, and in what order."""

import numpy as np
import pytest

from suggestion_service.engine.explanation.term_ranking import TermRanking, rank_terms


def rank(*pairs: list[tuple[float, int]], most: int = 10) -> TermRanking:
    """Rank the matches of some pairs, each a weight and how many items have the term."""
    matches = [(pair, *match) for pair, of_pair in enumerate(pairs) for match in of_pair]
    pair, weights, frequencies = (np.array(column) for column in zip(*matches, strict=True))
    return rank_terms(pair, weights.astype(np.float64), frequencies, len(pairs), most)


def test_of_very_many_terms_the_heaviest_are_kept_and_the_weight_of_the_others_is_known() -> None:
    weights = [1.0 if number < 3 else 0.5 for number in range(1000)]
    ranking = rank([(weight, 1) for weight in weights], most=5)
    assert ranking.best.tolist() == [0, 1, 2, 3, 4]
    assert ranking.others.tolist() == [995]
    assert sum(weights[place] for place in ranking.best) + ranking.other_weight[0] == sum(weights)


def test_pairs_are_ranked_each_by_itself_and_one_that_shares_nothing_has_nothing() -> None:
    ranking = rank([(0.1, 7), (0.3, 9), (0.2, 7)], [], [(0.4, 5)])
    assert ranking.best.tolist() == [1, 2, 0, 3]
    assert ranking.starts.tolist() == [0, 3, 3, 4]
    assert (ranking.rarest.tolist(), ranking.next.tolist()) == ([0, -1, 3], [2, -1, -1])
    assert (ranking.others.tolist(), ranking.other_weight.tolist()) == ([0, 0, 0], [0.0, 0.0, 0.0])


def test_the_rarest_is_one_of_those_that_are_kept() -> None:
    ranking = rank([(0.1, 1), (0.3, 9), (0.2, 8)], most=2)
    assert (ranking.rarest.tolist(), ranking.next.tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ([0.1 + 0.2, 0.3], [0, 1]),
        ([0.3, 0.1 + 0.2], [0, 1]),
        ([0.1234567894, 0.1234567891], [0, 1]),
        ([0.1234567891, 0.1234567896], [1, 0]),
    ],
)
def test_weights_that_are_the_same_to_nine_decimals_keep_the_order_of_the_terms(
    weights: list[float], order: list[int]
) -> None:
    assert rank([(weight, 1) for weight in weights]).best.tolist() == order


def test_ties_are_those_of_decimal_rounding() -> None:
    random = np.random.default_rng(5)
    halves = np.floor(random.random(20_000) * 10**6) * 1e-9 + 0.5e-9
    weights = np.concatenate((halves, np.nextafter(halves, 0), np.nextafter(halves, 1)))
    expected = sorted(range(len(weights)), key=lambda place: -round(float(weights[place]), 9))
    assert rank([(weight, 1) for weight in weights.tolist()], most=len(weights)).best.tolist() == expected

"""What reviews say of a pair, and when they are believed."""

from uuid import UUID

import numpy as np
import pytest

from suggestion_service.review_model.evaluation import compare
from suggestion_service.review_model.model import Adjustment, Review, ReviewModel

PUMP, LAMP, DOOR = {"pump": 1, "tank": 2}, {"lamp": 1, "hall": 1}, {"door": 3}
# Odd ids are requirements, even ones test cases.
TERMS = {UUID(int=1): PUMP, UUID(int=2): PUMP, UUID(int=3): LAMP, UUID(int=4): LAMP}


def model(*reviews: tuple[int, int, bool, float]) -> ReviewModel:
    given = [Review(UUID(int=r), UUID(int=t), accepted, score) for r, t, accepted, score in reviews]
    ids = {item_id for review in given for item_id in (review.requirement_id, review.test_case_id)}
    return ReviewModel(given, {item_id: TERMS[item_id] for item_id in ids})


def adjustment(trained: ReviewModel, requirement: dict[str, int], test_case: dict[str, int]) -> Adjustment | None:
    like = trained.like_requirement(requirement), trained.like_test_case(test_case)
    return trained.adjustments(like[0][None, :], like[1][None, :])[0]


def adjusted(trained: ReviewModel, requirement: dict[str, int], test_case: dict[str, int]) -> float:
    found = adjustment(trained, requirement, test_case)
    return found.value if found else 0.0


def test_the_same_pair_gets_what_the_arithmetic_says() -> None:
    # Expected 0.001 + 0.98 * 0.5 = 0.491; likeness 1; half of a pull of 4.
    assert adjusted(model((1, 2, True, 0.5)), PUMP, PUMP) == pytest.approx(4 * 0.509 / 2)
    assert adjusted(model((1, 2, False, 0.5)), PUMP, PUMP) == pytest.approx(-4 * 0.491 / 2)


def test_a_review_that_surprises_says_more() -> None:
    assert adjusted(model((1, 2, True, 0.3)), PUMP, PUMP) > adjusted(model((1, 2, True, 0.9)), PUMP, PUMP) > 0


@pytest.mark.parametrize(("requirement", "test_case"), [(DOOR, PUMP), (PUMP, DOOR), ({}, PUMP), (LAMP, LAMP)])
def test_a_pair_of_which_one_item_is_like_no_reviewed_one_is_left_alone(
    requirement: dict[str, int], test_case: dict[str, int]
) -> None:
    assert adjusted(model((1, 2, True, 0.3)), requirement, test_case) == 0


def test_however_many_say_so_an_adjustment_is_bounded() -> None:
    assert adjusted(model(*[(1, 2, False, 1.0)] * 50), PUMP, PUMP) == -2


def test_those_are_named_who_say_most_and_the_same() -> None:
    trained = model((1, 2, True, 0.4), (3, 4, False, 0.4), (1, 4, False, 0.4), (1, 2, True, 0.2))
    found = adjustment(trained, PUMP, PUMP | {"lamp": 1})
    assert found is not None
    assert found.value > 0
    assert [place for place, _ in found.because] == [3, 0]


def test_of_those_who_say_as_much_the_first_are_named() -> None:
    trained = model((3, 4, True, 0.4), *[(1, 2, False, 0.4)] * 5)
    like = [trained.like_requirement(terms) for terms in (PUMP, DOOR, LAMP)]
    down, nothing, up = trained.adjustments(np.stack(like), np.stack(like))
    assert nothing is None
    assert down is not None
    assert [place for place, _ in down.because] == [1, 2, 3]
    assert up is not None
    assert [place for place, _ in up.because] == [0]


def test_a_review_does_not_judge_itself() -> None:
    # Each pair by itself, like no other: the reviews know all about themselves, and nothing about one another.
    terms = {UUID(int=number): {f"word{number}": 1} for number in range(48)}
    reviews = [Review(UUID(int=2 * k), UUID(int=2 * k + 1), k % 2 == 0, 0.5) for k in range(24)]
    found = ReviewModel(reviews, terms).evaluate()
    assert (found.by_score, found.with_reviews, found.helps) == (0.5, 0.5, False)


def test_a_gain_within_its_error_is_not_believed() -> None:
    accepted = np.arange(40) < 20
    chance = np.random.default_rng(1)
    before = chance.normal(size=40)
    assert not compare(before, before, accepted).helps
    worse = compare(before, -before - 2.0 * accepted, accepted)
    assert not worse.helps
    assert worse.reason.endswith("; that is no better.")
    assert not compare(before, before + 0.01 * chance.normal(size=40), accepted).helps
    one = before == np.sort(before[accepted])[-4]
    hardly = compare(before, before + 5.0 * one, accepted)
    assert not hardly.helps
    assert hardly.reason.endswith("; that is not enough of a difference.")
    assert compare(before, before + 2.0 * accepted, accepted).helps

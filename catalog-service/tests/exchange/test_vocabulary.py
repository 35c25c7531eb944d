"""What words of other tools mean here."""

import pytest

from catalog_service.exchange.vocabulary import (
    PRIORITIES,
    REQUIREMENT_STATUSES,
    TEST_CASE_STATUSES,
    meaning,
    type_of_requirement,
    type_of_test_case,
)
from catalog_service.values import PriorityLevel, RequirementStatus, RequirementType, TestCaseStatus, TestCaseType


@pytest.mark.parametrize(
    ("meanings", "values"),
    [(REQUIREMENT_STATUSES, RequirementStatus), (TEST_CASE_STATUSES, TestCaseStatus), (PRIORITIES, PriorityLevel)],
)
def test_every_value_of_the_api_means_itself(meanings: dict[str, str], values: type) -> None:
    assert {value: meaning(meanings, value) for value in values} == {value: value for value in values}  # type: ignore[attr-defined]


def test_every_type_of_the_api_means_itself() -> None:
    assert [type_of_requirement(value) for value in RequirementType] == list(RequirementType)
    assert [type_of_test_case(value) for value in TestCaseType] == list(TestCaseType)


@pytest.mark.parametrize(
    ("text", "level"), [("Must", "critical"), ("should", "high"), ("Could have", "medium"), ("won't", "low")]
)
def test_the_four_words_of_moscow_are_the_four_levels(text: str, level: str) -> None:
    assert meaning(PRIORITIES, text) == level


@pytest.mark.parametrize("text", ["not functional", "no function", "Function, not"])
def test_what_is_not_functional_is_never_functional(text: str) -> None:
    assert type_of_requirement(text) == "non_functional"


@pytest.mark.parametrize("text", ["non-functional", "not a system test", "no interface"])
def test_a_test_case_is_not_of_the_type_that_its_type_denies(text: str) -> None:
    assert type_of_test_case(text) is None

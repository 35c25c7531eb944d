"""Test cases as the API takes and gives them."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from catalog_service.items.bounds import LAST_STEP, LONGEST_TEXT, MOST_STEPS, JsonObject, StepText
from catalog_service.items.schemas import (
    Expanded,
    ItemPatch,
    ItemRead,
    ItemWrite,
    StoredUrl,
    absent,
    blank_is_none,
)
from catalog_service.values import AutomationStatus, TestCaseStatus, TestCaseType
from chassis.core.wording import shown
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged

_STEP_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_STEPS = 'Texts by step number: "1", "2", ...'


def _number(key: str) -> str:
    if _STEP_NUMBER.fullmatch(key) is None:
        raise ValueError(f'{shown(key)} is no number of a step; the keys of steps are "1", "2", and so on.')
    return key


def _low_number(key: str) -> str:
    if int(key) > LAST_STEP:
        raise ValueError(f"The number of a step is at most {LAST_STEP}; number them in their order, from 1 on.")
    return key


_StoredNumber = Annotated[str, AfterValidator(_number)]
StepNumber = Annotated[_StoredNumber, AfterValidator(_low_number)]
StoredSteps = dict[_StoredNumber, str]
"""Steps that may be from before they had bounds."""


def _check_count(steps: Any) -> Any:
    # Before each is looked at: of many thousands each may be wrong.
    if isinstance(steps, dict) and len(steps) > MOST_STEPS:
        raise PydanticCustomError("too_many", f"There are at most {MOST_STEPS} steps; these are {len(steps)}.")
    return steps


Steps = Annotated[dict[StepNumber, StepText], Field(max_length=MOST_STEPS), BeforeValidator(_check_count)]
Conditions = Annotated[Annotated[str, Field(max_length=LONGEST_TEXT)] | None, BeforeValidator(blank_is_none)]
Minutes = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]

_EXAMPLE: JsonDict = {
    "external_id": "TC-7",
    "title": "The train does not start with an open door",
    "description": "With one door held open, the driver asks for departure.",
    "type": "functional",
    "priority": "critical",
    "status": "ready",
    "steps": {"1": "Hold door 3 open", "2": "Ask for departure", "3": "Check that the train stands still"},
    "preconditions": "The train stands at a platform",
    "postconditions": "The train stands, the door alarm is on",
    "test_data": {"door": 3},
    "module": "doors",
    "tags": ["safety"],
    "automation_status": "automatable",
    "execution_time_minutes": 10,
    "custom_metadata": {"rig": "A"},
    "source_system": "testrail",
    "source_url": "https://tests.example/TC-7",
    "section": ["Doors"],
    "created_by": "kim@example.com",
}


TEST_CASE_EXAMPLE: JsonDict = {
    "id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
    **_EXAMPLE,
    "position": "065f2c8e31a40",
    "version": 1,
    "created_at": "2026-03-02T08:20:00.123456Z",
    "updated_at": "2026-03-02T08:20:00.123456Z",
}


class TestCaseWrite(ItemWrite):
    """A test case to create, or to replace another."""

    __test__ = False
    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    type: TestCaseType
    status: TestCaseStatus = TestCaseStatus.DRAFT
    steps: Annotated[Steps | None, Field(description=_STEPS)] = None
    preconditions: Conditions = None
    postconditions: Conditions = None
    test_data: JsonObject | None = None
    automation_status: AutomationStatus = AutomationStatus.MANUAL
    execution_time_minutes: Minutes | None = None


class TestCasePatch(ItemPatch):
    """Changes of a test case."""

    __test__ = False
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "passed", "steps": {"3": None, "2": "Press twice"}}]}
    )

    type: TestCaseType = Field(default_factory=absent)
    status: TestCaseStatus | None = None
    steps: (
        Annotated[dict[StepNumber, StepText | None], Field(max_length=MOST_STEPS), BeforeValidator(_check_count)] | None
    ) = None
    preconditions: Conditions = None
    postconditions: Conditions = None
    test_data: JsonObject | None = None
    automation_status: AutomationStatus | None = None
    execution_time_minutes: Minutes | None = None


class TestCase(TestCaseWrite, ItemRead):
    """A test case."""

    __test__ = False
    model_config = ConfigDict(json_schema_extra={"examples": [TEST_CASE_EXAMPLE]})

    tags: list[str] = []
    custom_metadata: dict[str, Any] | None = None
    source_url: StoredUrl = None
    section: list[str] = []
    steps: Annotated[dict[str, str] | None, Field(description=_STEPS)] = None
    preconditions: str | None = None
    postconditions: str | None = None
    test_data: dict[str, Any] | None = None


class ExpandedTestCase(Expanded, TestCase):
    """A test case, with its coverage where `expand=coverage` asks for it."""

    __test__ = False


class ListedTestCase(Tagged, ExpandedTestCase):
    """A test case as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**TEST_CASE_EXAMPLE, **TAGGED_EXAMPLE}]})

"""Test cases as a kind of item."""

from catalog_service.items.kind import COLUMNS, MEANING, ItemKind
from catalog_service.test_cases.schemas import TestCaseStatus, TestCaseType
from contracts.catalog import TestCaseCreated, TestCaseDeleted, TestCaseUpdated

TEST_CASE = ItemKind(
    name="test_case",
    label="test case",
    table="test_cases",
    path="/api/v1/test-cases",
    columns=(
        *COLUMNS,
        "steps",
        "preconditions",
        "postconditions",
        "test_data",
        "automation_status",
        "execution_time_minutes",
    ),
    json_columns=frozenset({"custom_metadata", "steps", "test_data"}),
    meaning=(*MEANING, "steps", "preconditions", "postconditions", "test_data"),
    defaults={"status": "draft", "tags": [], "automation_status": "manual"},
    types=TestCaseType,
    statuses=TestCaseStatus,
    created=TestCaseCreated,
    updated=TestCaseUpdated,
    deleted=TestCaseDeleted,
)

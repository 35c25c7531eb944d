"""Bodies and answers of results: what was executed, and what it says of test cases and requirements."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from catalog_service.executions.run_schemas import ShortText
from catalog_service.items.schemas import ShortItem
from catalog_service.verdicts import TestCaseVerdict, Verdict
from chassis.web.listing import Page


class ResultStatus(StrEnum):
    """How a test ended in a run; blocked: by hand alone, what could not be executed, and counts as not run."""

    PASSED = "passed"
    FAILED = "failed"
    FLAKY = "flaky"
    SKIPPED = "skipped"
    BLOCKED = "blocked"


class MatchedBy(StrEnum):
    """How a test case was found for a test."""

    NAMED = "named"
    NAME = "name"
    AUTOMATION_ID = "automation_id"
    PERSON = "person"
    CREATED = "created"


class Reason(BaseModel):
    """Why a verdict is as it is."""

    code: str
    message: str


class VerdictCounts(BaseModel):
    """The linked test cases of a requirement by their verdicts."""

    tests_linked: Annotated[int, Field(description="Those that count: no `related` links, no deprecated test cases.")]
    tests_run: int
    passed: int
    failed: int
    flaky: int
    skipped: int
    not_run: int
    stale: int


class ShortTest(BaseModel):
    """A test as CI names it."""

    id: int
    class_name: str
    name: str


class AcceptanceOfTest(BaseModel):
    """What is said of a failure that is accepted now."""

    id: UUID
    reason: str
    until: datetime
    accepted_by: str
    issue_url: str | None


class TestBehind(ShortTest):
    """A test that counts for a test case: how it stands on a branch, environment and lane."""

    environment: str | None
    lane: str
    by_hand: bool
    last_result: Annotated[ResultStatus, Field(description="Of all that it did at its last commit together.")]
    last_run_at: datetime
    commit: str | None
    missing: Annotated[bool, Field(description="The last whole run of its lane did not have it: it counts as not run.")]
    lane_gone: Annotated[bool, Field(description="None of the last 10 commits of the branch has its lane.")]
    missed_runs: Annotated[int, Field(description="Whole runs of its lane since then, that did not have it.")]
    not_run: Annotated[bool, Field(description="It counts as not run: it is missing, or did not run at the commit.")]
    older: Annotated[bool, Field(description="Its result is of another commit than the one that was asked for.")]
    unsteady: Annotated[bool, Field(description="At least 4 changes in its last 20 runs, whatever the commit.")]
    on_default_branch: bool
    accepted: Annotated[AcceptanceOfTest | None, Field(description="Of a failing one: that its failure is accepted.")]


class TestCaseStanding(ShortItem):
    """A test case by itself with its verdict."""

    __test__ = False
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                    "external_id": "TC-7",
                    "title": "Doors open",
                    "module": "doors",
                    "status": "active",
                    "verdict": "stale",
                    "reasons": [{"code": "old", "message": "Its last pass is more than 14 days old."}],
                    "last_result": "passed",
                    "last_run_at": "2026-01-02T08:15:00.000000Z",
                    "last_pass_at": "2026-01-02T08:15:00.000000Z",
                }
            ]
        }
    )

    status: str
    verdict: TestCaseVerdict
    reasons: list[Reason]
    last_result: ResultStatus | None
    last_run_at: datetime | None
    last_pass_at: datetime | None


class TestCaseResult(TestCaseStanding):
    """A test case of a requirement with its verdict for it."""

    model_config = ConfigDict(json_schema_extra=None)

    link_type: str | None
    counts: Annotated[bool, Field(description="Whether it counts for the verdict of the requirement.")]


class Execution(BaseModel):
    """How a test ended in a run."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "17-1-0d5d4b3c-0b2e-4b60-8a2f-9c3a3f1f7a10",
                    "at": "2026-03-02T08:15:00.000000Z",
                    "status": "failed",
                    "attempts": 2,
                    "duration_ms": 412,
                    "message": "expected 2 doors, found 3",
                    "trace": "AssertionError: expected 2 doors, found 3",
                    "iterations": ["test_doors[wide]"],
                    "test": {"id": 17, "class_name": "tests.test_doors", "name": "test_doors"},
                    "run": {
                        "id": "0d5d4b3c-0b2e-4b60-8a2f-9c3a3f1f7a10",
                        "key": "github:acme/doors:7741",
                        "branch": "main",
                        "commit": "8f14d3b710ccac3d65234f8d69cd4586a017a156",
                        "environment": "linux",
                        "build_url": None,
                        "recorded_by": None,
                    },
                    "test_cases": [
                        {
                            "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                            "external_id": "TC-7",
                            "title": "Doors open",
                            "module": "doors",
                        }
                    ],
                }
            ]
        }
    )

    id: str
    at: datetime
    status: ResultStatus
    attempts: Annotated[int, Field(description="How often it was tried.")]
    duration_ms: int | None
    message: str | None
    trace: str | None
    iterations: Annotated[list[str], Field(description="Names of the iterations that failed; at most 50.")]
    test: dict[str, Any]
    run: Annotated[
        dict[str, Any], Field(description="The run; `recorded_by` is the email of who executed it, of one by hand.")
    ]
    test_cases: list[ShortItem]


class RequirementResults(Page[Execution]):
    """A page of what was executed for a requirement, the newest first, and its verdict now."""

    requirement: ShortItem
    branch: str
    environment: str | None
    verdict: Verdict
    verified: bool
    counts: VerdictCounts
    missing: Annotated[list[UUID], Field(description="Its test cases that were not run, or skipped.")]
    test_cases: list[TestCaseResult]


class TestCaseResults(Page[Execution]):
    """A page of the executions of a test case, the newest first, and its verdict now."""

    __test__ = False

    test_case: ShortItem
    branch: str
    environment: str | None
    verdict: TestCaseVerdict
    reasons: list[Reason]
    last_result: ResultStatus | None
    last_run_at: datetime | None
    last_pass_at: datetime | None
    tests: Annotated[list[TestBehind], Field(description="The tests that its verdict comes from, the worst first.")]
    outcomes: Annotated[
        str, Field(description="Of its last 20 runs on the branch, the newest last: p, f, k (flaky), s.")
    ]


class ManualStatus(StrEnum):
    """How an execution by a person ended; blocked: it could not be made, and the test case counts as not run."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BLOCKED = "blocked"


class ManualExecution(BaseModel):
    """What a person found when they executed a test case."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"status": "failed", "notes": "The left door stays open."}]}
    )

    status: ManualStatus
    notes: Annotated[str | None, Field(max_length=4000)] = None
    environment: ShortText = None
    branch: ShortText = None
    commit: ShortText = None


class MissingIn(BaseModel):
    """Where a test is missing."""

    branch: str
    environment: str | None
    lane: str
    lane_gone: Annotated[bool, Field(description="None of the last 10 commits of the branch has its lane.")]
    last_run_at: Annotated[datetime, Field(description="When it ran there last.")]
    missed_runs: Annotated[int, Field(description="Whole runs of the lane since then, that did not have it.")]
    missed_run: Annotated[str | None, Field(description="The key of the last of these.")]
    missed_since: Annotated[datetime | None, Field(description="When the first of these began.")]


class RetiredFrom(BaseModel):
    """Where a test is retired, until it runs there again."""

    branch: str
    environment: str | None
    lane: str
    retired_at: datetime
    retired_by: str
    note: str


class AutomatedTest(BaseModel):
    """A test as CI names it, and the test cases that its results count for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 17,
                    "class_name": "tests.test_doors",
                    "name": "test_doors",
                    "suite": "pytest",
                    "file": "tests/test_doors.py",
                    "test_case_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                    "matched_by": "named",
                    "test_cases": [],
                    "first_seen": "2026-01-02T08:15:00.000000Z",
                    "last_seen": "2026-03-02T08:15:00.000000Z",
                    "suspected_rename": None,
                    "retired": [],
                    "missing": None,
                }
            ]
        }
    )

    id: int
    class_name: str
    name: str
    suite: str
    file: str
    test_case_id: UUID | None
    matched_by: MatchedBy | None
    test_cases: list[ShortItem]
    first_seen: datetime
    last_seen: datetime
    suspected_rename: Annotated[
        int | None, Field(description="The test that this one may be the new name of; only with suspected_rename=true.")
    ]
    retired: list[RetiredFrom]
    missing: Annotated[list[MissingIn] | None, Field(description="Where it is missing; only with missing=true.")]


class AutomatedTestPatch(BaseModel):
    """Which test case the results of a test count for; null: none."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"test_case_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"}]}
    )

    test_case_id: UUID | None


class MergeTests(BaseModel):
    """The test that another is the new name of."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"into": 18}]})

    into: Annotated[int, Field(description="The id of the test that goes on.", ge=1)]

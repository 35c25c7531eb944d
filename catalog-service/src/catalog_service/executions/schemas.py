"""Bodies and answers of results."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from catalog_service.items.schemas import ShortItem
from catalog_service.verdicts import TestCaseVerdict, Verdict
from chassis.web.listing import Page


class TestRunStatus(StrEnum):
    """Whether more is to come."""

    __test__ = False

    RUNNING = "running"
    COMPLETED = "completed"


class ResultStatus(StrEnum):
    """How a test ended in a run."""

    PASSED = "passed"
    FAILED = "failed"
    FLAKY = "flaky"
    SKIPPED = "skipped"


class MatchedBy(StrEnum):
    """How a test case was found for a test."""

    NAMED = "named"
    NAME = "name"
    AUTOMATION_ID = "automation_id"
    PERSON = "person"
    CREATED = "created"


class Unknown(StrEnum):
    """What becomes of tests that no test case is found for."""

    KEEP = "keep"
    CREATE = "create"
    IGNORE = "ignore"
    FAIL = "fail"


class Duplicates(StrEnum):
    """What a test means that comes several times in a file."""

    WORST = "worst"
    LAST = "last"


class Undefined(StrEnum):
    """What Cucumber's undefined and pending steps mean."""

    FAIL = "fail"
    SKIP = "skip"


class TestCounts(BaseModel):
    """Tests of a run by how they ended."""

    __test__ = False

    tests: int
    passed: int
    failed: int
    flaky: int
    skipped: int


class ResultCounts(BaseModel):
    """Results of a file by how they ended, as they stand there: iterations of a test are several."""

    results: int
    passed: int
    failed: int
    flaky: int
    skipped: int


class Warned(BaseModel):
    """What a person should know of a file, and how often it was met."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    count: int


_COUNTS: JsonDict = {"tests": 412, "passed": 405, "failed": 2, "flaky": 1, "skipped": 4}
RUN_EXAMPLE: JsonDict = {
    "id": "0d5d4b3c-0b2e-4b60-8a2f-9c3a3f1f7a10",
    "key": "github:acme/doors:7741",
    "name": "CI",
    "branch": "main",
    "commit": "8f14d3b710ccac3d65234f8d69cd4586a017a156",
    "environment": "linux",
    "build_url": "https://github.com/acme/doors/actions/runs/7741",
    "status": "completed",
    "shards": 2,
    "counts": _COUNTS,
    "started_at": "2026-03-02T08:15:00.000000Z",
    "finished_at": "2026-03-02T08:21:00.000000Z",
    "created_by": "ci@example.com",
    "created_at": "2026-03-02T08:20:31.000000Z",
    "updated_at": "2026-03-02T08:21:00.000000Z",
}
_UPLOAD: JsonDict = {
    "id": "b7a0b6de-6d3f-4c55-9a3d-0d9b64a6a0c1",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "shard": 1,
    "shards": 2,
    "attempt": 1,
    "format": "junit",
    "file_name": "report.xml",
    "size": 184220,
    "counts": {"results": 430, "passed": 423, "failed": 2, "flaky": 1, "skipped": 4},
    "warnings": [],
    "created_by": "ci@example.com",
    "created_at": "2026-03-02T08:20:31.000000Z",
}


class ListedTestRun(BaseModel):
    """A run of tests, as CI or a person told of it."""

    __test__ = False
    model_config = ConfigDict(json_schema_extra={"examples": [RUN_EXAMPLE]})

    id: UUID
    key: Annotated[str, Field(description="What the pipeline calls it.")]
    name: str | None
    branch: str
    commit: str | None
    environment: str | None
    build_url: str | None
    status: TestRunStatus
    shards: Annotated[int | None, Field(description="How many uploads end it.")]
    counts: TestCounts
    started_at: datetime
    finished_at: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class RunUpload(BaseModel):
    """A file of a run."""

    id: UUID
    sha256: str
    shard: int | None
    shards: int | None
    attempt: int
    format: str
    file_name: str | None
    size: int
    counts: ResultCounts
    warnings: list[Warned]
    created_by: str
    created_at: datetime


class TestRun(ListedTestRun):
    """A run with its files."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**RUN_EXAMPLE, "uploads": [_UPLOAD]}]})

    uploads: list[RunUpload]


class UploadedFile(BaseModel):
    """What became of one of several files."""

    upload_id: UUID
    file_name: str | None
    format: str
    counts: ResultCounts
    duplicate: bool
    tests: int
    matched: int
    created: int
    links_created: int
    unknown: int
    ambiguous: int
    warnings: list[Warned]


class UploadedResults(BaseModel):
    """What became of a file of results; of several, the sums."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "run": RUN_EXAMPLE,
                    "upload_id": _UPLOAD["id"],
                    "format": "junit",
                    "counts": _UPLOAD["counts"],
                    "duplicate": False,
                    "tests": 412,
                    "matched": 400,
                    "created": 0,
                    "links_created": 0,
                    "unknown": 12,
                    "ambiguous": 0,
                    "warnings": [{"code": "unknown_test", "message": "Tests have no test case.", "count": 12}],
                }
            ]
        }
    )

    run: ListedTestRun
    upload_id: Annotated[UUID, Field(description="Of several files, that of the first.")]
    format: Annotated[str, Field(description="Of several files, that of the first.")]
    counts: ResultCounts
    duplicate: Annotated[bool, Field(description="The run has these bytes already; nothing is new.")]
    tests: Annotated[int, Field(description="Different tests in the file.")]
    matched: Annotated[int, Field(description="Those of them that count for a test case.")]
    created: Annotated[int, Field(description="Test cases that were made.")]
    links_created: Annotated[int, Field(description="Links to requirements that were made.")]
    unknown: Annotated[int, Field(description="Tests without a test case.")]
    ambiguous: Annotated[int, Field(description="Tests whose automation id several test cases have.")]
    warnings: list[Warned]
    files: Annotated[
        list[UploadedFile],
        Field(description="What became of each, in the order of the form; only where it has several."),
    ] = []


_TEXT = Annotated[str | None, Field(min_length=1, max_length=200)]


class TestRunWrite(BaseModel):
    """A run that files are sent for later."""

    __test__ = False
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"key": "github:acme/doors:7741", "branch": "main", "shards": 2}]}
    )

    key: Annotated[str, Field(min_length=1, max_length=500)]
    name: _TEXT = None
    branch: _TEXT = None
    commit: _TEXT = None
    environment: _TEXT = None
    build_url: Annotated[str | None, Field(max_length=2000)] = None
    started_at: datetime | None = None
    shards: Annotated[int | None, Field(ge=1, le=10_000)] = None


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
    run: dict[str, Any]
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
    outcomes: Annotated[
        str, Field(description="Of its last 20 runs on the branch, the newest last: p, f, k (flaky), s.")
    ]


class ManualStatus(StrEnum):
    """How an execution by a person ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class ManualExecution(BaseModel):
    """What a person found when they executed a test case."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"status": "failed", "notes": "The left door stays open."}]}
    )

    status: ManualStatus
    notes: Annotated[str | None, Field(max_length=4000)] = None
    environment: _TEXT = None
    branch: _TEXT = None
    commit: _TEXT = None


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

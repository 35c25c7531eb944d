"""Bodies and answers of runs and of the files that are sent for them."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from chassis.core.wording import shown

ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] | None

_WEB_ADDRESS = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)


def _web_address(url: str) -> str:
    """Return an address that a click opens as a page; raise PydanticCustomError for one that may do something else."""
    if _WEB_ADDRESS.fullmatch(url) is None or not url.isprintable():
        message = "{url} is no address of a page; begin it with https:// or http://, or leave it out."
        raise PydanticCustomError("unsafe_url", message, {"url": shown(url)})
    return url


BuildUrl = Annotated[str, Field(max_length=2000), AfterValidator(_web_address)] | None


class TestRunStatus(StrEnum):
    """Whether more is to come."""

    __test__ = False

    RUNNING = "running"
    COMPLETED = "completed"


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
_RUN: JsonDict = {
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
    "health": "ok",
    "health_reasons": [],
    "lanes": [{"lane": "ci/unit", "environment": "linux", "health": [], "partial": False, "whole": True}],
    "started_at": "2026-03-02T08:15:00.000000Z",
    "finished_at": "2026-03-02T08:21:00.000000Z",
    "created_by": "ci@example.com",
    "created_at": "2026-03-02T08:20:31.000000Z",
    "updated_at": "2026-03-02T08:21:00.000000Z",
}
_UPLOAD: JsonDict = {
    "id": "b7a0b6de-6d3f-4c55-9a3d-0d9b64a6a0c1",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "lane": "ci/unit",
    "environment": "linux",
    "shard": 1,
    "shards": 2,
    "attempt": 1,
    "format": "junit",
    "file_name": "report.xml",
    "size": 184220,
    "counts": {"results": 430, "passed": 423, "failed": 2, "flaky": 1, "skipped": 4},
    "warnings": [],
    "health": [],
    "partial": False,
    "created_by": "ci@example.com",
    "created_at": "2026-03-02T08:20:31.000000Z",
}


class RunHealth(StrEnum):
    """Whether a run tells the whole."""

    OK = "ok"
    INCOMPLETE = "incomplete"


class HealthReason(StrEnum):
    """Why a run does not tell the whole."""

    NO_RESULTS = "no_results"
    PLAN_NOT_KEPT = "plan_not_kept"
    CRASHED = "crashed"
    SUITE_FAILED = "suite_failed"
    ERRORS_OF_RUN = "errors_of_run"
    SHARDS_MISSING = "shards_missing"
    NOT_FINISHED = "not_finished"


class LaneOfRun(BaseModel):
    """What a run says of one of its lanes."""

    lane: str
    environment: str | None
    health: list[HealthReason]
    partial: Annotated[bool, Field(description="It ran a selection of the tests.")]
    whole: Annotated[bool, Field(description="A test of the lane that it did not have is missing.")]


class ListedTestRun(BaseModel):
    """A run of tests, as CI or a person told of it."""

    __test__ = False
    model_config = ConfigDict(json_schema_extra={"examples": [_RUN]})

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
    health: RunHealth
    health_reasons: list[HealthReason]
    lanes: list[LaneOfRun]
    started_at: datetime
    finished_at: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class RunUpload(BaseModel):
    """A file of a run."""

    id: UUID
    sha256: str
    lane: str | None
    environment: str | None
    shard: int | None
    shards: int | None
    attempt: int
    format: str
    file_name: str | None
    size: int
    counts: ResultCounts
    warnings: list[Warned]
    health: Annotated[list[HealthReason], Field(description="Why the file does not tell the whole.")]
    partial: bool
    created_by: str
    created_at: datetime


class TestRun(ListedTestRun):
    """A run with its files."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_RUN, "uploads": [_UPLOAD]}]})

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
                    "run": _RUN,
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


class UploadStatus(StrEnum):
    """How far an upload is that was answered with 202."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class UploadFailure(BaseModel):
    """Why nothing of an upload was stored: `code`, `detail` and `status` of a problem, and what else that has."""

    model_config = ConfigDict(extra="allow")

    code: str
    detail: str
    status: int


class ResultsUpload(BaseModel):
    """Files of results that were answered with 202."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7d8b2c1e-5a64-4f0f-9d3b-0c1f2e3a4b5c",
                    "status": "failed",
                    "created_at": "2026-03-01T10:00:00Z",
                    "ended_at": "2026-03-01T10:00:21Z",
                    "results": None,
                    "error": {"code": "unreadable_file", "detail": "The file is cut off.", "status": 422, "line": 7},
                }
            ]
        }
    )

    id: UUID
    status: UploadStatus
    created_at: datetime
    ended_at: datetime | None
    results: Annotated[UploadedResults | None, Field(description="What became of the files, once all are stored.")]
    error: UploadFailure | None


class TestRunWrite(BaseModel):
    """A run that files are sent for later."""

    __test__ = False
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"key": "github:acme/doors:7741", "branch": "main", "shards": 2}]}
    )

    key: Annotated[str, Field(min_length=1, max_length=500)]
    name: ShortText = None
    branch: ShortText = None
    commit: ShortText = None
    environment: ShortText = None
    build_url: BuildUrl = None
    started_at: datetime | None = None
    commit_time: Annotated[datetime | None, Field(description="When the commit was made.")] = None
    shards: Annotated[int | None, Field(ge=1, le=10_000)] = None

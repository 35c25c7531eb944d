"""What the verification report answers, for the OpenAPI document."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from catalog_service.executions.schemas import VerdictCounts
from catalog_service.reports.schemas import ReportedItem, ReportScope
from catalog_service.rolled.schemas import Below, Rolled
from catalog_service.verdict_schemas import CountsByVerdict
from catalog_service.verdicts import Verdict
from chassis.web.listing import Page


class VerificationFormat(StrEnum):
    """Forms of the report."""

    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    HTML = "html"
    MARKDOWN = "markdown"


class RequirementsByVerdict(CountsByVerdict):
    """How many requirements have which verdict."""


class TestCasesByVerdict(BaseModel):
    """How many of the test cases that count for them have which verdict."""

    __test__ = False

    not_run: int
    skipped: int
    failed: int
    flaky: int
    stale: int
    passed: int


class VerificationSummary(BaseModel):
    """The figures of all requirements in scope."""

    total_requirements: int
    requirements: RequirementsByVerdict
    verified_requirements: int
    verified: Annotated[float, Field(ge=0, le=1, description="Of all requirements; 0 where there are none.")]
    test_cases: TestCasesByVerdict
    unlinked_tests: Annotated[int, Field(description="Automated tests without a test case, in the whole project.")]


class VerifiedRequirement(ReportedItem):
    """A requirement with its verdict."""

    version: int
    verdict: Verdict
    verified: bool
    counts: VerdictCounts
    missing: Annotated[list[UUID], Field(description="Its test cases that were not run, or skipped.")]
    rolled: Annotated[Rolled | None, Field(description="With all below it; only with rolled=true.")] = None
    rolled_coverage: Below | None = None


class VerificationReport(ReportScope, Page[VerifiedRequirement]):
    """A page of the report, with the summary of all of it."""

    branch: str
    environment: str | None
    commit: str | None
    summary: VerificationSummary

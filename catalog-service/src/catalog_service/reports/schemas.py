"""What the reports answer, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from catalog_service.items.schemas import ShortItem
from catalog_service.links.schemas import EXPANDED_LINK_EXAMPLE, Link, SuspectReason
from catalog_service.requirements.schemas import REQUIREMENT_EXAMPLE
from catalog_service.test_cases.schemas import TEST_CASE_EXAMPLE
from catalog_service.verdict_schemas import CountsByVerdict
from chassis.web.listing import NextAfter, Page

T = TypeVar("T")


class MatrixFormat(StrEnum):
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    HTML = "html"


_SUMMARY_EXAMPLE: JsonDict = {
    "total_requirements": 60,
    "covered_requirements": 48,
    "uncovered_requirements": 12,
    "coverage": 0.8,
    "total_test_cases": 90,
    "orphan_test_cases": 7,
    "total_links": 95,
    "suspect_links": 2,
}


class CoverageSummary(BaseModel):
    """Requirements and links in the scope of the report; test cases, orphans among them: of its modules and tags."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SUMMARY_EXAMPLE]})

    total_requirements: int
    covered_requirements: int = Field(description="With at least one link.")
    uncovered_requirements: int
    coverage: float = Field(ge=0, le=1, description="Covered of total requirements; 0 where there are none.")
    total_test_cases: int
    orphan_test_cases: int = Field(description="Without any link.")
    total_links: int
    suspect_links: int = Field(description="Links one of whose ends has changed since.")


class RolledSummary(CoverageSummary):
    """The same with the share of what is covered by itself or below."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_SUMMARY_EXAMPLE, "rolled_coverage": 0.85}]})

    rolled_coverage: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Of total requirements those with a link, or with all below covered; where something rolls up.",
    )


class ReportedItem(ShortItem):
    type: str
    priority: str
    status: str


class MatrixTestCase(ShortItem):
    """A test case in the row of a requirement, with the link between them."""

    status: str
    link_id: UUID
    link_type: str
    link_source: str
    confidence_score: float | None
    suspect: bool
    suspect_reason: SuspectReason | None
    linked_at: datetime = Field(description="When the link was made.")
    linked_by: str | None = Field(description="Who made it, or accepted its suggestion; null with people=hide.")
    link_notes: str | None
    suggestion_id: UUID | None = Field(description="The suggestion that the link was accepted from.")
    confirmed_at: datetime | None
    confirmed_by: str | None = Field(description="Who confirmed it last; null with people=hide.")
    link_requirement_version: int = Field(description="The version of the requirement that it was last confirmed for.")
    link_test_case_version: int = Field(description="That of the test case.")
    last_result: str | None = Field(None, description="How it ended last; only with results=true.")
    last_run_at: datetime | None = Field(None, description="When; only with results=true.")
    test_case: ShortItem


class MatrixRow(ReportedItem):
    """A requirement with its test cases."""

    version: int
    verdict: str | None = Field(None, description="What results say of it; only with results=true.")
    parents: list[ShortItem] | None = Field(None, description="Those that it counts for; only with rolled=true.")
    rolled_verdict: str | None = Field(None, description="With all below it; only with rolled=true.")
    test_cases: list[MatrixTestCase]
    requirement: ShortItem


class ReportScope(BaseModel):
    """What a report is of, so that it can be filed."""

    project: str
    made_at: datetime
    filters: dict[str, str] = Field(description="The filters as they were given.", examples=[{"module": "accounts"}])
    notes: list[str] = Field(description="What a reader should know, such as a module that nothing is in.")


class TraceabilityMatrix(ReportScope, Page[MatrixRow]):
    """A page of the matrix, with the summary of all of it, and what it is of."""

    orphan_test_cases: "GapPage[GapItem]" = Field(description="A page of its test cases without any link.")
    summary: CoverageSummary


class ModuleCoverage(RolledSummary):
    """The figures of a module; null: of what is in no module."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"module": "doors", **_SUMMARY_EXAMPLE, "rolled_coverage": 0.85}]}
    )

    module: str | None


class CoverageByModule(BaseModel):
    """The modules by name, and the whole."""

    items: list[ModuleCoverage]
    overall: RolledSummary


_VERDICTS_EXAMPLE: JsonDict = {
    "uncovered": 12,
    "failed": 2,
    "flaky": 1,
    "partial": 3,
    "not_run": 4,
    "stale": 0,
    "passed": 38,
}


class VerdictCounts(CountsByVerdict):
    """Requirements by their verdicts."""

    model_config = ConfigDict(json_schema_extra={"examples": [_VERDICTS_EXAMPLE]})


class VerdictsOfAll(BaseModel):
    """How requirements stand."""

    total_requirements: int
    covered_requirements: int = Field(description="With at least one link.")
    suspect_links: int = Field(description="Links one of whose ends has changed since.")
    requirements: VerdictCounts


class ModuleVerdicts(VerdictsOfAll):
    """How the requirements of a module stand; null: of those in no module."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "module": "doors",
                    "total_requirements": 60,
                    "covered_requirements": 48,
                    "suspect_links": 2,
                    "requirements": _VERDICTS_EXAMPLE,
                }
            ]
        }
    )

    module: str | None


class VerdictsByModule(BaseModel):
    """The modules by name, and the whole; modules without a requirement are left out."""

    branch: str
    items: list[ModuleVerdicts]
    overall: VerdictsOfAll


class GapItem(ReportedItem):
    """A requirement or test case without any link."""

    created_at: datetime


class GapPage(BaseModel, Generic[T]):
    """A page of one kind of gap; `total` counts all of the kind."""

    items: list[T]
    total: int


class SuspectLink(Link):
    """A suspect link, with why it is suspect, and its ends for people to read."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **EXPANDED_LINK_EXAMPLE,
                    "requirement_external_id": REQUIREMENT_EXAMPLE["external_id"],
                    "requirement_title": REQUIREMENT_EXAMPLE["title"],
                    "test_case_external_id": TEST_CASE_EXAMPLE["external_id"],
                    "test_case_title": TEST_CASE_EXAMPLE["title"],
                }
            ]
        }
    )

    requirement_external_id: str | None
    requirement_title: str
    test_case_external_id: str | None
    test_case_title: str
    requirement: ShortItem
    test_case: ShortItem


class Gaps(ReportScope):
    """What is missing or in doubt, each kind a list of its own, and what it is of."""

    uncovered_requirements: GapPage[GapItem]
    orphan_test_cases: GapPage[GapItem]
    suspect_links: GapPage[SuspectLink]
    waiting_references: int = Field(
        description="References to items that are not there; where filters are given, those that items in scope have."
    )
    skip: int
    limit: int
    next_after: NextAfter

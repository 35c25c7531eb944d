"""HTTP: results day by day, flaky tests, and verdicts of test cases."""

import datetime as times
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from catalog_service import verdict_reads
from catalog_service.executions import flaky, service, verdict_days
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.queries import BasisQuery, Branch, Environment, basis_of
from catalog_service.executions.schemas import ResultStatus, ShortTest, TestCaseStanding
from catalog_service.items.schemas import ShortItem
from catalog_service.verdict_reads import LinkedTestCase
from catalog_service.verdict_schemas import CountsByVerdict
from catalog_service.verdicts import TestCaseVerdict
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice, parse_own_ids
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Results"])


class DayOfResults(BaseModel):
    """What was executed on a day."""

    passed: int
    failed: int
    flaky: int
    skipped: int
    duration_ms: int


class DayOfVerdicts(CountsByVerdict):
    """How many requirements had which verdict at the end of a day."""


class ResultDay(BaseModel):
    """A day, UTC."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "date": "2026-03-02",
                    "results": {"passed": 405, "failed": 2, "flaky": 1, "skipped": 4, "duration_ms": 182000},
                    "requirements": None,
                    "worked_out": False,
                }
            ]
        }
    )

    date: times.date
    results: DayOfResults
    requirements: Annotated[
        DayOfVerdicts | None, Field(description="Of the default branch alone; null where it was not kept.")
    ]
    worked_out: Annotated[
        bool,
        Field(description="The verdicts were not kept then: they come from the runs, links and versions of today."),
    ]


class ResultTrend(BaseModel):
    """Days, the oldest first; those on which nothing was executed or kept are left out."""

    branch: str
    items: list[ResultDay]


class FlakyTest(BaseModel):
    """A test that passed and failed with the same code, or changes often, for a test case."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11-1",
                    "test_case": {
                        "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                        "external_id": "TC-7",
                        "title": "Doors open",
                        "module": "doors",
                    },
                    "test": {"id": 7, "class_name": "tests.Doors", "name": "open"},
                    "branch": "main",
                    "environment": None,
                    "lane": "ci/unit",
                    "last_result": "passed",
                    "last_run_at": "2026-03-02T08:15:00.000000Z",
                    "flips": 5,
                    "unsteady": True,
                    "runs": 20,
                    "outcomes": "ppfpfppppppppppppppk",
                    "failure_rate": 0.1,
                    "first_seen": "2026-01-02T08:15:00.000000Z",
                    "last_message": "expected 2 doors, found 3",
                }
            ]
        }
    )

    id: str
    test_case: ShortItem
    test: ShortTest
    branch: str
    environment: str | None
    lane: str
    last_result: Annotated[ResultStatus, Field(description="Of all that it did at its last commit together.")]
    last_run_at: times.datetime
    flips: Annotated[int, Field(description="Changes among its last 20 runs, whatever the commit.")]
    unsteady: Annotated[bool, Field(description="Whether these are 4 or more.")]
    runs: Annotated[int, Field(description="Of how many runs, at most 20, the outcomes are.")]
    outcomes: Annotated[str, Field(description="The newest last: p, f, k (flaky), s.")]
    failure_rate: Annotated[float, Field(ge=0, le=1, description="Of those of the runs that executed it.")]
    first_seen: times.datetime | None
    last_message: str | None


class FlakyQuery(PageQuery):
    """Where tests are flaky."""

    branch: Branch = None
    environment: Environment = None


class TestCaseVerdictsQuery(PageQuery, BasisQuery):
    """Which test cases, and which results count."""

    verdict: Annotated[str | None, alternatives(TestCaseVerdict)] = None
    ids: Ids = None


Days = Annotated[int, Query(ge=1, le=3650, description="How many days, the last of them today (UTC).", examples=[30])]
OfBranch = Annotated[str, Query(max_length=200, description="Default: the branch that verdicts are of.")]


@router.get("/result-trend", response_model=ResultTrend, summary="Results day by day")
async def get_result_trend(
    _: Viewer, database: Db, settings: SettingsOf, days: Days = 30, branch: OfBranch = ""
) -> Response:
    """Return what was executed each day, and how many requirements had which verdict at its end; today as it is now.

    Days before verdicts were kept are worked out from the runs, links and versions that are there. What was there
    before the first requirement came here has those of that day.
    """
    of, now = branch or settings.results_default_branch, times.datetime.now(times.UTC)
    return answer({"branch": of, "items": await verdict_days.trend(database, settings, of, days, now)})


@router.get(
    "/flaky-tests",
    response_model=Page[FlakyTest],
    summary="Tests that pass and fail with the same code, or change often",
    openapi_extra=documented(FlakyQuery),
)
async def get_flaky_tests(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return one page of them, those that change most often first."""
    query = read_query(request, FlakyQuery)
    wanted = query.page(request, flaky.WORST_FIRST)
    async with database.connection() as connection:
        found = await flaky.page(connection, query.branch or settings.results_default_branch, query.environment, wanted)
    return page(request, wanted, found)


@router.get(
    "/test-case-verdicts",
    response_model=Page[TestCaseStanding],
    summary="What results say of test cases",
    openapi_extra=documented(TestCaseVerdictsQuery),
)
async def get_test_case_verdicts(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return one page of test cases with their verdicts, those first whose last pass is longest ago.

    Those without a pass come last, deprecated ones only when `ids` name them.
    """
    query = read_query(request, TestCaseVerdictsQuery)
    wanted = query.page(request, verdict_reads.LONGEST_AGO_FIRST)
    ids, chosen = parse_own_ids(query.ids), parse_choice("verdict", query.verdict, TestCaseVerdict)
    basis = basis_of(query, settings, times.datetime.now(times.UTC))
    async with database.connection() as connection:
        found = await verdict_reads.page_of_test_cases(connection, ids, chosen, basis, wanted)
        tests = await verdict_reads.tests_of(connection, [row["id"] for row in found.rows], basis)
    items = [service.standing(cast(LinkedTestCase, row), tests, basis) for row in found.rows]
    return page(request, wanted, found, items)

"""HTTP: retire tests that runs do not have any more."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request, Response
from psycopg import Rollback
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from catalog_service.executions import retiring, tests
from catalog_service.executions.endpoints import SettingsOf, TestId
from catalog_service.executions.schemas import AutomatedTest
from chassis.core.identity import Identity
from chassis.core.problems import Problem, document
from chassis.db.database import Database, Db
from chassis.messaging.events import actor_of
from chassis.web.bulk import Begin, check_count, part_of
from chassis.web.callers import Reviewer
from chassis.web.idempotency import answer_once
from chassis.web.listing import Row
from chassis.web.problem_documents import ProblemDocument, problem_responses
from chassis.web.responses import answer, item
from chassis.web.strict_route import StrictRoute
from chassis.web.text_forms import NOT_BLANK

router = APIRouter(prefix="/api/v1/automated-tests", route_class=StrictRoute, tags=["Results"])

_MOST = 500
Note = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2000),
    NOT_BLANK,
    Field(description="Why they are gone for good."),
]
_NOTE = "The doors have no left side any more."


class RetireTest(BaseModel):
    """Why a test is gone for good."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"note": _NOTE}]})

    note: Note


class BulkRetire(BaseModel):
    """Missing tests to retire: those with these `ids`, or all of a branch and lane, which asks for `expected_count`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"ids": [17, 18], "note": _NOTE},
                {"branch": "main", "lane": "ci/e2e", "note": _NOTE, "dry_run": True},
                {"branch": "main", "lane": "ci/e2e", "note": _NOTE, "expected_count": 12},
            ]
        },
    )

    ids: Annotated[list[Annotated[int, Field(ge=1, lt=2**63)]] | None, Field(max_length=_MOST)] = None
    branch: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    lane: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    note: Note
    expected_count: Annotated[
        int | None,
        Field(ge=0, description="How many there are; when it is another number now, none is retired."),
    ] = None
    dry_run: Annotated[bool, Field(description="Only say what would be done.")] = False

    @model_validator(mode="after")
    def _either(self) -> "BulkRetire":
        of_lane = (self.branch is not None) + (self.lane is not None)
        if of_lane != (0 if self.ids is not None else 2):
            raise ValueError("Give either the ids, or the branch and the lane.")
        return self


class RetireStatus(StrEnum):
    """What became of a test; `failed` has an `error`."""

    RETIRED = "retired"
    FAILED = "failed"


class RetireResult(BaseModel):
    """What became of a test, or would in a dry run."""

    id: int
    status: RetireStatus
    error: Annotated[ProblemDocument | None, Field(description="What retiring it alone would have answered.")]


class BulkRetired(BaseModel):
    """What was done, or would be."""

    matched: Annotated[int, Field(description="How many there are: the `expected_count`.")]
    retired: Annotated[int, Field(description="How many were retired; 0 in a dry run.")]
    failed: int
    dry_run: Annotated[
        bool, Field(description="Whether nothing was to be changed: asked for, or without `expected_count`.")
    ]
    message: Annotated[str, Field(description="The same as a sentence, and how to go on.")]
    results: Annotated[list[RetireResult], Field(description="One an id, in their order; of a lane the first 500.")]


@router.post(
    "/bulk-retire",
    response_model=BulkRetired,
    responses=problem_responses("409 count_changed"),
    summary="Retire many missing tests",
)
async def retire_automated_tests(
    request: Request, body: BulkRetire, reviewer: Reviewer, database: Db, settings: SettingsOf
) -> Response:
    """Say of tests that they are gone for good, where whole runs do not have them any more; see the one of a test.

    Those of a lane are told first: with their number as `expected_count` they are retired.
    """

    async def work(begin: Begin) -> Response:
        return answer(await _retire_many(begin, body, reviewer, settings.results_default_branch))

    return await _once(request, database, reviewer, work)


@router.post(
    "/{test_id}/retire",
    response_model=AutomatedTest,
    responses=problem_responses("404 automated_test_not_found", "409 test_not_missing"),
    summary="Retire a missing test",
)
async def retire_automated_test(
    request: Request, test_id: TestId, body: RetireTest, reviewer: Reviewer, database: Db, settings: SettingsOf
) -> Response:
    """Say that a test is gone for good from each branch, environment and lane where it is missing.

    It counts for nothing there until it runs there again. What stands for executions by hand can be retired where it
    has not failed: nobody executes the test case by hand any more.
    """

    async def work(begin: Begin) -> Response:
        async with begin() as connection:
            now, branch = datetime.now(UTC), settings.results_default_branch
            done = await retiring.retire(connection, [test_id], body.note, actor_of(reviewer), now, branch)
            for problem in done.problems.values():
                raise problem
            return item(request, (await tests.of_ids(connection, [test_id]))[test_id])

    return await _once(request, database, reviewer, work)


async def _once(
    request: Request, database: Database, reviewer: Identity, work: Callable[[Begin], Awaitable[Response]]
) -> Response:
    if "idempotency-key" not in request.headers:
        return await work(database.transaction)
    return await answer_once(request, database, reviewer, lambda connection: work(partial(part_of, connection)))


async def _retire_many(begin: Begin, body: BulkRetire, reviewer: Identity, default_branch: str) -> Row:
    async with begin() as connection:
        if body.ids is None:
            assert body.branch is not None, "it is asked for"
            assert body.lane is not None, "it is asked for"
            ids = await retiring.missing_in(connection, body.branch, body.lane, default_branch)
        else:
            ids = list(dict.fromkeys(body.ids))
        preview = body.dry_run or (body.ids is None and body.expected_count is None)
        if not preview and body.expected_count is not None:
            found = f"{_counted(len(ids))} {'is' if len(ids) == 1 else 'are'} there"
            check_count(body.expected_count, len(ids), found, "retired")
        done = await retiring.retire(
            connection,
            ids,
            body.note,
            actor_of(reviewer),
            datetime.now(UTC),
            default_branch,
            body.branch,
            body.lane,
        )
        if preview:
            raise Rollback
    return _answer(body, ids, done, preview=preview)


def _answer(body: BulkRetire, ids: list[int], done: retiring.Retired, *, preview: bool) -> Row:
    able, failed = len(done.ids), len(done.problems)
    if preview:
        message = f"Nothing was retired: {_counted(able)} can be."
        if able and body.ids is None:
            message += f' To go on, send the same with "expected_count": {len(ids)}, without "dry_run".'
    else:
        message = f"{_counted(able)} {'was' if able == 1 else 'were'} retired."
    if failed:
        message += f" {failed} could not be: see their errors."
    return {
        "matched": len(ids),
        "retired": 0 if preview else able,
        "failed": failed,
        "dry_run": preview,
        "message": message,
        "results": [
            {
                "id": one,
                "status": RetireStatus.FAILED if one in done.problems else RetireStatus.RETIRED,
                "error": _document(one, done.problems[one]) if one in done.problems else None,
            }
            for one in ids[:_MOST]
        ],
    }


def _document(test_id: int, problem: Problem) -> Row:
    return document(problem, f"{router.prefix}/{test_id}/retire")


def _counted(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"

"""HTTP: send results, look at runs, at what was executed, and at what it says of requirements and test cases."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Path, Request, Response

from catalog_service.authorship import author
from catalog_service.exchange.jobs.endpoints import settings_of
from catalog_service.exchange.jobs.upload import MOST_FILES
from catalog_service.executions import completion, history, jobs, merging, runs, service, storing, tests, upload
from catalog_service.executions.queries import RunResultsQuery, RunsQuery, TestsQuery, VerdictQuery, basis_of
from catalog_service.executions.results_query import ResultsQuery, limits_of, moment_of_commit, moment_of_run
from catalog_service.executions.run_schemas import ListedTestRun, ResultsUpload, TestRun, TestRunWrite, UploadedResults
from catalog_service.executions.runs import RunSpec
from catalog_service.executions.schemas import (
    AutomatedTest,
    AutomatedTestPatch,
    Execution,
    ManualExecution,
    MergeTests,
    RequirementResults,
    TestCaseResults,
)
from catalog_service.projects import repository as projects
from catalog_service.settings import Settings
from catalog_service.snapshot import snapshot
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin, Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.listing import Page, documented, page, read_query
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, created, item, wants_no_wait
from chassis.web.strict_route import StrictRoute
from contracts.projects import project_archived

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Results"])

SettingsOf = Annotated[Settings, Depends(settings_of)]
TestId = Annotated[int, Path(ge=1, lt=2**63)]


_BINARY = {"type": "string", "format": "binary"}
_FILES_BODY = {
    "requestBody": {
        "required": True,
        "description": f"The file itself, or a form with it, or with up to {MOST_FILES} of one run.",
        "content": {
            "application/octet-stream": {"schema": _BINARY},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MOST_FILES,
                            "items": _BINARY,
                            "description": "Each file is a part `file` of its own.",
                        }
                    },
                },
            },
        },
    }
}


@router.post(
    "/test-results",
    response_model=UploadedResults,
    responses={
        202: {"model": ResultsUpload, "description": "The upload goes on"},
        **problem_responses(
            *(400, "400 malformed_form", "409 run_key_taken", "409 project_archived", 413, "415 unknown_format"),
            *(422, "422 empty_file", "422 unreadable_file", "422 reader_ended", "422 unknown_test"),
            "429 too_many_uploads",
        ),
    },
    summary="Send files of test results",
    openapi_extra={**documented(ResultsQuery), **_FILES_BODY},
)
async def send_test_results(request: Request, reviewer: Reviewer, database: Db, settings: SettingsOf) -> Response:
    """Store the results of a file in their run, which is made unless there is one of its key.

    The same bytes in the same run change nothing. Files of a run may come in any order and at the same time. A form may
    have several, each a part `file`: all are uploads of one run, and all are stored or none. The answer then has the
    sums, and in `files` what each came to. A request has 64 MiB at most. `Idempotency-Key` is honoured.

    After 20 s, or at once with `Prefer: respond-async`, the answer is 202 and its Location; not for a dry run.
    """
    query = read_query(request, ResultsQuery)
    query.check()
    spec = query.spec(settings, datetime.now(UTC))
    async with database.connection() as connection:
        wanted = await projects.get(connection)
    options = replace(query.options(), name_patterns=wanted.name_patterns, result_properties=wanted.result_properties)
    jobs.check_room()
    sending = jobs.Upload(database)
    with ExitStack() as received:
        files = await upload.receive(request, options, received)
        meanwhile = received.pop_all()

    async def store() -> Response:
        with meanwhile:
            results = await upload.read_all(files, options, limits_of(settings), meanwhile)

            async def work(connection: Connection) -> Response:
                stored = await upload.store(
                    connection,
                    results,
                    spec,
                    options,
                    actor_of(reviewer),
                    default_branch=settings.results_default_branch,
                )
                if (await projects.get(connection)).archived:
                    raise project_archived()
                if not query.dry_run:
                    await sending.stored(connection, stored)
                return answer(stored)

            if "idempotency-key" in request.headers and not query.dry_run:
                sent = orjson.dumps([part for file in files for part in (file.sha256, file.file_name)])
                return await upload.unless_deadlocked(lambda: answer_once(request, database, reviewer, work, body=sent))
            return await upload.unless_deadlocked(lambda: upload.transact(database, work, dry_run=query.dry_run))

    if query.dry_run:
        return await store()
    answered = await sending.answered(store, at_once=wants_no_wait(request))
    if answered is not None:
        return answered
    location = {"Location": f"/api/v1/test-results/{sending.id}"}
    return item(request, await jobs.read(database, sending.id), 202, location)


@router.get(
    "/test-results/{upload_id}",
    response_model=ResultsUpload,
    responses=problem_responses("404 upload_not_found"),
    summary="Read how far an upload of results is",
)
async def read_upload(request: Request, upload_id: UUID, _: Viewer, database: Db) -> Response:
    """Return what became of files that were answered with 202: what the answer would have been, or why there is none.

    An upload that has ended is kept for a day.
    """
    return item(request, await jobs.read(database, upload_id))


@router.post(
    "/test-runs",
    response_model=TestRun,
    status_code=201,
    responses={
        200: {"model": TestRun, "description": "The run that has this key already"},
        **problem_responses("409 run_key_taken"),
    },
    summary="Create a test run",
)
async def create_test_run(
    request: Request, body: TestRunWrite, reviewer: Reviewer, database: Db, settings: SettingsOf
) -> Response:
    """Make a run before its files are sent: for shards. With the key of a run that is there, the answer is that."""
    now = datetime.now(UTC)
    spec = RunSpec(
        body.key,
        body.branch or settings.results_default_branch,
        body.name,
        body.commit,
        body.environment,
        body.build_url,
        moment_of_run("/started_at", body.started_at, settings, now),
        body.shards,
        commit_time=moment_of_commit("/commit_time", body.commit_time, now),
    )

    async def work(connection: Connection) -> Response:
        run, is_new = await runs.open_run(connection, spec, author(actor_of(reviewer)), now)
        shown = await runs.read(connection, run["id"])
        return created(request, shown, f"/api/v1/test-runs/{run['id']}") if is_new else item(request, shown)

    if "idempotency-key" in request.headers:
        return await answer_once(request, database, reviewer, work)
    async with database.transaction() as connection:
        return await work(connection)


@router.get(
    "/test-runs",
    response_model=Page[ListedTestRun],
    summary="List test runs, the newest first",
    openapi_extra=documented(RunsQuery),
)
async def list_test_runs(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the runs."""
    query = read_query(request, RunsQuery)
    wanted = query.page(request, runs.NEWEST_FIRST)
    async with database.connection() as connection:
        found = await runs.page(connection, query.conditions(), wanted)
    return page(request, wanted, found)


@router.get(
    "/test-runs/{run_id}",
    response_model=TestRun,
    responses=problem_responses("404 test_run_not_found"),
    summary="Read a test run",
)
async def read_test_run(request: Request, run_id: UUID, _: Viewer, database: Db) -> Response:
    """Return a run with its counts and its files."""
    async with database.connection() as connection:
        return item(request, await runs.read(connection, run_id))


@router.post(
    "/test-runs/{run_id}/complete",
    response_model=TestRun,
    responses=problem_responses("404 test_run_not_found"),
    summary="End a test run",
)
async def complete_test_run(
    request: Request, run_id: UUID, reviewer: Reviewer, database: Db, settings: SettingsOf
) -> Response:
    """Say that all files are there.

    A run that nobody ends is over an hour after its last file, and incomplete (`not_finished`) until somebody says so.
    """
    async with database.transaction() as connection:
        run = await runs.lock(connection, run_id)
        if run["status"] == "running" or run["ended_by_shards"] or run["is_forgotten"]:
            now = datetime.now(UTC)
            await completion.complete(connection, run_id, actor_of(reviewer), now, settings.results_default_branch)
        return item(request, await runs.read(connection, run_id))


@router.get(
    "/test-runs/{run_id}/results",
    response_model=Page[Execution],
    responses=problem_responses("404 test_run_not_found"),
    summary="List what a test run executed, failures first",
    openapi_extra=documented(RunResultsQuery),
)
async def list_test_run_results(request: Request, run_id: UUID, _: Viewer, database: Db) -> Response:
    """Return one page of the tests of a run and how they ended: failed, flaky, skipped, passed."""
    query = read_query(request, RunResultsQuery)
    wanted = query.page(request, history.WORST_FIRST)
    conditions = query.conditions()
    conditions.parameters["run"] = run_id
    async with database.connection() as connection:
        await runs.read(connection, run_id)
        found = await history.page(connection, history.OF_RUN, conditions, wanted)
    return page(request, wanted, found)


@router.get(
    "/requirements/{requirement_id}/results",
    response_model=RequirementResults,
    responses=problem_responses("404 requirement_not_found"),
    summary="What results say of a requirement",
    openapi_extra=documented(VerdictQuery),
)
async def read_requirement_results(
    request: Request, requirement_id: UUID, _: Viewer, database: Db, settings: SettingsOf
) -> Response:
    """Return its verdict now with what it comes from, and a page of what was executed for it, the newest first."""
    query = read_query(request, VerdictQuery)
    wanted = query.page(request, history.NEWEST_FIRST)
    basis = basis_of(query, settings, datetime.now(UTC))
    async with snapshot(database) as connection:
        shown = await service.of_requirement(connection, requirement_id, basis, allow_flaky=query.allow_flaky)
        found = await history.page(connection, history.OF_REQUIREMENT, Conditions(requirement=requirement_id), wanted)
    return page(request, wanted, found, extra=shown)


@router.get(
    "/test-cases/{test_case_id}/results",
    response_model=TestCaseResults,
    responses=problem_responses("404 test_case_not_found"),
    summary="What results say of a test case",
    openapi_extra=documented(VerdictQuery),
)
async def read_test_case_results(
    request: Request, test_case_id: UUID, _: Viewer, database: Db, settings: SettingsOf
) -> Response:
    """Return its verdict now, and a page of its executions, the newest first."""
    query = read_query(request, VerdictQuery)
    wanted = query.page(request, history.NEWEST_FIRST)
    basis = basis_of(query, settings, datetime.now(UTC))
    async with snapshot(database) as connection:
        shown = await service.of_test_case(connection, test_case_id, basis)
        found = await history.page(connection, history.OF_TEST_CASE, Conditions(test_case=test_case_id), wanted)
    return page(request, wanted, found, extra=shown)


@router.delete(
    "/test-runs/{run_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 test_run_not_found"),
    summary="Delete a test run with its results",
)
async def delete_test_run(run_id: UUID, _: Admin, database: Db) -> Response:
    """Verdicts are made of what is left. It cannot be taken back: no API token does it."""
    async with database.transaction() as connection:
        await runs.lock(connection, run_id)
        await storing.delete_run(connection, run_id)
    return Response(status_code=204)


@router.post(
    "/test-cases/{test_case_id}/results",
    status_code=201,
    response_model=Execution,
    responses=problem_responses("404 test_case_not_found"),
    summary="Record an execution by hand",
)
async def create_manual_execution(
    request: Request, test_case_id: UUID, body: ManualExecution, reviewer: Reviewer, database: Db, settings: SettingsOf
) -> Response:
    """Store what a person found; it counts for verdicts as a run of CI with this one test does."""

    async def work(connection: Connection) -> Response:
        execution = await service.execute(connection, test_case_id, body, actor_of(reviewer), settings)
        return created(request, execution, f"/api/v1/test-runs/{execution['run']['id']}")

    if "idempotency-key" in request.headers:
        return await answer_once(request, database, reviewer, work)
    async with database.transaction() as connection:
        return await work(connection)


@router.get(
    "/automated-tests",
    response_model=Page[AutomatedTest],
    summary="List the tests that CI runs",
    openapi_extra=documented(TestsQuery),
)
async def list_automated_tests(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return one page of the tests by class and name.

    `linked=false`: those that CI runs and nobody traces; `missing=true`: those that it does not run any more, on a
    `branch` also those of the default branch that the branch has run the lane without.
    """
    query = read_query(request, TestsQuery)
    wanted = query.page(request, tests.BY_NAME)
    conditions, missing = query.conditions(), query.missing_conditions()
    default = None if query.branch is None else settings.results_default_branch
    async with database.connection() as connection:
        found = await tests.page(connection, conditions, wanted, missing, default, renamed=query.suspected_rename)
    return page(request, wanted, found)


@router.patch(
    "/automated-tests/{test_id}",
    response_model=AutomatedTest,
    responses=problem_responses("404 automated_test_not_found", "404 test_case_not_found"),
    summary="Say which test case a test counts for",
)
async def update_automated_test(
    request: Request, test_id: TestId, body: AutomatedTestPatch, _: Reviewer, database: Db
) -> Response:
    """All its results count for the test case then, those from before among them, until a later one names another."""
    async with database.transaction() as connection:
        return item(request, await tests.assign(connection, test_id, body.test_case_id, datetime.now(UTC)))


@router.post(
    "/automated-tests/{test_id}/merge",
    response_model=AutomatedTest,
    responses=problem_responses("404 automated_test_not_found", "409 same_test", "409 different_test_cases"),
    summary="Merge a test into the one that it was renamed to",
)
async def merge_automated_test(
    request: Request, test_id: TestId, body: MergeTests, _: Reviewer, database: Db
) -> Response:
    """Give the results of a test, and the test cases that it counts for, to the one that it is called now."""
    async with database.transaction() as connection:
        return item(request, await merging.merge(connection, test_id, body.into))

"""HTTP: accept failures that are known, look at what is accepted, and end it."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.executions.acceptances import repository, service
from catalog_service.executions.acceptances.schemas import AcceptedFailure, AcceptedFailureWrite
from chassis.core.problems import Invalid
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import parse_ids, parse_own_ids, parse_words
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import created, item
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/accepted-failures", route_class=StrictRoute, tags=["Results"])

_NOT_FOUND = "404 accepted_failure_not_found"


class AcceptedFailuresQuery(PageQuery):
    """What narrows the list of accepted failures."""

    active: Annotated[bool | None, Field(description="Whether they are accepted now, or not any more.")] = None
    test_case_id: Annotated[
        str | None, Field(description="Of one of these test cases, or of a test that counts for one of them.")
    ] = None
    automated_test_id: Annotated[
        str | None, Field(description="Of one of these automated tests: ids with commas between them.")
    ] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the acceptances `a` must fulfil; raises Invalid."""
        conditions = Conditions()
        if self.active is not None:
            conditions.add(f"({repository.ACTIVE})" if self.active else f"NOT ({repository.ACTIVE})")
        conditions.match(
            "test_case_id",
            parse_ids("test_case_id", self.test_case_id),
            "(a.test_case_id = ANY({values}) OR a.test_id IN (SELECT m.test_id FROM automated_test_cases m"
            " WHERE m.test_case_id = ANY({values})))",
        )
        words = parse_words("automated_test_id", self.automated_test_id)
        if words is not None:
            for word in (*words.included, *words.excluded):
                if not (word.isascii() and word.isdigit() and len(word) <= 18):
                    detail = f"“{word[:100]}” is no id of an automated test: these are numbers, such as 7."
                    raise Invalid.field("/query/automated_test_id", detail, "invalid_id")
            conditions.match("automated_test_id", words, "a.test_id = ANY({values}::bigint[])")
        conditions.choose("a.id", parse_own_ids(self.ids))
        return conditions


@router.post(
    "",
    status_code=201,
    response_model=AcceptedFailure,
    responses=problem_responses("404 automated_test_not_found", "404 test_case_not_found", "409 already_accepted"),
    summary="Accept a failure until a time",
)
async def create_accepted_failure(
    request: Request, body: AcceptedFailureWrite, reviewer: Reviewer, database: Db
) -> Response:
    """Say that a test, or each test of a test case, may fail for a while, and why.

    Verdicts stay `failed` and say so; a gate with `accepted=allow` lets pass what fails for nothing else, and lists it.
    It ends by itself: at `until`, or when the test has passed three whole runs in a row wherever it had failed.
    """
    now = datetime.now(UTC)

    async def work(connection: Connection) -> Response:
        row = await service.accept(connection, body, actor_of(reviewer), now)
        return created(request, row, f"/api/v1/accepted-failures/{row['id']}")

    if "idempotency-key" in request.headers:
        return await answer_once(request, database, reviewer, work)
    async with database.transaction() as connection:
        return await work(connection)


@router.get(
    "",
    response_model=Page[AcceptedFailure],
    summary="List accepted failures, the newest first",
    openapi_extra=documented(AcceptedFailuresQuery),
)
async def list_accepted_failures(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the failures that are accepted, and of those that were."""
    query = read_query(request, AcceptedFailuresQuery)
    wanted = query.page(request, repository.NEWEST_FIRST)
    conditions = query.conditions()
    async with database.connection() as connection:
        found = await repository.page(connection, conditions, wanted, datetime.now(UTC))
    return page(request, wanted, found)


@router.get(
    "/{accepted_failure_id}",
    response_model=AcceptedFailure,
    responses=problem_responses(_NOT_FOUND),
    summary="Read an accepted failure",
)
async def read_accepted_failure(request: Request, accepted_failure_id: UUID, _: Viewer, database: Db) -> Response:
    """Return it as it is now: whether it is accepted, or since when and why not any more."""
    async with database.connection() as connection:
        return item(request, await service.read(connection, accepted_failure_id, datetime.now(UTC)))


@router.post(
    "/{accepted_failure_id}/end",
    response_model=AcceptedFailure,
    responses=problem_responses(_NOT_FOUND),
    summary="Accept a failure no longer",
)
async def end_accepted_failure(
    request: Request, accepted_failure_id: UUID, reviewer: Reviewer, database: Db
) -> Response:
    """End it before its time; one that has ended already stays as it is."""
    async with database.transaction() as connection:
        row = await service.end(connection, accepted_failure_id, actor_of(reviewer), datetime.now(UTC))
        return item(request, row)

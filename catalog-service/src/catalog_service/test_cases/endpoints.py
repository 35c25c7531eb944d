"""The routes of test cases."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.items import endpoints as items
from catalog_service.items import external_ids
from catalog_service.items.external_ids import ExternalId
from catalog_service.items.filters import Expand, ItemFilters
from catalog_service.items.kind import ItemKind
from catalog_service.test_cases.kind import TEST_CASE
from catalog_service.test_cases.schemas import (
    AutomationStatus,
    ExpandedTestCase,
    TestCase,
    TestCasePatch,
    TestCaseStatus,
    TestCaseType,
    TestCaseWrite,
)
from chassis.core.identity import Reviewer, Viewer
from chassis.db.database import Db
from chassis.web.listing import Conditions, Page, documented, read_query
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Test cases"])

_HAS_LINK = "EXISTS (SELECT FROM linked_test_cases WHERE test_case_id = test_cases.id)"


class TestCaseFilters(ItemFilters):
    """What narrows and orders a list of test cases."""

    type: Annotated[str | None, alternatives(TestCaseType)] = None
    status: Annotated[str | None, alternatives(TestCaseStatus)] = None
    automation_status: Annotated[str | None, alternatives(AutomationStatus)] = None
    linked: Annotated[bool | None, Field(description="Whether a requirement is linked.")] = None

    def conditions(self, kind: ItemKind) -> Conditions:
        """Return what the test cases must fulfil; raises Invalid for an unknown value."""
        conditions = super().conditions(kind)
        conditions.choose(
            "automation_status", parse_choice("automation_status", self.automation_status, AutomationStatus)
        )
        if self.linked is not None:
            conditions.add(_HAS_LINK if self.linked else f"NOT {_HAS_LINK}")
        return conditions


@router.post(
    "/test-cases",
    status_code=201,
    response_model=TestCase,
    responses=problem_responses("409 external_id_taken"),
    summary="Create a test case",
)
async def create_test_case(request: Request, body: TestCaseWrite, reviewer: Reviewer, database: Db) -> Response:
    """Suggestions for it are looked for in the background."""
    return await items.create(TEST_CASE, request, database, reviewer, body)


@router.get(
    "/test-cases",
    response_model=Page[ExpandedTestCase],
    summary="List test cases, the newest first",
    openapi_extra=documented(TestCaseFilters),
)
async def list_test_cases(request: Request, viewer: Viewer) -> Response:
    """Return one page of those that all the filters find; what is left out does not narrow."""
    return await items.find(TEST_CASE, request, read_query(request, TestCaseFilters))


@router.get(
    "/test-cases/by-external-id/{external_id:text}",
    response_model=TestCase,
    responses=problem_responses("404 test_case_not_found"),
    summary="Read the test case that has an external id",
)
async def read_test_case_by_external_id(
    request: Request, external_id: ExternalId, viewer: Viewer, database: Db
) -> Response:
    """As by its id, and with the same ETag. Slashes in the external_id may be written as they are."""
    return await external_ids.read(TEST_CASE, request, database, external_id)


@router.put(
    "/test-cases/by-external-id/{external_id:text}",
    response_model=TestCase,
    responses={201: {"model": TestCase, "description": "Created"}, **problem_responses("409 external_id_taken", 412)},
    summary="Create or replace the test case that has an external id",
)
async def put_test_case_by_external_id(
    request: Request, external_id: ExternalId, body: TestCaseWrite, reviewer: Reviewer, database: Db
) -> Response:
    """The same call as often as you like: 201 when it created, 200 when it replaced what there was.

    `external_id` may be left out of the body. With `If-None-Match: *` it only creates, with `If-Match` it only
    replaces what was read.
    """
    return await external_ids.put(TEST_CASE, request, database, reviewer, external_id, body)


@router.get(
    "/test-cases/{test_case_id}",
    response_model=ExpandedTestCase,
    responses=problem_responses("404 test_case_not_found"),
    summary="Read a test case",
)
async def read_test_case(request: Request, test_case_id: UUID, viewer: Viewer, expand: Expand = None) -> Response:
    """With `expand`, the ETag is that of the longer answer: for `If-Match`, read without."""
    return await items.read(TEST_CASE, request, test_case_id, expand)


@router.put(
    "/test-cases/{test_case_id}",
    response_model=TestCase,
    responses=problem_responses("404 test_case_not_found", "409 external_id_taken", 412),
    summary="Replace a test case",
)
async def replace_test_case(
    request: Request, test_case_id: UUID, body: TestCaseWrite, reviewer: Reviewer, database: Db
) -> Response:
    """What is not sent falls back to its default; `created_by` stays unless it is sent."""
    return await items.replace(TEST_CASE, request, database, reviewer, test_case_id, body)


@router.patch(
    "/test-cases/{test_case_id}",
    response_model=TestCase,
    responses=problem_responses("404 test_case_not_found", "409 external_id_taken", 412),
    summary="Change fields of a test case",
)
async def update_test_case(
    request: Request, test_case_id: UUID, body: TestCasePatch, reviewer: Reviewer, database: Db
) -> Response:
    """A JSON merge patch (RFC 7396): null removes, objects are merged, an unknown field is refused."""
    return await items.patch(TEST_CASE, request, database, reviewer, test_case_id, body)


@router.delete(
    "/test-cases/{test_case_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 test_case_not_found", 412),
    summary="Delete a test case with its links and suggestions",
)
async def delete_test_case(request: Request, test_case_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """It stays in the history and in the audit log; its external_id can be given to another."""
    return await items.delete(TEST_CASE, request, database, reviewer, test_case_id)

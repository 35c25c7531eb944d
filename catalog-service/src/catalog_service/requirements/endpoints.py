"""The routes of requirements."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response

from catalog_service.items import endpoints as items
from catalog_service.items import external_ids
from catalog_service.items.external_ids import ExternalId
from catalog_service.items.filters import Expand, ItemFilters
from catalog_service.items.kind import ItemKind
from catalog_service.items.schemas import Coverage
from catalog_service.links import suspicion
from catalog_service.requirements.kind import REQUIREMENT
from catalog_service.requirements.schemas import (
    ExpandedRequirement,
    Requirement,
    RequirementPatch,
    RequirementStatus,
    RequirementType,
    RequirementWrite,
)
from chassis.core.identity import Reviewer, Viewer
from chassis.db.database import Db
from chassis.web.listing import Conditions, Page, documented, read_query
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Requirements"])

_HAS_LINK = "EXISTS (SELECT FROM linked_requirements WHERE requirement_id = requirements.id)"
_HAS_SUSPECT_LINK = f"(id IN ({suspicion.suspect_links('r.id')}))"
_COVERAGE = {
    Coverage.NONE: f"(NOT {_HAS_LINK})",
    Coverage.COVERED: _HAS_LINK,
    Coverage.SUSPECT: _HAS_SUSPECT_LINK,
}


class RequirementFilters(ItemFilters):
    """What narrows and orders a list of requirements."""

    type: Annotated[str | None, alternatives(RequirementType)] = None
    status: Annotated[str | None, alternatives(RequirementStatus)] = None
    coverage: Annotated[
        str | None,
        alternatives(Coverage, "none: without a link; covered: with one at least; suspect: with a suspect one. "),
    ] = None

    def conditions(self, kind: ItemKind) -> Conditions:
        """Return what the requirements must fulfil; raises Invalid for an unknown value."""
        conditions = super().conditions(kind)
        conditions.choose_of(_COVERAGE, parse_choice("coverage", self.coverage, Coverage))
        return conditions


@router.post(
    "/requirements",
    status_code=201,
    response_model=Requirement,
    responses=problem_responses("409 external_id_taken"),
    summary="Create a requirement",
)
async def create_requirement(request: Request, body: RequirementWrite, reviewer: Reviewer, database: Db) -> Response:
    """Suggestions for it are looked for in the background."""
    return await items.create(REQUIREMENT, request, database, reviewer, body)


@router.get(
    "/requirements",
    response_model=Page[ExpandedRequirement],
    summary="List requirements, the newest first",
    openapi_extra=documented(RequirementFilters),
)
async def list_requirements(request: Request, viewer: Viewer) -> Response:
    """Return one page of those that all the filters find; what is left out does not narrow."""
    return await items.find(REQUIREMENT, request, read_query(request, RequirementFilters))


@router.get(
    "/requirements/by-external-id/{external_id:text}",
    response_model=Requirement,
    responses=problem_responses("404 requirement_not_found"),
    summary="Read the requirement that has an external id",
)
async def read_requirement_by_external_id(
    request: Request, external_id: ExternalId, viewer: Viewer, database: Db
) -> Response:
    """As by its id, and with the same ETag. Slashes in the external_id may be written as they are."""
    return await external_ids.read(REQUIREMENT, request, database, external_id)


@router.put(
    "/requirements/by-external-id/{external_id:text}",
    response_model=Requirement,
    responses={
        201: {"model": Requirement, "description": "Created"},
        **problem_responses("409 external_id_taken", 412),
    },
    summary="Create or replace the requirement that has an external id",
)
async def put_requirement_by_external_id(
    request: Request, external_id: ExternalId, body: RequirementWrite, reviewer: Reviewer, database: Db
) -> Response:
    """The same call as often as you like: 201 when it created, 200 when it replaced what there was.

    `external_id` may be left out of the body. With `If-None-Match: *` it only creates, with `If-Match` it only
    replaces what was read.
    """
    return await external_ids.put(REQUIREMENT, request, database, reviewer, external_id, body)


@router.get(
    "/requirements/{requirement_id}",
    response_model=ExpandedRequirement,
    responses=problem_responses("404 requirement_not_found"),
    summary="Read a requirement",
)
async def read_requirement(request: Request, requirement_id: UUID, viewer: Viewer, expand: Expand = None) -> Response:
    """With `expand`, the ETag is that of the longer answer: for `If-Match`, read without."""
    return await items.read(REQUIREMENT, request, requirement_id, expand)


@router.put(
    "/requirements/{requirement_id}",
    response_model=Requirement,
    responses=problem_responses("404 requirement_not_found", "409 external_id_taken", 412),
    summary="Replace a requirement",
)
async def replace_requirement(
    request: Request, requirement_id: UUID, body: RequirementWrite, reviewer: Reviewer, database: Db
) -> Response:
    """What is not sent falls back to its default; `created_by` stays unless it is sent."""
    return await items.replace(REQUIREMENT, request, database, reviewer, requirement_id, body)


@router.patch(
    "/requirements/{requirement_id}",
    response_model=Requirement,
    responses=problem_responses("404 requirement_not_found", "409 external_id_taken", 412),
    summary="Change fields of a requirement",
)
async def update_requirement(
    request: Request, requirement_id: UUID, body: RequirementPatch, reviewer: Reviewer, database: Db
) -> Response:
    """A JSON merge patch (RFC 7396): null removes, objects are merged, an unknown field is refused."""
    return await items.patch(REQUIREMENT, request, database, reviewer, requirement_id, body)


@router.delete(
    "/requirements/{requirement_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 requirement_not_found", 412),
    summary="Delete a requirement with its links and suggestions",
)
async def delete_requirement(request: Request, requirement_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """It stays in the history and in the audit log; its external_id can be given to another."""
    return await items.delete(REQUIREMENT, request, database, reviewer, requirement_id)

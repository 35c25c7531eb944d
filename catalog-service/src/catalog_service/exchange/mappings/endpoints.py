"""HTTP: saved mappings."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.exchange.mappings import service
from catalog_service.exchange.mappings.schemas import ListedMapping, MappingWrite, SavedMapping
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import FREE_ALTERNATIVES, parse_own_ids, parse_words
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import check_precondition, created, item, tagged
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/imports/mappings", route_class=StrictRoute, tags=["Import"])
_NOT_FOUND = "404 mapping_not_found"


class MappingsQuery(PageQuery):
    """What narrows the list of mappings."""

    name: Annotated[str | None, Field(description=f"Their names: {FREE_ALTERNATIVES}.")] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the mappings must fulfil; raises Invalid."""
        conditions = Conditions()
        conditions.choose("m.name", parse_words("name", self.name))
        conditions.choose("m.id", parse_own_ids(self.ids))
        return conditions


@router.get(
    "",
    response_model=Page[ListedMapping],
    summary="List saved mappings, the newest first",
    openapi_extra=documented(MappingsQuery),
)
async def list_import_mappings(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the mappings that people have saved. Those of known tools are found by their headers."""
    query = read_query(request, MappingsQuery)
    wanted = query.page(request, service.NEWEST_FIRST)
    async with database.connection() as connection:
        found = await service.page(connection, query.conditions(), wanted)
    return page(request, wanted, found, [tagged(row, {}, wanted.fields) for row in found.rows])


@router.post(
    "",
    status_code=201,
    response_model=SavedMapping,
    responses=problem_responses("409 name_taken"),
    summary="Save a mapping",
)
async def create_import_mapping(request: Request, body: MappingWrite, reviewer: Reviewer, database: Db) -> Response:
    """Keep a mapping under a name, to be named by `mapping` of POST /imports."""

    async def create(connection: Connection) -> Response:
        row = await service.create(connection, body, actor_of(reviewer))
        return created(request, row, f"/api/v1/imports/mappings/{row['id']}")

    return await answer_once(request, database, reviewer, create)


@router.get(
    "/{mapping_id}",
    response_model=SavedMapping,
    responses=problem_responses(_NOT_FOUND),
    summary="Read a saved mapping",
)
async def read_import_mapping(request: Request, mapping_id: UUID, _: Viewer, database: Db) -> Response:
    """Return the mapping and how it is called."""
    async with database.connection() as connection:
        return item(request, await service.get(connection, mapping_id))


@router.put(
    "/{mapping_id}",
    response_model=SavedMapping,
    responses=problem_responses(_NOT_FOUND, "409 name_taken", 412),
    summary="Replace a saved mapping",
)
async def replace_import_mapping(
    request: Request, mapping_id: UUID, body: MappingWrite, _: Reviewer, database: Db
) -> Response:
    """With `If-Match`, only what was read is replaced."""
    async with database.transaction() as connection:
        row = await service.replace(connection, mapping_id, body, lambda current: check_precondition(request, current))
    return item(request, row)


@router.delete(
    "/{mapping_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses(_NOT_FOUND, 412),
    summary="Delete a saved mapping",
)
async def delete_import_mapping(request: Request, mapping_id: UUID, _: Reviewer, database: Db) -> Response:
    """Imports that were made by it stay as they are."""
    async with database.transaction() as connection:
        await service.delete(connection, mapping_id, lambda current: check_precondition(request, current))
    return Response(status_code=204)

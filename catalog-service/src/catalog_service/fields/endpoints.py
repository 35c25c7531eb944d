"""GET and PUT /fields: what items of a project have beside the fields of all."""

from fastapi import APIRouter, Request, Response

from catalog_service.fields import repository, service
from catalog_service.fields.schemas import FieldsWrite, ProjectFields
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin, Viewer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import check_precondition, item
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/fields", route_class=StrictRoute, tags=["Fields"])


@router.get("", response_model=ProjectFields, summary="Read the fields of the project")
async def read_fields(request: Request, _: Viewer, database: Db) -> Response:
    """Return them in their order. An item has its values in `custom_metadata.fields`, by key."""
    async with database.connection() as connection:
        fields = await repository.of(connection)
    return item(request, service.answered(fields.defined))


@router.put(
    "",
    response_model=ProjectFields,
    responses=problem_responses("409 field_in_use", 412),
    summary="Define the fields of the project",
)
async def put_fields(request: Request, body: FieldsWrite, admin: Admin, database: Db) -> Response:
    """Admins of the project put these in place of those that there are; with `If-Match`, of those that were read.

    What items have of a field that is removed stays in their `custom_metadata`, and comes back with the field. A field
    of which items have values keeps its kind, and the choices that they have.
    """
    async with database.transaction() as connection:
        fields = await service.define(
            connection, body.fields, actor_of(admin), lambda row: check_precondition(request, row)
        )
    return item(request, service.answered(fields.defined))

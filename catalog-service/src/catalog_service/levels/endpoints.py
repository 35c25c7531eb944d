"""GET and PUT /levels: the levels of requirements that a project has."""

from fastapi import APIRouter, Request, Response

from catalog_service.levels import service
from catalog_service.levels.schemas import LevelsWrite, ProjectLevels
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin, Viewer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import check_precondition, item
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/levels", route_class=StrictRoute, tags=["Levels"])


@router.get("", response_model=ProjectLevels, summary="Read the levels of the project")
async def read_levels(request: Request, _: Viewer, database: Db) -> Response:
    """Return them from the top. A requirement has the key of its level in `level`."""
    async with database.connection() as connection:
        return item(request, await service.read(connection))


@router.put(
    "",
    response_model=ProjectLevels,
    responses=problem_responses("409 level_in_use", 412),
    summary="Define the levels of the project",
)
async def put_levels(request: Request, body: LevelsWrite, admin: Admin, database: Db) -> Response:
    """Admins of the project put these in place of those that there are; with `If-Match`, of those that were read.

    A level that requirements have cannot be left out. What it is called, needs, and stands behind, is free.
    """
    async with database.transaction() as connection:
        levels = await service.define(connection, body, actor_of(admin), lambda row: check_precondition(request, row))
    return item(request, levels)

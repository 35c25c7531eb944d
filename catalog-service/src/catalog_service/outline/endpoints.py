"""The routes of the outline: moves of items of either kind, and sections."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.fields.definitions import ItemName
from catalog_service.items.kinds import KINDS, ItemKind
from catalog_service.outline import service
from catalog_service.outline.schemas import Move, MoveAnswer, Sections
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)


@router.get("/sections", response_model=Sections, tags=["Sections"], summary="Read the sections of the outline")
async def read_sections(
    _: Viewer,
    database: Db,
    kind: Annotated[ItemName, Query(description="Whose sections.")] = ItemName.REQUIREMENT,
) -> Response:
    """In the order of the outline, each with how many items are in it, and in all below it.

    A section is there as long as something is in it. Items in the order of the outline: their list with
    `sort=position`.
    """
    (of,) = (one for one in KINDS if one.name == kind)
    async with database.connection() as connection:
        return answer(await service.read_sections(connection, of))


def _add_move(kind: ItemKind) -> None:
    @router.post(
        f"/{kind.path.rpartition('/')[2]}/move",
        name=f"move_{kind.table}",
        response_model=MoveAnswer,
        responses=problem_responses(f"404 {kind.name}_not_found", "409 moved_since"),
        tags=[f"{kind.label.capitalize()}s"],
        summary=f"Move {kind.label}s in the outline",
    )
    async def move(request: Request, body: Move, reviewer: Reviewer, database: Db) -> Response:
        """All of them or none, in the order of `ids`. A move raises no version and makes no link suspect.

        The answer has in `undo` the body of the move that puts them back; it is refused where one of them has been
        moved since.
        """
        async with database.transaction() as connection:
            return answer(await service.move(connection, kind, body, actor_of(reviewer)))


for _kind in KINDS:
    _add_move(_kind)

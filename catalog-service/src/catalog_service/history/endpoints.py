"""The routes of what items said before."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from catalog_service.history import service
from catalog_service.history.repository import NEWEST_FIRST
from catalog_service.history.schemas import History, RelationSuspicion, Suspicion
from catalog_service.history.service import Versions
from catalog_service.items.kinds import KINDS, ItemKind
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import PageQuery, documented, page, read_query
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import item
from chassis.web.strict_route import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["History"])


class HistoryQuery(PageQuery):
    """Which versions are compared."""

    from_version: Annotated[
        int | None,
        Field(alias="from", description="A version to compare with; left out: the one before `to`.", examples=[1]),
    ] = None
    to: Annotated[
        int | None,
        Field(description="The version that `from` is compared with; left out: the present one.", examples=[2]),
    ] = None


_HISTORY = """\
Every change with who made it, when, and each field before and after; the newest first, the creation last.

With `from` or `to`, the changes between these two versions, and `differences`: what the one said and the other
says, word by word. A {} that was deleted keeps its history."""


def _add_history(kind: ItemKind) -> None:
    @router.get(
        f"{kind.path}/{{{kind.name}_id}}/history",
        name=f"read_{kind.name}_history",
        response_model=History,
        responses=problem_responses(f"404 {kind.name}_not_found"),
        summary=f"Everything that happened to a {kind.label}",
        description=_HISTORY.format(kind.label),
        openapi_extra=documented(HistoryQuery),
    )
    async def read_history(
        request: Request,
        item_id: Annotated[UUID, Path(alias=f"{kind.name}_id")],
        viewer: Viewer,
        database: Db,
    ) -> Response:
        query = read_query(request, HistoryQuery)
        wanted, versions = query.page(request, NEWEST_FIRST), Versions(query.from_version, query.to)
        found, compared = await service.history(database, kind, item_id, versions, wanted)
        return page(request, wanted, found, extra=compared)


for _kind in KINDS:
    _add_history(_kind)


@router.get(
    "/api/v1/links/{link_id}/suspicion",
    response_model=Suspicion,
    responses={**with_headers("ETag"), **problem_responses("404 link_not_found")},
    summary="What changed since a link was made or last confirmed",
)
async def read_suspicion(request: Request, link_id: UUID, viewer: Viewer, database: Db) -> Response:
    """What both items said when the link was made or last confirmed, and what they say now, word by word.

    A link that is not suspect answers with `suspect: false` and no differences.
    """
    return item(request, await service.suspicion_of(database, link_id))


@router.get(
    "/api/v1/relations/{relation_id}/suspicion",
    response_model=RelationSuspicion,
    responses={**with_headers("ETag"), **problem_responses("404 relation_not_found")},
    summary="What changed since a relation was made or last confirmed",
)
async def read_relation_suspicion(request: Request, relation_id: UUID, viewer: Viewer, database: Db) -> Response:
    """What both requirements said when the relation was made or last confirmed, and what they say now, word by word.

    A relation that is not suspect answers with `suspect: false` and no differences.
    """
    return item(request, await service.suspicion_of_relation(database, relation_id))

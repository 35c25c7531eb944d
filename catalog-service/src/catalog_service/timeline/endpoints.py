"""The routes of what happened to items."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from catalog_service.items.kinds import KINDS, ItemKind
from catalog_service.timeline import service
from catalog_service.timeline.repository import NEWEST_FIRST
from catalog_service.timeline.schemas import TimelineEntry, TimelineGroup
from chassis.core.problems import Invalid
from chassis.core.wording import shown
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import Page, PageQuery, documented, page, read_query
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["History"])


class TimelineQuery(PageQuery):
    """What narrows a timeline."""

    show: Annotated[
        str | None,
        Field(
            description=f"Entries of these alone, several with commas: {', '.join(TimelineGroup)}. Left out: all.",
            examples=["versions,links"],
        ),
    ] = None

    def groups(self) -> frozenset[TimelineGroup]:
        """Return what entries are asked for; raise Invalid for what there is not."""
        words = [word.strip() for word in (self.show or "").split(",") if word.strip()]
        unknown = [word for word in words if word not in set(TimelineGroup)]
        if unknown:
            detail = f"A timeline has no {shown(unknown[0])}; it has {', '.join(TimelineGroup)}."
            raise Invalid.field("/query/show", detail, "unknown_value")
        return frozenset(map(TimelineGroup, words))


def _add_timeline(kind: ItemKind) -> None:
    @router.get(
        f"{kind.path}/{{{kind.name}_id}}/timeline",
        name=f"read_{kind.name}_timeline",
        response_model=Page[TimelineEntry],
        responses=problem_responses(f"404 {kind.name}_not_found"),
        summary=f"What happened to a {kind.label}, the newest first",
        openapi_extra=documented(TimelineQuery),
    )
    async def read_timeline(
        request: Request,
        item_id: Annotated[UUID, Path(alias=f"{kind.name}_id")],
        viewer: Viewer,
        database: Db,
    ) -> Response:
        """Versions with what they say differently, links from when they were made to their end, and what turned.

        Links: made, accepted, changed, suspected, confirmed and removed. Suggestions: rejected ones; an accepted one is
        a link. Results: those that are not as the one before. Of imports: what they changed, and links that they made.
        """
        query = read_query(request, TimelineQuery)
        wanted = query.page(request, NEWEST_FIRST)
        return page(request, wanted, await service.timeline(database, kind, item_id, query.groups(), wanted))


for _kind in KINDS:
    _add_timeline(_kind)

"""GET /search."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.search import service
from catalog_service.search.schemas import ItemKind, SearchHit
from chassis.database import Db
from chassis.http import paging
from chassis.http.paging import Limit, Page, Skip
from chassis.http.strict_route import StrictRoute
from chassis.identity import Viewer
from chassis.problems import Invalid

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Search"])


@router.get("/search", response_model=Page[SearchHit], summary="Search requirements and test cases")
async def search(
    request: Request,
    viewer: Viewer,
    database: Db,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=500,
            description='Words to find, in whatever form; "a phrase", -without, this or that.',
        ),
    ],
    kind: Annotated[
        ItemKind | None, Query(alias="type", description="Only items of this type; both when left out.")
    ] = None,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Give what the words of `q` are found in, best first; no query is wrong, a query of stop words finds nothing.

    Of more than a thousand hits the newest thousand come first, in their order, then the next thousand, and so on.
    `total` counts ten thousand hits at most, or one more than were paged through: so that `next` leads to all.
    """
    text = q.strip()
    if not text:
        raise Invalid.field("/query/q", "Say what to search for.", "blank")
    kinds = tuple(ItemKind) if kind is None else (kind,)
    async with database.connection() as connection:
        items, total = await service.search(connection, text, kinds, skip, limit)
    return paging.page(request, items, total, skip, limit)

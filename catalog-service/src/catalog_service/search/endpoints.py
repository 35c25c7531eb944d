"""GET /search."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.search import service
from catalog_service.search.schemas import ItemKind, SearchPage
from chassis.core.identity import Viewer
from chassis.core.problems import Invalid
from chassis.db.database import Db
from chassis.web.listing import Limit, Skip, page
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Search"])


@router.get("/search", response_model=SearchPage, summary="Search requirements and test cases")
async def search(
    request: Request,
    viewer: Viewer,
    database: Db,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=500,
            description="Words to find, by their beginning and in their other forms, with or without accents and"
            ' case; parts of identifiers; "a phrase", -without, this or that.',
            examples=["ALLO-001", "door clos", '"closed doors" -manual'],
        ),
    ],
    type: Annotated[  # noqa: A002 - the parameter's public name
        str | None, alternatives(ItemKind, "Both when left out. ")
    ] = None,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Return what the words of `q` are found in, best first; no query is wrong, a query without words finds nothing.

    Searched are title, description, external_id, tags, steps, preconditions, postconditions and test_data. When
    nothing is found since a word is nowhere, `did_you_mean` is the query with the nearest word that is somewhere.

    Of more than a thousand hits the newest thousand come first, in their order, then the next thousand, and so on.
    `total` counts ten thousand hits at most, or one more than were paged through: so that `next` leads to all.
    """
    text = q.strip()
    if not text:
        raise Invalid.field("/query/q", "Say what to search for.", "blank")
    choice = parse_choice("type", type, ItemKind)
    kinds = tuple(ItemKind)
    if choice is not None:
        kinds = tuple(one for one in choice.included or ItemKind if one not in choice.excluded)
    found = await service.search(database, text, kinds, skip, limit)
    more = {"did_you_mean": found.did_you_mean}
    return page(request, found.items, found.total, skip, limit, more)

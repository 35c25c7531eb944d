"""GET /search."""

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.search import service
from catalog_service.search.schemas import ItemKind, SearchPage
from catalog_service.search.windows import by_relevance
from chassis.core.problems import Invalid
from chassis.core.wording import shown
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import PageQuery, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Search"])


class SearchParameters(PageQuery):
    """What is searched for, and in what."""

    q: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="Words to find, by their beginning and in their other forms, with or without accents and"
            ' case; parts of identifiers; "a phrase", -without, this or that.',
            examples=["ALLO-001", "door clos", '"closed doors" -manual'],
        ),
    ]
    type: Annotated[str | None, alternatives(ItemKind, "Both when left out. ")] = None


@router.get(
    "/search",
    response_model=SearchPage,
    summary="Search requirements and test cases",
    openapi_extra=documented(SearchParameters),
)
async def search(
    request: Request,
    viewer: Viewer,
    database: Db,
) -> Response:
    """Return what the words of `q` are found in, best first; no query is wrong, a query without words finds nothing.

    Searched are title, description, external_id, tags, steps, preconditions, postconditions and test_data. When
    nothing is found since a word is nowhere, `did_you_mean` is the query with the nearest word that is somewhere.

    Of more than a thousand hits the newest thousand come first, in their order, then the next thousand, and so on.
    `total` counts five thousand hits at most, or one more than were paged through: so that `next` leads to all.
    """
    query = read_query(request, SearchParameters)
    text = query.q.strip()
    if not text:
        raise Invalid.field("/query/q", "Say what to search for.", "blank")
    choice = parse_choice("type", query.type, ItemKind)
    kinds = tuple(ItemKind)
    if choice is not None:
        kinds = tuple(one for one in choice.included or ItemKind if one not in choice.excluded)
    if not kinds:
        raise Invalid.field("/query/type", f"{shown(query.type)} leaves no kind; leave type out for both.", "no_kind")
    wanted = query.page(request, by_relevance(best_first=True), text)
    found, did_you_mean = await service.search(database, text, kinds, wanted)
    return page(request, wanted, found, extra={"did_you_mean": did_you_mean})

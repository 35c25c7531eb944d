"""GET /changes."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.changes import service
from catalog_service.changes.schemas import RecordChanges
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import Limit
from chassis.web.responses import ListAnswer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["History"])

After = Annotated[
    int,
    Query(
        ge=0,
        le=2**63 - 1,
        description="The position up to which the changes are known: `next_after` of the last answer; 0 for all.",
        examples=[0],
    ),
]


@router.get(
    "/changes",
    response_model=RecordChanges,
    summary="What changed, in order, to keep a copy",
)
async def list_changes(request: Request, viewer: Viewer, database: Db, after: After = 0, limit: Limit = 50) -> Response:
    """Creations, changes and deletions of requirements, test cases, links and relations, each once, in their order.

    Begin with `after=0` and go on with `next_after`: nothing is left out and nothing comes twice, whatever happens
    meanwhile. Everything that was answered before the call is in it. Deleting an item deletes its links and
    relations, each a change of its own behind it.

    Of what is older than a retention (30 days by default) each item, link and relation has two changes, that it was
    created and the last one since, or a single one, that it was deleted: to be ignored where it is not known. A copy
    comes out the same wherever it begins or goes on.
    """
    changes = await service.read(database, after, limit)
    headers = {}
    if not changes.are_all:
        headers["Link"] = f'<{request.scope["path"]}?after={changes.next_after}&limit={limit}>; rel="next"'
    return ListAnswer(changes.items, {"next_after": changes.next_after, "head": changes.head}, headers)

"""The HTTP door to API tokens."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from auth_service.api_tokens import repository, service
from auth_service.api_tokens.schemas import ApiToken, MadeApiToken, NewApiToken
from auth_service.projects.service import check_access
from chassis.db.database import Connection, Db
from chassis.web.callers import Viewer
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By
from chassis.web.listing import Page, PageQuery, PageRequest, documented, page, read_query
from chassis.web.parameters import parse_sort, sorts
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, created, item
from chassis.web.strict_route import StrictRoute
from contracts import api_tokens

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["API tokens"])

_NO_STORE = {"Cache-Control": "no-store"}
_SORTS = {"created_at": By("created_at", datetime), "expires_at": By("expires_at", datetime)}

TokenId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.post(
    "/auth/tokens",
    summary="Make an API token, for a pipeline or an agent",
    status_code=201,
    response_model=MadeApiToken,
    responses=problem_responses(401, "403 session_needed", "404 project_not_found", "409 too_many_tokens"),
)
async def create_token(body: NewApiToken, request: Request, database: Db, viewer: Viewer) -> Response:
    """It may what its scopes say and never more than you may at that time, and it ends with your account.

    Where you have no role that may do what a scope is for, `warnings` says so.
    A change of your password ends it, too, as it ends all your tokens. It cannot be used to make others.
    """
    token = api_tokens.new()
    made: dict[str, Any] = {}

    async def create(connection: Connection) -> Response:
        await check_access(connection, body.projects or (), viewer)
        shown = await service.create(
            connection,
            viewer,
            token,
            name=body.name,
            scopes=body.scopes,
            projects=body.projects,
            expires_at=body.ends_at,
        )
        made.update(shown)
        # What is kept for a repetition has no secret in it.
        return created(request, {**shown, "token": None}, _location(shown))

    response = await answer_once(request, database, viewer, create)
    if made:
        response = answer({**made, "token": token}, 201, {"Location": _location(made)})
    response.headers.update(_NO_STORE)
    return response


def _location(shown: dict[str, Any]) -> str:
    return f"/api/v1/auth/tokens/{shown['id']}"


class TokenQuery(PageQuery):
    """What orders the list of tokens."""

    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"

    def wanted(self, request: Request) -> PageRequest:
        """Return the page that is asked for; raises Invalid for an unknown sort, or a position in another list."""
        sort = parse_sort(self.sort, list(_SORTS))
        return self.page(request, sort.order(_SORTS, By("id", int, sort.descending)))


@router.get(
    "/auth/tokens",
    summary="List your API tokens, newest first",
    response_model=Page[ApiToken],
    openapi_extra=documented(TokenQuery),
)
async def list_tokens(request: Request, database: Db, viewer: Viewer) -> Response:
    """Those that you revoked are not in it; those that expired are, for 30 days. The secret of none is known."""
    wanted = read_query(request, TokenQuery).wanted(request)
    found = await service.find_page(database, repository.working_of(viewer.id), wanted)
    return page(request, wanted, found)


@router.get(
    "/auth/tokens/{token_id}",
    summary="Read an API token",
    response_model=ApiToken,
    responses=problem_responses("404 token_not_found"),
)
async def get_token(token_id: TokenId, request: Request, database: Db, viewer: Viewer) -> Response:
    """What it may and when it was last used; its secret is not known."""
    return item(request, await service.get(database, viewer, token_id))


@router.delete(
    "/auth/tokens/{token_id}",
    summary="Revoke an API token",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 token_not_found"),
)
async def revoke_token(token_id: TokenId, database: Db, viewer: Viewer) -> Response:
    """It stops working within 2 seconds, for good. Admins may revoke anybody's."""
    await service.revoke(database, viewer, token_id)
    return Response(status_code=204)

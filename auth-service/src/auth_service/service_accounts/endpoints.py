"""The HTTP door to service accounts of a project and their API tokens, for its admins."""

import secrets
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response

from auth_service.api_tokens.endpoints import TokenId, TokenQuery
from auth_service.api_tokens.schemas import ApiToken, MadeApiToken, NewApiToken
from auth_service.projects.endpoints import PATH, ProjectKey
from auth_service.service_accounts import service
from auth_service.service_accounts.schemas import NewServiceAccount, ServiceAccount
from auth_service.users.endpoints import UserId
from auth_service.users.passwords import PasswordPort
from chassis.db.database import Connection, Db
from chassis.web.callers import Viewer
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By
from chassis.web.listing import Page, PageQuery, documented, page, read_query
from chassis.web.parameters import parse_sort, sorts
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, created
from chassis.web.strict_route import StrictRoute
from contracts import api_tokens

router = APIRouter(prefix=PATH, route_class=StrictRoute, tags=["API tokens"])

_REFUSALS = ("403 role_too_low", "404 project_not_found")
_NO_ACCOUNT = "404 service_account_not_found"
_SORTS = {"name": By("a.name", str), "created_at": By("a.created_at", datetime)}


class AccountQuery(PageQuery):
    """What orders the list of service accounts."""

    sort: Annotated[str, sorts(list(_SORTS))] = "name"


@router.post(
    "/{key}/service-accounts",
    summary="Make a service account, to own tokens of pipelines",
    status_code=201,
    response_model=ServiceAccount,
    responses=problem_responses(*_REFUSALS, "409 name_taken", "409 project_archived"),
)
async def create_service_account(
    key: ProjectKey, body: NewServiceAccount, request: Request, database: Db, passwords: PasswordPort, viewer: Viewer
) -> Response:
    """It is a member of this project alone, nobody can log in as it, and it stays when people leave."""
    password_hash = await passwords.hash(secrets.token_urlsafe(32))

    async def create(connection: Connection) -> Response:
        account = await service.create(connection, key, body, password_hash, viewer)
        return created(request, account, f"{PATH}/{key}/service-accounts")

    return await answer_once(request, database, viewer, create)


@router.get(
    "/{key}/service-accounts",
    summary="List the service accounts of a project",
    response_model=Page[ServiceAccount],
    responses=problem_responses(*_REFUSALS),
    openapi_extra=documented(AccountQuery),
)
async def list_service_accounts(key: ProjectKey, request: Request, database: Db, viewer: Viewer) -> Response:
    """By name."""
    query = read_query(request, AccountQuery)
    sort = parse_sort(query.sort, list(_SORTS))
    wanted = query.page(request, sort.order(_SORTS, By("a.id", int, sort.descending)), key)
    return page(request, wanted, await service.find_page(database, key, viewer, wanted))


@router.delete(
    "/{key}/service-accounts/{user_id}",
    summary="Delete a service account with its tokens",
    status_code=204,
    response_class=Response,
    responses=problem_responses(*_REFUSALS, _NO_ACCOUNT, "409 project_archived"),
)
async def delete_service_account(key: ProjectKey, user_id: UserId, database: Db, viewer: Viewer) -> Response:
    """Its tokens stop working within 2 seconds; what it did keeps its author."""
    await service.delete(database, key, user_id, viewer)
    return Response(status_code=204)


@router.post(
    "/{key}/service-accounts/{user_id}/tokens",
    operation_id="create_token_of_service_account",
    summary="Make an API token of a service account",
    status_code=201,
    response_model=MadeApiToken,
    responses=problem_responses(*_REFUSALS, _NO_ACCOUNT, "409 too_many_tokens", "409 project_archived"),
)
async def create_token_of_service_account(
    key: ProjectKey, user_id: UserId, body: NewApiToken, request: Request, database: Db, viewer: Viewer
) -> Response:
    """It is for this project alone, whatever `projects` says, and is shown this once."""
    token = api_tokens.new()
    made: dict[str, Any] = {}
    where = f"{PATH}/{key}/service-accounts/{user_id}/tokens"

    async def create(connection: Connection) -> Response:
        shown = await service.create_token(connection, key, user_id, token, body, viewer)
        made.update(shown)
        return created(request, {**shown, "token": None}, where)

    response = await answer_once(request, database, viewer, create)
    if made:
        response = answer({**made, "token": token}, 201, {"Location": where})
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get(
    "/{key}/service-accounts/{user_id}/tokens",
    operation_id="list_tokens_of_service_account",
    summary="List the API tokens of a service account",
    response_model=Page[ApiToken],
    responses=problem_responses(*_REFUSALS, _NO_ACCOUNT),
    openapi_extra=documented(TokenQuery),
)
async def list_tokens_of_service_account(
    key: ProjectKey, user_id: UserId, request: Request, database: Db, viewer: Viewer
) -> Response:
    """The newest first; the secret of none is known."""
    wanted = read_query(request, TokenQuery).wanted(request)
    return page(request, wanted, await service.find_tokens(database, key, user_id, viewer, wanted))


@router.delete(
    "/{key}/service-accounts/{user_id}/tokens/{token_id}",
    operation_id="revoke_token_of_service_account",
    summary="Revoke an API token of a service account",
    status_code=204,
    response_class=Response,
    responses=problem_responses(*_REFUSALS, _NO_ACCOUNT, "404 token_not_found"),
)
async def revoke_token_of_service_account(
    key: ProjectKey, user_id: UserId, token_id: TokenId, database: Db, viewer: Viewer
) -> Response:
    """It stops working within 2 seconds, for good."""
    await service.revoke_token(database, key, user_id, token_id, viewer)
    return Response(status_code=204)

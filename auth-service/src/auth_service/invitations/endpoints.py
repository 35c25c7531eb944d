"""The HTTP door to invitations."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from auth_service import one_time_links
from auth_service.addresses import client_address
from auth_service.invitations import service
from auth_service.invitations.schemas import Acceptance, Invitation, MadeInvitation, NewInvitation
from auth_service.sessions.service import password_login_off
from auth_service.throttle import hourly
from auth_service.users.passwords import PasswordPort
from auth_service.users.schemas import User
from chassis.db.database import Connection, Db
from chassis.web.callers import Admin
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By
from chassis.web.listing import Page, PageQuery, documented, page, read_query
from chassis.web.parameters import parse_sort, sorts
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, created
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_NO_STORE = {"Cache-Control": "no-store"}
_SORTS = {"created_at": By("created_at", datetime), "expires_at": By("expires_at", datetime)}
_TRIES_PER_HOUR = 30

InvitationId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.post(
    "/users/invitations",
    tags=["Users"],
    summary="Invite somebody to make an account",
    status_code=201,
    response_model=MadeInvitation,
    responses=problem_responses("404 project_not_found", "409 email_taken", "409 project_archived"),
)
async def invite_user(body: NewInvitation, request: Request, database: Db, admin: Admin) -> Response:
    """The link works once, for 7 days, and makes an account with this email and a password that you do not know."""
    token = one_time_links.new()
    made: dict[str, Any] = {}

    async def create(connection: Connection) -> Response:
        row = await service.invite(connection, admin, token, email=body.email, role=body.role, project=body.project)
        made.update(row)
        # What is kept for a repetition has no secret in it.
        return created(request, {**row, "link": ""}, _location(row))

    response = await answer_once(request, database, admin, create)
    if made:
        link = one_time_links.address(request.app.state.public_url, service.PAGE, token)
        response = answer({**made, "link": link}, 201, {"Location": _location(made)})
    response.headers.update(_NO_STORE)
    return response


class InvitationQuery(PageQuery):
    """What orders the list of invitations."""

    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"


@router.get(
    "/users/invitations",
    tags=["Users"],
    summary="List invitations, newest first",
    response_model=Page[Invitation],
    openapi_extra=documented(InvitationQuery),
)
async def list_invitations(request: Request, database: Db, _: Admin) -> Response:
    """Those that were accepted or revoked are not in it; those that expired are, for 30 days. No link is known."""
    query = read_query(request, InvitationQuery)
    sort = parse_sort(query.sort, list(_SORTS))
    wanted = query.page(request, sort.order(_SORTS, By("id", int, sort.descending)))
    return page(request, wanted, await service.find_page(database, wanted))


@router.delete(
    "/users/invitations/{invitation_id}",
    tags=["Users"],
    summary="Revoke an invitation",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 invitation_not_found"),
)
async def revoke_invitation(invitation_id: InvitationId, database: Db, admin: Admin) -> Response:
    """Its link works no more, at once."""
    await service.revoke(database, admin, invitation_id)
    return Response(status_code=204)


@router.post(
    "/auth/accept-invitation",
    tags=["Authentication"],
    summary="Make your account, by the link of an invitation",
    status_code=201,
    response_model=User,
    responses=problem_responses("403 password_login_off", "409 email_taken", "410 link_invalid", 429),
)
async def accept_invitation(body: Acceptance, request: Request, database: Db, passwords: PasswordPort) -> Response:
    """The email is that of the invitation, and the role, too. Then log in."""
    if not request.app.state.passwords_work:
        raise password_login_off()
    await hourly.take(database, "accept-invitation", client_address(request), _TRIES_PER_HOUR)
    user = await service.accept(
        database, passwords, body.token.get_secret_value(), body.password.get_secret_value(), body.full_name
    )
    return created(request, user, f"/api/v1/users/{user['id']}")


def _location(row: dict[str, Any]) -> str:
    return f"/api/v1/users/invitations/{row['id']}"

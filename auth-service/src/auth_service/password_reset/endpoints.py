"""The HTTP door to forgotten passwords."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from auth_service import one_time_links
from auth_service.addresses import client_address
from auth_service.password_reset import service
from auth_service.password_reset.schemas import NewPassword, ResetLink
from auth_service.throttle import hourly
from auth_service.users.passwords import PasswordPort
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_TRIES_PER_HOUR = 30

UserId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.post(
    "/users/{user_id}/password-reset",
    tags=["Users"],
    summary="Make a link by which a user chooses a new password",
    response_model=ResetLink,
    responses=problem_responses("404 user_not_found", "409 account_inactive"),
)
async def offer_password_reset(user_id: UserId, request: Request, database: Db, admin: Admin) -> Response:
    """It works once, for an hour; give it to nobody else. Until it is used, the old password works on."""
    async with database.transaction() as connection:
        token, expires_at = await service.offer(connection, user_id, actor_of(admin))
    link = one_time_links.address(request.app.state.public_url, service.PAGE, token)
    return answer({"link": link, "expires_at": expires_at}, headers={"Cache-Control": "no-store"})


@router.post(
    "/auth/reset-password",
    tags=["Authentication"],
    summary="Choose a new password by a link",
    status_code=204,
    response_class=Response,
    responses=problem_responses("410 link_invalid", 429),
)
async def reset_password(body: NewPassword, request: Request, database: Db, passwords: PasswordPort) -> Response:
    """All sessions and API tokens of the account end."""
    await hourly.take(database, "reset-password", client_address(request), _TRIES_PER_HOUR)
    await service.use(database, passwords, body.token.get_secret_value(), body.new_password.get_secret_value())
    return Response(status_code=204)

"""The HTTP door to the end of an account: deactivated, or erased."""

from secrets import token_urlsafe
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from auth_service.erasing import service
from auth_service.users import service as users
from auth_service.users.endpoints import UserId
from auth_service.users.passwords import PasswordPort
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import check_precondition
from chassis.web.strict_route import StrictRoute
from contracts import api_tokens

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

Erase = Annotated[bool, Query(description="Overwrite the address and the name, everywhere and for good.")]


@router.delete(
    "/users/{user_id}",
    tags=["Users"],
    summary="Deactivate a user, or erase a person",
    status_code=204,
    response_class=Response,
    responses=problem_responses(
        *("403 role_too_low", "403 session_needed", "404 user_not_found", "409 last_admin", "409 service_account", 412)
    ),
)
async def deactivate_user(
    user_id: UserId,
    request: Request,
    database: Db,
    passwords: PasswordPort,
    admin: Admin,
    *,
    erase: Erase = False,
) -> Response:
    """The user stays, inactive, so that what they did keeps its author; of one who is erased nothing says who it was.

    What an erased person did stays as it is, by `erased-<id>@erased.invalid`, in all records, feeds and the audit log.
    That takes a minute, and cannot be taken back: no API token does it.
    """
    actor = actor_of(admin)

    def check(before: dict[str, Any]) -> None:
        check_precondition(request, before)

    if erase:
        api_tokens.check_is_none(admin)
        password_hash = await passwords.hash(token_urlsafe())
        await service.erase(database, user_id, actor=actor, password_hash=password_hash, check_precondition=check)
    else:
        await users.change(database, user_id, {"is_active": False}, actor=actor, check_precondition=check)
    return Response(status_code=204)

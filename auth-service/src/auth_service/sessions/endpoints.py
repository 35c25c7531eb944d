"""The HTTP door to logging in and out, and what the gateway reads at its start."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from auth_service.addresses import client_address, client_agent
from auth_service.sessions import service
from auth_service.sessions.schemas import AccessToken, PasswordChange
from auth_service.users import strength
from auth_service.users.passwords import PasswordPort
from chassis.db.database import Db
from chassis.web.callers import ServiceCaller, Viewer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Authentication"])
internal_router = APIRouter(prefix="/internal", route_class=StrictRoute, include_in_schema=False)


@router.post(
    "/auth/login",
    operation_id="log_in",
    summary="Log in",
    response_model=AccessToken,
    responses=problem_responses(
        *("401 invalid_credentials", "401 second_factor_required", "401 second_factor_invalid"),
        *("401 second_factor_used", "403 account_inactive", "403 password_login_off", 429),
    ),
)
async def log_in(
    request: Request,
    _: PasswordPort,
    username: Annotated[str, Form(max_length=254, description="The email.", examples=["kim@example.com"])],
    password: Annotated[
        str, Form(max_length=128, examples=["correct horse battery"], json_schema_extra={"format": "password"})
    ],
    otp: Annotated[
        str | None,
        Form(
            max_length=64, description="The code of the phone, or a recovery code, of an account with a second factor."
        ),
    ] = None,
) -> Response:
    """After 10 failures for an account, or 50 for an address, within 15 minutes: 429 with `Retry-After`."""
    login: service.Login = request.app.state.login
    return _token(login, await login(username, password, otp, client_address(request), client_agent(request)))


@router.post(
    "/auth/renew",
    operation_id="renew_token",
    summary="Exchange your token for one that lives longer",
    response_model=AccessToken,
    responses=problem_responses(401, "401 login_too_old"),
)
async def renew_token(request: Request, viewer: Viewer) -> Response:
    """Possible until 12 hours after the log-in. The token that you came with works on until its own end."""
    login: service.Login = request.app.state.login
    return _token(login, await login.renew(viewer, client_address(request), client_agent(request)))


@router.post(
    "/auth/change-password",
    summary="Change your password; tokens issued earlier stop working",
    status_code=204,
    response_class=Response,
    responses=problem_responses(401, "401 invalid_credentials", 429),
)
async def change_password(
    body: PasswordChange, request: Request, database: Db, passwords: PasswordPort, viewer: Viewer
) -> Response:
    """A wrong present password counts as a failed log-in."""
    strength.check(body.new_password.get_secret_value(), [viewer.email], "/new_password")
    await service.change_password(
        database,
        passwords,
        viewer,
        client_address(request),
        body.current_password.get_secret_value(),
        body.new_password.get_secret_value(),
    )
    return Response(status_code=204)


@router.post("/auth/logout", summary="Log out; this token stops working", status_code=204, response_class=Response)
async def log_out(database: Db, viewer: Viewer) -> Response:
    """So do those that it was renewed from or by. Other log-ins go on: see `DELETE /auth/sessions`."""
    await service.log_out(database, viewer)
    return Response(status_code=204)


@internal_router.get("/access-changes")
async def access_changes(database: Db, _: ServiceCaller) -> Response:
    """Answer what restricts tokens that were issued already, API tokens, and the head of the feed as of before.

    Whoever reads the feed after `head` misses nothing: a change is in the answer, in the feed, or in both.
    """
    return answer(await service.access_changes(database))


def _token(login: service.Login, token: str) -> Response:
    body = {"access_token": token, "token_type": "bearer", "expires_in": int(login.token_lifetime.total_seconds())}
    return answer(body, headers={"Cache-Control": "no-store"})

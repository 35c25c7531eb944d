"""The HTTP door to sessions. They are for the web page: programs log in at /api/v1/auth/login."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from chassis.core.problems import Problem, Unauthenticated
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from gateway.auth.credentials import Credentials
from gateway.auth.verifier import TokenVerifier
from gateway.session.auth_service import AuthService
from gateway.session.schemas import CurrentSession, DemoAccount, Session, SignIn

TAG = "Session"
PATH = "/session"
_CROSS_SITE = "403 cross_site_request"
_NO_STORE = {"Cache-Control": "no-store"}
_SETS_COOKIE = {"Set-Cookie": {"schema": {"type": "string"}}}

router = APIRouter(route_class=StrictRoute, tags=[TAG])


@dataclass(frozen=True, slots=True)
class Sessions:
    """What the routes need; `demo` is the account that a demo offers."""

    auth: AuthService
    credentials: Credentials
    verifier: TokenVerifier
    demo: DemoAccount | None

    def token(self, request: Request) -> str | None:
        """Return the token of the session that a request belongs to."""
        return self.credentials.of_session(request.scope, _sent(request))

    def keep(self, request: Request, token: str, max_age: int) -> str:
        """Return the Set-Cookie header of a session; `max_age` 0 ends it."""
        return self.credentials.keep(request.scope, _sent(request), token, max_age)

    async def shown(self, request: Request, token: str) -> tuple[dict[str, Any], int]:
        """Return the session of a token as it is answered, and the seconds that are left of it."""
        user = await self.auth.user(request, token)
        expires_at = (await self.verifier.identify(token)).token_expires_at
        left = max(1, round(expires_at - time.time()))
        return {"user": user, "expires_at": datetime.fromtimestamp(expires_at, UTC)}, left


@router.post(
    PATH,
    summary="Sign in to the page",
    response_model=Session,
    responses={
        **problem_responses(
            *("401 invalid_credentials", "401 second_factor_required", "401 second_factor_invalid"),
            *("401 second_factor_used", "403 account_inactive", _CROSS_SITE, 429),
        ),
        200: {"headers": _SETS_COOKIE},
    },
    openapi_extra={"security": []},
)
async def sign_in(body: SignIn, request: Request) -> Response:
    """The token stands in a cookie that no script can read, sent by Traceline's own page alone.

    A session that this browser has already ends.

    As at `/api/v1/auth/login`, 10 failures for an account, or 50 for an address, within 15 minutes: 429.
    """
    sessions = _sessions(request)
    otp = None if body.otp is None else body.otp.get_secret_value()
    earlier = sessions.token(request)
    token = await sessions.auth.log_in(request, body.email, body.password.get_secret_value(), otp)
    if earlier is not None:
        with suppress(Problem):  # it has ended, or ends by itself: no reason to let nobody in
            await sessions.auth.log_out(request, earlier)
    return await _begun(request, token)


@router.get(
    PATH,
    summary="Read who is signed in to the page",
    response_model=CurrentSession,
    response_model_exclude_unset=True,
    responses=problem_responses(_CROSS_SITE),
    openapi_extra={"security": []},
)
async def get_session(request: Request) -> Response:
    """Nobody is no error: `user` is null then."""
    sessions = _sessions(request)
    token = sessions.token(request)
    shown: dict[str, Any] = {"user": None}
    if token is not None:
        with suppress(Unauthenticated):  # it has ended since
            shown, _ = await sessions.shown(request, token)
    if sessions.demo is not None:
        shown["demo"] = sessions.demo.model_dump()
    return answer(shown, headers=_NO_STORE)


@router.post(
    f"{PATH}/renew",
    summary="Go on with a session",
    response_model=Session,
    responses={**problem_responses(401, "401 login_too_old", _CROSS_SITE), 200: {"headers": _SETS_COOKIE}},
    openapi_extra={"security": [{"session": []}]},
)
async def renew_session(request: Request) -> Response:
    """A new token takes the place of the one in the cookie, at most 12 hours after the log-in."""
    sessions = _sessions(request)
    token = sessions.token(request)
    if token is None:
        raise Unauthenticated("There is no session to go on with; sign in.")
    return await _begun(request, await sessions.auth.renew(request, token))


@router.delete(
    PATH,
    summary="Sign out of the page",
    status_code=204,
    response_class=Response,
    responses={**problem_responses(_CROSS_SITE), 204: {"headers": {**_SETS_COOKIE, "Clear-Site-Data": {}}}},
    openapi_extra={"security": []},
)
async def sign_out(request: Request) -> Response:
    """The token works no more, and the browser forgets what it kept of Traceline. Nobody is no error."""
    sessions = _sessions(request)
    token = sessions.token(request)
    if token is not None:
        with suppress(Unauthenticated):  # it had ended before
            await sessions.auth.log_out(request, token)
    ended = {"Set-Cookie": sessions.keep(request, "", 0), "Clear-Site-Data": '"cache", "storage"'}
    return Response(status_code=204, headers={**_NO_STORE, **ended})


async def _begun(request: Request, token: str) -> Response:
    sessions = _sessions(request)
    shown, left = await sessions.shown(request, token)
    return answer(shown, headers={**_NO_STORE, "Set-Cookie": sessions.keep(request, token, left)})


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


def _sent(request: Request) -> Mapping[bytes, bytes]:
    return dict(request.scope["headers"])

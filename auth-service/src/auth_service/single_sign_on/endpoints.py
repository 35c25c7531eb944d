"""The HTTP door to single sign-on. Browsers come through the gateway, which keeps the cookies."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from auth_service.addresses import client_address, client_agent
from auth_service.single_sign_on.repository import Wish
from auth_service.single_sign_on.service import Answered, SingleSignOn
from chassis.core.problems import NotFound
from chassis.web.callers import is_from_gateway
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute
from contracts.sign_on import BROWSER_HEADER, EARLIER_HEADER, TOKEN_HEADER

router = APIRouter(prefix="/api/v1", tags=["Authentication"])
strict_router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Authentication"])

_NO_STORE = {"Cache-Control": "no-store"}
_NOT_SET_UP = "404 single_sign_on_off"
_AWAY = ("503 provider_unavailable", "503 provider_unusable")


@strict_router.get(
    "/auth/oidc/login",
    summary="Sign in at the identity provider",
    status_code=303,
    response_class=Response,
    responses=problem_responses(_NOT_SET_UP, *_AWAY, 429),
    openapi_extra={"security": []},
)
async def begin_single_sign_on(
    request: Request,
    return_to: Annotated[
        str, Query(max_length=2000, description="The path of the page that it leads to.", examples=["/p/MAIN"])
    ] = "/",
) -> Response:
    """Open it in a browser, which is sent on. The answer comes to `/api/v1/auth/oidc/callback`.

    A session that this browser has ends when the next one begins.
    """
    earlier = request.headers.get(EARLIER_HEADER) if is_from_gateway(request) else None
    address = await _single_sign_on(request).begin(request.headers.get(BROWSER_HEADER, ""), Wish(return_to, earlier))
    return Response(status_code=303, headers={**_NO_STORE, "Location": address})


@router.get(
    "/auth/oidc/callback",
    summary="Come back from the identity provider",
    status_code=303,
    response_class=Response,
    responses=problem_responses(
        *("401 sign_in_not_begun", "401 issuer_wrong", "401 code_refused", "401 id_token_invalid"),
        *("403 sign_in_refused", "403 not_in_group", "403 email_missing", "403 account_inactive"),
        *("409 email_not_verified", "409 account_linked"),
        *(_NOT_SET_UP, *_AWAY, 429),
    ),
    openapi_extra={"security": []},
)
async def end_single_sign_on(
    request: Request,
    code: Annotated[str, Query(max_length=4096, description="What the provider gives for a sign-in.")] = "",
    state: Annotated[str, Query(max_length=200, description="Of the sign-in that was begun.")] = "",
    iss: Annotated[str, Query(max_length=2000, description="Which provider answers (RFC 9207).")] = "",
    error: Annotated[str, Query(max_length=200, description="Why it does not sign in.")] = "",
) -> Response:
    """Leads to the page, signed in. What else a provider puts into the query is passed over."""
    token, return_to = await _single_sign_on(request).complete(
        Answered(code, state, iss, error),
        request.headers.get(BROWSER_HEADER, ""),
        client_address(request),
        client_agent(request),
    )
    return Response(status_code=303, headers={**_NO_STORE, "Location": return_to, TOKEN_HEADER: token})


@strict_router.post(
    "/auth/oidc/backchannel-logout",
    summary="End the sessions that the identity provider has ended",
    status_code=200,
    response_class=Response,
    responses=problem_responses("400 logout_token_invalid", "400 logout_token_used", _NOT_SET_UP, *_AWAY, 429),
    openapi_extra={"security": []},
)
async def log_out_by_provider(
    request: Request, logout_token: Annotated[str, Form(max_length=16384, description="Signed by the provider.")]
) -> Response:
    """For the identity provider (OpenID Connect Back-Channel Logout 1.0)."""
    await _single_sign_on(request).log_out(logout_token)
    return Response(status_code=200, headers=_NO_STORE)


def _single_sign_on(request: Request) -> SingleSignOn:
    found: SingleSignOn | None = request.app.state.single_sign_on
    if found is None:
        raise NotFound(
            "There is no single sign-on here; sign in with your email and password, or ask whoever runs Traceline to"
            " set OIDC_ISSUER.",
            code="single_sign_on_off",
        )
    return found

"""What sessions ask of auth-service: through the proxy, with the person's address, by which its throttle counts."""

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from chassis.core.problems import Forbidden, Problem, TooManyRequests, Unauthenticated, Unavailable
from gateway.routing.own_requests import Answered, OwnRequest, send_own
from gateway.routing.proxy import Proxy

_AUTH = "/api/v1/auth"
_FORM = b"application/x-www-form-urlencoded"


class AuthService:
    """auth-service, as a person calls it who sent a request to the gateway."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def log_in(self, request: Request, email: str, password: str, otp: str | None) -> str:
        """Return a new token; raise what the log-in is refused with."""
        form = {"username": email, "password": password, **({} if otp is None else {"otp": otp})}
        token: str = (await self._call(request, "POST", "/login", form=urlencode(form).encode()))["access_token"]
        return token

    async def renew(self, request: Request, token: str) -> str:
        """Return a new token for one that still works."""
        renewed: str = (await self._call(request, "POST", "/renew", token))["access_token"]
        return renewed

    async def user(self, request: Request, token: str) -> dict[str, Any]:
        """Return the user of a token, as stored now; raise Unauthenticated when it works no more."""
        return await self._call(request, "GET", "/me", token)

    async def log_out(self, request: Request, token: str) -> None:
        """End a token."""
        await self._call(request, "POST", "/logout", token)

    async def _call(
        self, request: Request, method: str, path: str, token: str | None = None, form: bytes = b""
    ) -> dict[str, Any]:
        path = _AUTH + path
        agent = request.headers.get("user-agent")
        asked = OwnRequest(
            method,
            path,
            path.encode(),
            token=token,
            agent=None if agent is None else agent.encode("latin-1"),
            content_type=_FORM,
            body=form,
        )
        answered = await send_own(self._proxy, asked, request.scope, request.receive)
        document = answered.document()
        if not answered.is_success:
            raise _problem(answered, document)
        return document


def _problem(answered: Answered, document: dict[str, Any]) -> Problem:
    detail, code = document.get("detail", ""), document.get("code")
    if answered.status == 401:
        return Unauthenticated(detail, code=code)
    if answered.status == 403:
        return Forbidden(detail, code=code)
    if answered.status == 429:
        return TooManyRequests(detail, retry_after=int(answered.headers.get(b"retry-after", b"1")), code=code)
    return Unavailable("auth-service cannot work right now; try again.")

"""What sessions ask of auth-service: through the proxy, with the person's address, by which its throttle counts."""

from typing import Any
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.types import Message, Scope

from chassis.core.problems import Forbidden, Problem, TooManyRequests, Unauthenticated, Unavailable
from gateway.routing.headers import Incoming
from gateway.routing.proxy import Proxy

_AUTH = "/api/v1/auth"
_FORM = [(b"content-type", b"application/x-www-form-urlencoded")]


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
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [],
            "client": request.scope.get("client"),
        }
        sent = {} if token is None else {b"authorization": b"Bearer " + token.encode("latin-1")}
        forwarded = _FORM[:] if form else []
        agent = request.headers.get("user-agent")
        if agent is not None:
            sent[b"user-agent"] = agent.encode("latin-1")
            forwarded.append((b"user-agent", sent[b"user-agent"]))
        answer = _Answer(request, form)
        await self._proxy.forward(scope, Incoming(forwarded, sent, len(form)), answer.receive, answer.send)
        return answer.read()


class _Answer:
    """Sends a request its body, and keeps the answer."""

    def __init__(self, request: Request, body: bytes) -> None:
        self._receive = request.receive
        self._unsent: bytes | None = body
        self._status = 0
        self._headers: dict[bytes, bytes] = {}
        self._body = b""

    async def receive(self) -> Message:
        if self._unsent is None:
            return await self._receive()  # until the person goes away
        body, self._unsent = self._unsent, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = dict(message["headers"])
        else:
            self._body += message.get("body", b"")

    def read(self) -> dict[str, Any]:
        """Return the document that was answered, none for 204; raise the problem that it is."""
        document: dict[str, Any] = orjson.loads(self._body) if self._body else {}
        if 200 <= self._status < 300:
            return document
        raise self._problem(document)

    def _problem(self, document: dict[str, Any]) -> Problem:
        detail, code = document.get("detail", ""), document.get("code")
        if self._status == 401:
            return Unauthenticated(detail, code=code)
        if self._status == 403:
            return Forbidden(detail, code=code)
        if self._status == 429:
            return TooManyRequests(detail, retry_after=int(self._headers.get(b"retry-after", b"1")), code=code)
        return Unavailable("auth-service cannot work right now; try again.")

"""Single sign-on as browsers see it: auth-service knows the identity provider, the gateway keeps the two cookies.

The first, until the provider has answered, says which browser began a sign-in. The second is that of every session: it
is sent by the own page alone, which the browser is led to without it and which then asks for the session.
"""

import html
import re
import secrets
import time
from contextlib import suppress

import orjson
from starlette.types import Receive, Scope, Send

from chassis.core.problems import Problem
from chassis.web.rendering import render
from contracts.sign_on import BROWSER_HEADER, CALLBACK, EARLIER_HEADER, LOGIN, TOKEN_HEADER
from gateway.auth.credentials import Credentials
from gateway.auth.verifier import TokenVerifier
from gateway.routing.headers import Incoming
from gateway.routing.own_requests import WholeAnswer
from gateway.routing.proxy import Proxy

PATHS = frozenset({LOGIN, CALLBACK})

_BROWSER = BROWSER_HEADER.encode()
_EARLIER = EARLIER_HEADER.encode()
_TOKEN = TOKEN_HEADER.encode()
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_KEPT_FOR = 600
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Not signed in: Traceline</title></head>
<body><h1>You are not signed in</h1><p>{detail}</p><p><a href="/sign-in">Back to signing in</a></p>
<p><small>{code}, {request_id}</small></p></body></html>
"""


class SingleSignOn:
    """Answers the addresses of PATHS."""

    def __init__(self, proxy: Proxy, credentials: Credentials, verifier: TokenVerifier) -> None:
        self._proxy = proxy
        self._credentials = credentials
        self._verifier = verifier

    async def answer(self, scope: Scope, incoming: Incoming, receive: Receive, send: Send) -> None:
        """Answer a request of a browser; a problem is a page where the browser wants one."""
        begins = scope["path"] == LOGIN
        browser = self._credentials.browser(scope, incoming.sent)
        if browser is None or not _SECRET.fullmatch(browser):
            browser = secrets.token_urlsafe(32) if begins else ""
        incoming.forwarded.append((_BROWSER, browser.encode()))
        earlier = await self._earlier_session(scope, incoming) if begins else None
        if earlier is not None:
            incoming.forwarded.append((_EARLIER, earlier.encode()))
        wants_page = b"text/html" in incoming.sent.get(b"accept", b"")
        answered = _Answer()
        try:
            await self._proxy.forward(scope, incoming, receive, answered.send)
        except Problem as problem:
            if not wants_page:
                raise
            rendered = render(problem, scope)
            answered = _Answer(rendered.status_code, dict(rendered.raw_headers), bytes(rendered.body))
        token = answered.headers.pop(_TOKEN, None)
        if answered.status >= 400:
            if wants_page:
                answered.become_page()
        elif token is not None:
            answered.headers[b"set-cookie"] = (await self._become_session(scope, incoming, token.decode())).encode()
        elif begins:
            cookie = self._credentials.keep_browser(scope, incoming.sent, browser, _KEPT_FOR)
            answered.headers[b"set-cookie"] = cookie.encode()
        await answered.pass_on(send)

    async def _earlier_session(self, scope: Scope, incoming: Incoming) -> str | None:
        """Return the id of the session that the browser has; None when it has none that works."""
        token = self._credentials.of_session(scope, incoming.sent)
        if token is not None:
            with suppress(Problem):
                return (await self._verifier.identify(token)).session_id
        return None

    async def _become_session(self, scope: Scope, incoming: Incoming, token: str) -> str:
        """Return the header that makes a session of a token; memberships that came with it count from now on."""
        await self._verifier.learn()
        expires_at = (await self._verifier.identify(token)).token_expires_at
        return self._credentials.keep(scope, incoming.sent, token, max(1, round(expires_at - time.time())))


class _Answer(WholeAnswer):
    """The whole answer of auth-service; to be changed before it is passed on."""

    def become_page(self) -> None:
        """Show the problem document that it is to a person."""
        body = orjson.loads(self.body)
        shown = {name: html.escape(str(body.get(name, ""))) for name in ("detail", "code", "request_id")}
        self.body = _PAGE.format_map(shown).encode()
        self.headers |= {b"content-type": b"text/html; charset=utf-8", b"cache-control": b"no-store"}

    async def pass_on(self, send: Send) -> None:
        """Send it."""
        self.headers[b"content-length"] = str(len(self.body)).encode()
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers.items())})
        await send({"type": "http.response.body", "body": self.body})

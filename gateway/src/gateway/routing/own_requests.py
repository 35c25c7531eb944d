"""Requests that the gateway itself makes for somebody who sent it one: the same way as all others, with their token.

So scopes, projects, limits and the audit log hold for them without a word about it.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson
from starlette.types import Message, Receive, Scope

from gateway.routing.headers import Incoming
from gateway.routing.proxy import Proxy

_VERSION = "1.1"


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """A request to an address of the API: `raw_path` and `query` as they stand in an address, `token` of whom it is."""

    method: str
    path: str
    raw_path: bytes
    query: bytes = b""
    token: str | None = None
    agent: bytes | None = None
    content_type: bytes = b""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the request was not refused."""
        return 200 <= self.status < 300

    def document(self) -> dict[str, Any]:
        """Return the JSON of the answer; none for an empty one."""
        document: dict[str, Any] = orjson.loads(self.body) if self.body else {}
        return document


async def send_own(proxy: Proxy, asked: OwnRequest, came: Scope, receive: Receive | None = None) -> Answered:
    """Send a request on behalf of whoever sent `came`; `receive` tells when they go away, None: nobody looks.

    Raises the Problem that it meets before a service answers.
    """
    scope: Scope = {
        "type": "http",
        "http_version": _VERSION,
        "method": asked.method,
        "path": asked.path,
        "raw_path": asked.raw_path,
        "query_string": asked.query,
        "headers": [],
        "client": came.get("client"),
    }
    sent = {} if asked.token is None else {b"authorization": b"Bearer " + asked.token.encode("latin-1")}
    forwarded = [(b"content-type", asked.content_type)] if asked.body else []
    if asked.agent is not None:
        sent[b"user-agent"] = asked.agent
        forwarded.append((b"user-agent", asked.agent))
    exchange = _Exchange(asked.body, receive or _wait_for_ever)
    await proxy.forward(scope, Incoming(forwarded, sent, len(asked.body)), exchange.receive, exchange.send)
    return Answered(exchange.status, exchange.headers, exchange.body)


async def _wait_for_ever() -> NoReturn:
    while True:
        await asyncio.Event().wait()


class WholeAnswer:
    """A whole answer, which is short."""

    def __init__(self, status: int = 0, headers: dict[bytes, bytes] | None = None, body: bytes = b"") -> None:
        self.status = status
        self.headers = headers or {}
        self.body = body

    async def send(self, message: Message) -> None:
        """Take a part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
        else:
            self.body += message.get("body", b"")


class _Exchange(WholeAnswer):
    """Sends a request its body, and takes the answer."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        super().__init__()
        self._receive = receive
        self._unsent: bytes | None = body

    async def receive(self) -> Message:
        if self._unsent is None:
            return await self._receive()
        body, self._unsent = self._unsent, None
        return {"type": "http.request", "body": body, "more_body": False}

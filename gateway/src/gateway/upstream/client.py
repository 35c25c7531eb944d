"""A service in another process, as an ASGI app: requests and answers pass through byte for byte."""

import asyncio
import logging
import socket
import ssl
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send

from chassis.core.problems import MalformedBody, Unavailable
from chassis.core.start_failure import StartFailure
from chassis.server.http_server import DRAIN
from chassis.web.patience import Patience
from gateway.upstream.caller import Caller, chunk
from gateway.upstream.connection import Broken, Connection

_log = logging.getLogger(__name__)
_PORTS = {"http": 80, "https": 443}
_CONNECT_TIMEOUT = 2
_MAX_IDLE = DRAIN / 2
"""Seconds after which a connection is not used again: a service that ends closes it after DRAIN, perhaps in this very
moment. Once that has begun, an answer says so."""
_WHOLE = 64 * 1024
"""Bytes of a body that are taken in whole before the service is asked; a longer one is streamed."""
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class _Request(NamedTuple):
    """What is sent: `data` from the first line on, the whole request or up to the first chunk of its body."""

    method: str
    data: bytes
    is_whole: bool


class Upstream:
    """Sends requests to the service at one address, over connections that it keeps.

    Used as `async with`, or with `aclose` at the end. An answer that is cut in the middle raises after it has
    begun, so that the server cuts the caller's, too.
    """

    def __init__(self, name: str, url: str, believes: ssl.SSLContext | None = None, *, patience: float = 0) -> None:
        """`name` is what callers read when the service is away; `url` is http(s)://host or http(s)://host:port.

        `believes` says by whom a service of https is known, the authorities of the system when None. One that does not
        listen is waited for, as it may restart: for `patience` seconds each time that it goes.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/") or parts.query:
            raise StartFailure(f"The address of {name} must be like http(s)://host:port, without a path.")
        self._name = name
        self._host = parts.hostname
        self._port = parts.port or _PORTS[parts.scheme]
        self._tls = (believes or ssl.create_default_context()) if parts.scheme == "https" else None
        self._host_header = parts.netloc.rpartition("@")[2].encode()
        self._idle: list[Connection] = []
        self._patience = Patience(patience)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the idle connections."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raise Unavailable when the service does not.

        When an idle connection turns out to have ended, a request that changes nothing is sent once more; any other
        may have been processed.
        """
        message = await receive()
        body: bytes = message.get("body", b"")
        while message.get("more_body", False) and len(body) <= _WHOLE:
            message = await receive()
            body += message.get("body", b"")
        if message["type"] == "http.disconnect":
            return
        request = self._request(scope, body, is_whole=not message.get("more_body", False))

        connection = self._take_idle()
        if connection is not None:
            try:
                await self._exchange(connection, request, receive, send)
            except Broken as error:
                if connection.status:
                    raise
                if request.method not in _REPEATABLE or not request.is_whole:
                    raise self._unavailable(error) from None
            else:
                return
        connection = await self._connect()
        try:
            await self._exchange(connection, request, receive, send)
        except Broken as error:
            if connection.status:
                raise
            raise self._unavailable(error) from None

    async def _exchange(self, connection: Connection, request: _Request, receive: Receive, send: Send) -> None:
        """Send the request and pass the answer on; raise Broken."""
        caller = Caller(receive, connection)
        try:
            connection.begin(request.method)
            connection.write(request.data, is_last=request.is_whole)
            if not request.is_whole:
                await caller.pass_on_body()
            caller.watch()
            await connection.answer()
            await send({"type": "http.response.start", "status": connection.status, "headers": connection.headers})
            more = True
            while more:
                part = await connection.read()
                more = not connection.is_over
                await send({"type": "http.response.body", "body": part, "more_body": more})
        except Broken:
            if not caller.is_gone:
                raise
        finally:
            caller.let_go()
            if connection.release():
                self._idle.append(connection)

    def _request(self, scope: Scope, body: bytes, *, is_whole: bool) -> _Request:
        method = scope["method"]
        target = scope["raw_path"]
        if scope["query_string"]:
            target += b"?" + scope["query_string"]
        lines = [b"%b %b HTTP/1.1" % (method.encode(), target), b"host: " + self._host_header]
        lines += [b"%b: %b" % header for header in scope["headers"] if header[0] != b"content-length"]
        if not is_whole:
            lines.append(b"transfer-encoding: chunked")
        elif body or method in _WITH_BODY:
            lines.append(b"content-length: %d" % len(body))
        head = b"\r\n".join(lines)
        if head.count(b"\n") != len(lines) - 1:
            raise MalformedBody("There is a line break in the address or in a header.", code="malformed_request")
        return _Request(method, head + b"\r\n\r\n" + (body if is_whole else chunk(body)), is_whole)

    def _take_idle(self) -> Connection | None:
        newest = asyncio.get_running_loop().time() - _MAX_IDLE
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.used_at > newest:
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(_CONNECT_TIMEOUT):
                    _, connection = await loop.create_connection(
                        lambda: Connection(self._forget), self._host, self._port, ssl=self._tls
                    )
            except (ConnectionError, socket.gaierror) as error:  # nothing was sent, not even when TLS had begun
                if not await self._patience.wait():
                    raise self._unavailable(error) from None
            except OSError as error:  # TimeoutError is one, too
                raise self._unavailable(error) from None
            else:
                self._patience.found()
                return connection

    def _forget(self, connection: Connection) -> None:
        if connection in self._idle:
            self._idle.remove(connection)

    def _unavailable(self, error: Exception) -> Unavailable:
        _log.warning("%s at %s:%d does not answer: %s", self._name, self._host, self._port, error or "timed out")
        return Unavailable(f"{self._name} cannot answer right now; try again.")

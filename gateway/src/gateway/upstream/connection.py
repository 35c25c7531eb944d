"""One HTTP/1.1 connection to a service: one request at a time, and its answer as it comes, byte for byte."""

import asyncio
from collections.abc import Callable
from typing import cast

import httptools

_MAX_UNREAD = 256 * 1024
"""Bytes of an answer that wait for the caller before the service has to wait, too."""
_STALLED = 60
"""Seconds without a byte after which an answer that has begun is given up."""
_DROPPED = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"date",
        b"server",
    }
)
"""Headers that speak of this connection only, and those that the gateway's own server adds."""


class Broken(Exception):
    """The connection ended, or said something that is no answer, before the answer was whole."""


class Connection(asyncio.Protocol):
    """Used by one request after the other: `begin`, `write`, `answer`, then `read` until `is_over`.

    `status` and `headers` are the answer's, `status` 0 until it has begun.
    """

    def __init__(self, on_lost: Callable[["Connection"], None]) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.used_at = 0.0
        """When the last answer was over, in the event loop's time."""
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._in_use = False
        self._change: asyncio.Future[None] | None = None
        self._error: str | None = None
        self._is_writable = True

    def begin(self, method: str) -> None:
        """Get ready for a request."""
        self._in_use = True
        self._has_body = method != "HEAD"
        self._is_sized = False
        self._is_sent = False
        self._is_whole = False
        self._stays_open = False
        self._unread: list[bytes] = []
        self._unread_size = 0
        self.status = 0
        self.headers = []

    def write(self, data: bytes, *, is_last: bool) -> None:
        """Send the next bytes of the request; raise Broken when the connection has ended."""
        if self._error is not None:
            raise Broken(self._error)
        self._transport.write(data)
        self._is_sent = is_last

    async def drain(self) -> None:
        """Wait until there is room for more of the request, or it has been answered already."""
        while not self._is_writable and not self.status:
            await self._wait()

    async def answer(self) -> None:
        """Wait until the answer has begun; raise Broken when it does not."""
        while not self.status:
            await self._wait()

    async def read(self) -> bytes:
        """Return the next bytes of the answer's body, none only at its end; raise Broken when it is cut or stalls."""
        while not self._unread and not self._is_whole:
            try:
                async with asyncio.timeout(_STALLED):
                    await self._wait()
            except TimeoutError:
                self._end("stopped in the middle of its answer")
        data = b"".join(self._unread)
        self._unread.clear()
        if self._unread_size > _MAX_UNREAD and self._error is None:
            self._transport.resume_reading()
        self._unread_size = 0
        return data

    @property
    def is_open(self) -> bool:
        """Check whether a request may be tried on it."""
        return self._error is None and not self._transport.is_closing()

    @property
    def is_over(self) -> bool:
        """Check whether the answer was read to its end."""
        return self._is_whole and not self._unread

    def release(self) -> bool:
        """End the request, and the connection, too, unless it can take another one; return whether it can."""
        can_stay = self.is_over and self._is_sent and self._stays_open and self.is_open
        self._in_use = False
        if can_stay:
            self.used_at = self._loop.time()
            if not self._has_body:
                # The old one still waits for the body that a HEAD is not answered with.
                self._parser = httptools.HttpResponseParser(self)
        else:
            self.close()
        return can_stay

    def close(self) -> None:
        """Drop the connection, and with it what is under way."""
        self._end("was closed")

    async def _wait(self) -> None:
        if self._error is not None:
            raise Broken(self._error)
        self._change = self._loop.create_future()
        await self._change

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)

    def _end(self, error: str) -> None:
        self._error = self._error or error
        self._transport.abort()
        self._wake()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if not self._in_use:
            return self._end("spoke without being asked")
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return self._end("gave no valid answer")
        if self._unread_size > _MAX_UNREAD:
            self._transport.pause_reading()
        return self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._in_use and exc is None and self._error is None and self.status and not self._is_sized:
            self._is_whole = True  # an answer without a length ends with its connection
        self._error = self._error or "closed the connection"
        self._on_lost(self)
        self._wake()

    def pause_writing(self) -> None:
        self._is_writable = False

    def resume_writing(self) -> None:
        self._is_writable = True
        self._wake()

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise httptools.HttpParserError("a second answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in (b"content-length", b"transfer-encoding"):
            self._is_sized = True
        if name not in _DROPPED:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:  # not yet the answer
            self.headers.clear()
            return
        if status in (204, 304):
            self._has_body = False
            self.headers = [header for header in self.headers if header[0] != b"content-length"]
        self.status = status
        self._stays_open = self._parser.should_keep_alive()
        self._is_whole = not self._has_body

    def on_body(self, body: bytes) -> None:
        if not self._has_body:
            raise httptools.HttpParserError("a body where there is none")
        self._unread.append(body)
        self._unread_size += len(body)

    def on_message_complete(self) -> None:
        if self.status:
            self._is_whole = True

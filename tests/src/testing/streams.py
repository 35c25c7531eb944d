"""One who follows a stream of server-sent events, in process: httpx would wait for the end of the answer."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import orjson
from starlette.types import ASGIApp, Message

_PATIENCE = 120
"""Seconds until a test gives up."""


class ServerSentEvent(NamedTuple):
    """An event as a client reads it."""

    id: int
    name: str
    data: Any


class Following:
    """A stream that is followed: the answer's `status` and `headers`, its events, and when it ends."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.retry: int | None = None
        self.is_over = False
        self.server_stops = asyncio.Event()
        self.has_left = asyncio.Event()
        self._has_asked = False
        self._text = b""
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def next(self) -> ServerSentEvent | None:
        """Return the next event, None when the stream has ended."""
        while (block := await self._block()) is not None:
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if "retry" in fields:
                self.retry = int(fields["retry"])
            if "data" in fields:
                return ServerSentEvent(int(fields["id"]), fields["event"], orjson.loads(fields["data"]))
        return None

    async def comment(self) -> None:
        """Take what comes next, which must be a comment."""
        block = await self._block()
        assert block is not None
        assert block.startswith(":"), block

    async def events(self, count: int) -> list[ServerSentEvent]:
        """Return so many events, and not the counts of unread notifications between them."""
        found: list[ServerSentEvent] = []
        while len(found) < count:
            event = await self.next()
            assert event is not None, found
            if event.name != "unread":
                found.append(event)
        return found

    async def rest(self) -> list[ServerSentEvent]:
        """Return all events until the stream ends."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found

    async def _block(self) -> str | None:
        async with asyncio.timeout(_PATIENCE):
            while b"\n\n" not in self._text:
                part = await self._parts.get()
                if part is None:
                    assert not self._text, "only whole events are sent"
                    return None
                self._text += part
        block, _, self._text = self._text.partition(b"\n\n")
        return block.decode()

    # What the app calls.

    async def receive(self) -> Message:
        if not self._has_asked:
            self._has_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        self._parts.put_nowait(message.get("body", b""))
        if not message.get("more_body", False):
            self.is_over = True
            self._parts.put_nowait(None)


@asynccontextmanager
async def following(app: ASGIApp, path: str, headers: Mapping[str, str], query: str = "") -> AsyncIterator[Following]:
    """Follow a stream of an app; leave it at the end of the block."""
    stream = Following()
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (name.lower().encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()
        ],
        "client": ("192.0.2.1", 1),
        "server": ("localhost", 80),
        "state": {"stopping": stream.server_stops},
    }
    answering = asyncio.ensure_future(app(scope, stream.receive, stream.send))
    try:
        async with asyncio.timeout(_PATIENCE):
            while not stream.status and not answering.done():  # noqa: ASYNC110 - it is told to nobody
                await asyncio.sleep(0.001)
        yield stream
    finally:
        stream.has_left.set()
        async with asyncio.timeout(_PATIENCE):
            await answering

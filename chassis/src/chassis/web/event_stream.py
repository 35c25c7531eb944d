"""Server-sent events: an answer that goes on, until its client leaves or the server stops."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from random import randint
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from chassis.observability.requests import STREAM

HEARTBEAT = b":\n\n"
"""A comment: whoever waits sees that the other side is there, and what stands between that the connection is used."""
HEARTBEAT_SECONDS = 15.0

STOPPING = "stopping"
"""Names in `scope["state"]` the asyncio.Event that a server sets when it begins to end."""

_RETRY = (1000, 5000)
"""Milliseconds after which a client comes back that has lost its stream: not all of them at once."""


def event(position: int, name: str, data: bytes) -> bytes:
    """Return an event with its `data`, JSON without line breaks; a client names the `position` to go on after it."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (position, name.encode(), data)


def stopping(scope: Scope) -> asyncio.Event:
    """Return what the server of a request sets when it begins to end."""
    event: asyncio.Event | None = scope.get("state", {}).get(STOPPING)
    return asyncio.Event() if event is None else event


class EventStream(StreamingResponse):
    """The answer that `chunks` make, each one or more whole events, or a heartbeat.

    What fails before the first chunk is answered as with any other request. The stream ends with the chunks, or when
    its client has gone or the server stops; the chunks are closed then.
    """

    media_type = STREAM[1].decode()

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        # Named here, since Starlette would add a charset, and for nginx, which would keep events back.
        super().__init__(chunks, headers={"content-type": self.media_type, "x-accel-buffering": "no"})
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with aclosing(self._chunks) as chunks:
            first = b"retry: %d\n" % randint(*_RETRY) + await anext(chunks)  # noqa: S311 - spreads load
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            try:
                async with asyncio.timeout(None) as end:
                    with _at_the_same_time(_when_gone(receive, end), _when_set(stopping(scope), end)):
                        await send({"type": "http.response.body", "body": first, "more_body": True})
                        async for chunk in chunks:
                            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                if not end.expired():
                    raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextmanager
def _at_the_same_time(*work: Coroutine[Any, Any, None]) -> Iterator[None]:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _when_gone(receive: Receive, end: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    end.reschedule(0)


async def _when_set(event: asyncio.Event, end: asyncio.Timeout) -> None:
    await event.wait()
    end.reschedule(0)

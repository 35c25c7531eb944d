"""What listens on loopback in tests: a real server of an ASGI app, and servers that misbehave byte by byte."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType

from starlette.types import ASGIApp

from chassis.server.http_server import Server

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(app: ASGIApp, tls: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` as services are served; return its address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = Server(app, grace=1, tls=tls)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        async with asyncio.timeout(120):
            while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.stop()
        await task


_PATIENCE = 120
"""Seconds that a test with such a server has to end."""


class Speaking:
    """A server that does with each connection what `handle` does."""

    def __init__(self, handle: Handler, port: int = 0) -> None:
        self.connections = 0
        self.address = ""
        self._handle = handle
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Speaking":
        self._deadline = asyncio.timeout(_PATIENCE)
        await self._deadline.__aenter__()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._deadline.__aexit__(kind, error, trace)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._speak(reader, writer))
        self._tasks.add(task)

    async def _speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._handle(reader, writer)
        finally:
            writer.close()


def answering(*answers: bytes) -> Handler:
    """Answer the requests of each connection with these, in turn; then close it."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await read_request(reader)
            writer.write(answer)
            await writer.drain()

    return handle


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the next request's head and body, as they came."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = b""
    if b"\r\ntransfer-encoding: chunked\r\n" in head:
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    elif b"\r\ncontent-length: " in head:
        body = await reader.readexactly(int(head.partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]))
    return head, body

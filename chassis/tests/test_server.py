"""A server that is told to stop fails nobody who talks to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.http.server import Server, listen
from chassis.start_failure import StartFailure

REQUEST = b"GET /%b HTTP/1.1\r\nHost: here\r\n\r\n"


class App:
    """Answers at once, or at /slow when it is told to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.began = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            self.began.set()
            await self.go_on.wait()
        await PlainTextResponse("done")(scope, receive, send)


@asynccontextmanager
async def serving(app: ASGIApp, *, drain: float) -> AsyncIterator[tuple[Server, int, asyncio.Task[None]]]:
    listener = listen("127.0.0.1", 0, "PORT")
    server = Server(app, grace=5, drain=drain)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    port = listener.getsockname()[1]
    yield server, port, running
    server.stop()
    await running


async def refuses(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    assert await reader.readexactly(4) == b"done"
    return head


async def test_a_request_under_way_is_answered_and_new_connections_are_refused() -> None:
    app = App()
    async with serving(app, drain=0) as (server, port, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST % b"slow")
        await app.began.wait()
        server.stop()
        async with asyncio.timeout(10):
            while not await refuses(port):  # noqa: ASYNC110 - nobody tells when it does
                await asyncio.sleep(0.05)
        app.go_on.set()
        assert (await answer(reader)).startswith(b"HTTP/1.1 200")
        await asyncio.wait_for(running, 10)
        writer.close()


async def test_a_kept_connection_may_be_used_once_more_and_is_told_to_close() -> None:
    async with serving(App(), drain=10) as (server, port, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST % b"")
        assert b"connection: close" not in await answer(reader)
        server.stop()
        await asyncio.sleep(0.3)
        writer.write(REQUEST % b"")
        assert b"connection: close" in await answer(reader)
        assert await reader.read() == b""
        await asyncio.wait_for(running, 5)
        writer.close()


async def test_an_idle_connection_does_not_hold_up_the_end() -> None:
    async with serving(App(), drain=0.2) as (server, port, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST % b"")
        await answer(reader)
        server.stop()
        await asyncio.wait_for(running, 5)
        assert await reader.read() == b""
        writer.close()


def test_a_port_in_use_is_told_in_a_sentence() -> None:
    with listen("127.0.0.1", 0, "PORT") as taken, pytest.raises(StartFailure, match="set PORT to another address"):
        listen("127.0.0.1", taken.getsockname()[1], "PORT")

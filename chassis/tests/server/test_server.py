"""A server that is told to stop fails nobody who talks to it."""

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.core.start_failure import StartFailure
from chassis.core.tls import TlsSettings
from chassis.server.http_server import Server, listen
from testing.certificates import Authority
from testing.metrics import measured, rises

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
async def serving(
    app: ASGIApp, *, drain: float, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[Server, int, asyncio.Task[None]]]:
    listener = listen("127.0.0.1", 0, "PORT")
    server = Server(app, grace=30, drain=drain, tls=tls)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    port = listener.getsockname()[1]
    yield server, port, running
    server.stop()
    await running


async def refuses(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:  # reset, when it comes in the moment of closing
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
        async with asyncio.timeout(120):
            while not await refuses(port):  # noqa: ASYNC110 - nobody tells when it does
                await asyncio.sleep(0.05)
        app.go_on.set()
        assert (await answer(reader)).startswith(b"HTTP/1.1 200")
        await asyncio.wait_for(running, 120)
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
        await asyncio.wait_for(running, 120)
        writer.close()


async def test_an_idle_connection_does_not_hold_up_the_end() -> None:
    async with serving(App(), drain=0.2) as (server, port, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST % b"")
        await answer(reader)
        server.stop()
        await asyncio.wait_for(running, 120)
        assert await reader.read() == b""
        writer.close()


async def test_an_idle_client_that_does_not_see_that_tls_ends_does_not_hold_up_the_end(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shown, believed = authority.settings_of("localhost").server(), TlsSettings(tls_ca=authority.file).client()
    async with serving(App(), drain=0.2, tls=shown) as (server, port, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=believed, server_hostname="localhost")
        writer.write(REQUEST % b"")
        await answer(reader)
        writer.transport.pause_reading()
        server.stop()
        await asyncio.wait_for(running, 120)
        writer.transport.abort()


BUSY_AS_IT_ENDS = """
import asyncio, signal, sys
from pathlib import Path
import uvloop
from starlette.responses import PlainTextResponse
from chassis.core.tls import TlsSettings
from chassis.server.http_server import Server, listen

async def main(certificate="", key=""):
    tls = TlsSettings(tls_certificate=Path(certificate), tls_key=Path(key)).server() if key else None
    listener = listen("127.0.0.1", 0, "PORT")
    server = Server(PlainTextResponse("done"), grace=5, drain=5, tls=tls)
    loop = asyncio.get_running_loop()

    def be_busy():
        print("busy", flush=True)
        sys.stdin.readline()

    def stop():
        loop.call_soon(be_busy)
        server.stop()

    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.call_later(0.1, lambda: print(listener.getsockname()[1], flush=True))
    await server.serve(sockets=[listener])

uvloop.run(main(*sys.argv[1:]))
"""
"""A program that does something else, until it gets a line, in the moment in which it ends."""


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "tls"])
async def test_who_is_queued_when_a_program_ends_is_answered(is_encrypted: bool, tmp_path: Path) -> None:
    given: list[str] = []
    believed = None
    if is_encrypted:
        authority = Authority(tmp_path)
        shown = authority.settings_of("localhost")
        given = [str(shown.tls_certificate), str(shown.tls_key)]
        believed = TlsSettings(tls_ca=authority.file).client()
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BUSY_AS_IT_ENDS, *given, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert program.stdin is not None
    assert program.stdout is not None

    async def ask(connected: socket.socket) -> bytes:
        reader, writer = await asyncio.open_connection(
            sock=connected, ssl=believed, server_hostname="localhost" if is_encrypted else None
        )
        writer.write(REQUEST % b"")
        head = await answer(reader)
        writer.close()
        return head

    try:
        async with asyncio.timeout(120):
            port = int(await program.stdout.readline())
            program.send_signal(signal.SIGTERM)
            assert await program.stdout.readline() == b"busy\n"
            queued = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
            program.stdin.write(b"go on\n")
            while not await refuses(port):  # noqa: ASYNC110 - nobody tells when it does
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)  # whoever is slow to speak has been accepted all the same
            heads = await asyncio.gather(*map(ask, queued))
            assert {head.split(b"\r\n")[0] for head in heads} == {b"HTTP/1.1 200 OK"}
            assert all(b"connection: close" in head for head in heads)
            assert await program.wait() == 0
    finally:
        with suppress(ProcessLookupError):
            program.kill()
        await program.wait()


def test_a_port_in_use_is_told_in_a_sentence() -> None:
    with listen("127.0.0.1", 0, "PORT") as taken, pytest.raises(StartFailure, match="set PORT to another address"):
        listen("127.0.0.1", taken.getsockname()[1], "PORT")


class Pieces:
    """Answers with the parts of a body that a test gives it, each when it says so."""

    def __init__(self) -> None:
        self.parts: asyncio.Queue[bytes] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "PUT":
            await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"18")]})
        while scope["method"] != "HEAD":
            part = await self.parts.get()
            await send({"type": "http.response.body", "body": part, "more_body": not part.endswith(b"!")})
            if part.endswith(b"!"):
                return
        await send({"type": "http.response.body"})


async def test_an_answer_comes_part_by_part_and_the_next_one_too() -> None:
    app = Pieces()
    async with serving(app, drain=0) as (_, port, _running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(120):
            for _ in range(2):
                writer.write(REQUEST % b"")
                app.parts.put_nowait(b"HTTP/1.1 ")
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
                assert await reader.readexactly(9) == b"HTTP/1.1 "
                app.parts.put_nowait(b"HTTP/1.1!")
                assert await reader.readexactly(9) == b"HTTP/1.1!"
        writer.close()


async def test_an_answer_without_a_body_comes_at_once() -> None:
    async with serving(Pieces(), drain=0) as (_, port, _running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(120):
            for _ in range(2):
                writer.write(b"HEAD / HTTP/1.1\r\nHost: here\r\n\r\n")
                assert b"content-length: 18" in await reader.readuntil(b"\r\n\r\n")
        writer.close()


async def test_who_asks_whether_to_send_a_body_is_told_before_the_answer() -> None:
    app = Pieces()
    async with serving(app, drain=0) as (_, port, _running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(120):
            writer.write(b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"x")
            app.parts.put_nowait(b"12345678901234567!")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize(("trusted", "seen"), [("", "127.0.0.1"), ("10.0.0.0/8, 127.0.0.1", "203.0.113.9")])
async def test_who_calls_is_believed_from_proxies_that_are_trusted_alone(trusted: str, seen: str) -> None:
    async def say_who(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(scope["client"][0])(scope, receive, send)

    listener = listen("127.0.0.1", 0, "PORT")
    server = Server(say_who, grace=5, trusted_proxies=trusted)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
    async with asyncio.timeout(120):
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"\r\n\r\n" + seen.encode())
    writer.close()
    server.stop()
    await running


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: here\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: here\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: here\r\nX: " + b"y" * 33_000 + b"\r\n\r\n", 431),
    ],
)
async def test_what_is_refused_before_the_app_sees_it_is_counted(sent: bytes, status: int) -> None:
    async with serving(App(), drain=0) as (_, port, _running):
        before = await measured()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 %d " % status)
        writer.close()
        risen = rises(before, await measured())
    counted = {name: rise for name, rise in risen.items() if name.startswith("traceline_http_refusals_total")}
    assert counted == {f'traceline_http_refusals_total{{status="{status}"}}': 1}

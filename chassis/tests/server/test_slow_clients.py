"""How long a client may keep a connection waiting, and what it is told in the end. The times are shortened."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from chassis.server import protocol
from chassis.server.http_server import Server, listen
from testing.certificates import Authority

PATIENCE = 120
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n"


class App:
    """Reads the whole body at /, nothing at /early, and answers with `size` bytes."""

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self.failed = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": scope["path"] == "/"}
        while message.get("more_body"):
            message = await receive()
        if message.get("type") == "http.disconnect":
            self.failed.set()
            return
        headers = [(b"content-length", b"%d" % self.size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at in range(0, self.size, 65536):
            part = b"x" * min(65536, self.size - at)
            await send({"type": "http.response.body", "body": part, "more_body": at + 65536 < self.size})


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(protocol, name, 1.0)


@asynccontextmanager
async def serving(app: App, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[Server, int]]:
    with listen("127.0.0.1", 0, "PORT") as listener:
        server = Server(app, grace=1, tls=tls)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(PATIENCE):
                while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
                    await asyncio.sleep(0.01)
                yield server, listener.getsockname()[1]
        finally:
            # All tests share one event loop: a server that went on would hold the number of a listener that is closed.
            server.stop()
            await running


async def test_a_connection_that_says_nothing_is_closed() -> None:
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()


async def test_a_connection_that_sends_empty_lines_for_ever_is_closed() -> None:
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        end = asyncio.create_task(reader.read())
        while not end.done():
            writer.write(b"\r\n")
            await asyncio.sleep(0.1)
        with suppress(ConnectionResetError):  # closed with a line unread
            assert end.result() == b""
        writer.close()


async def test_headers_that_come_too_slowly_are_answered_with_408() -> None:
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = asyncio.create_task(reader.read())
        for byte in HEAD:
            if answer.done():
                break
            writer.write(bytes([byte]))
            await asyncio.sleep(0.2)
        assert answer.result().startswith(b"HTTP/1.1 408 ")
        assert b'"code":"request_timed_out"' in answer.result()
        writer.close()


async def test_a_body_that_comes_too_slowly_is_answered_with_408_and_the_app_is_told() -> None:
    app = App()
    async with serving(app) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"\r\n")
        answer = asyncio.create_task(reader.read())
        while not answer.done():
            writer.write(b"x")
            await asyncio.sleep(0.2)
        assert answer.result().startswith(b"HTTP/1.1 408 ")
        await app.failed.wait()
        assert not server.server_state.tasks
        writer.close()


async def test_a_body_that_comes_at_a_fair_pace_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_SLOWEST", 100)
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"\r\n")
        for _ in range(10):
            writer.write(b"x" * 100)
            await asyncio.sleep(0.3)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        writer.close()


async def test_a_body_that_nobody_wanted_is_not_read_for_ever() -> None:
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        answer = asyncio.create_task(reader.read())
        while not answer.done():
            writer.write(b"1\r\nx\r\n")
            await asyncio.sleep(0.1)
        assert answer.result().startswith(b"HTTP/1.1 200 ")
        writer.close()


async def test_a_client_that_does_not_read_its_answer_is_cut() -> None:
    async with serving(App(size=50_000_000)) as (server, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
        while not server.server_state.connections:  # noqa: ASYNC110 - it is seen by looking
            await asyncio.sleep(0.01)
        while server.server_state.connections or server.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        writer.close()


async def test_a_client_that_reads_slowly_gets_the_whole_answer() -> None:
    async with serving(App(size=8_000_000)) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /early HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        received = 0
        while data := await reader.read(65536):
            received += len(data)
            await asyncio.sleep(0.02)
        assert received > 8_000_000
        writer.close()


@pytest.fixture
async def taking_a_little() -> AsyncIterator[AsyncIterator[bool]]:
    """Whether a client that takes 200 KB/s of a large answer is still served, again and again, for 5 s."""

    async def taken(server: Server, port: int) -> AsyncIterator[bool]:
        clock = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            await clock.sock_connect(client, ("127.0.0.1", port))
            await clock.sock_sendall(client, b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
            # The kernel holds several times what is taken here while a silent client is borne with.
            for _ in range(50):
                await asyncio.sleep(0.1)
                with suppress(ConnectionResetError):
                    await clock.sock_recv(client, 20_000)
                yield bool(server.server_state.connections)

    async with serving(App(size=40_000_000)) as (server, port):
        yield taken(server, port)


async def test_a_client_that_takes_a_little_all_the_time_is_not_cut(taking_a_little: AsyncIterator[bool]) -> None:
    assert [is_served async for is_served in taking_a_little] == [True] * 50, "it was cut before all that was sent came"


async def test_a_client_that_takes_too_little_to_ever_have_it_all_is_cut(
    taking_a_little: AsyncIterator[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_SLOWEST", 10_000_000)
    assert not all([is_served async for is_served in taking_a_little])


async def test_beyond_the_most_connections_a_new_one_is_closed_and_the_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chassis.server.http_server._MOST_CONNECTIONS", 1)
    async with serving(App()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
            await reader.readuntil(b"HTTP/1.1 200 ")
            other, other_writer = await asyncio.open_connection("127.0.0.1", port)
            with suppress(ConnectionResetError):
                assert await other.read() == b""
            other_writer.close()
        writer.close()


async def test_a_connection_over_tls_that_breaks_off_ends_no_other(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shows, believes = authority.settings_of("localhost").server(), authority.settings_of("client").client()
    async with serving(App(8 << 20), shows) as (server, port):
        for _ in range(10):
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=believes, server_hostname="localhost")
            writer.write(b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.sleep(0.05)
            writer.transport.abort()
            while connections := list(server.server_state.connections):
                for connection in connections:
                    connection.check(0)
                await asyncio.sleep(0)

"""What passes through to a service in another process, and what happens when that is slow, broken or away."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from servers import Handler, Speaking, answering, read_request, serving
from starlette.types import Message, Receive, Scope, Send

from chassis.core.problems import MalformedBody, TooLarge, Unavailable
from chassis.core.start_failure import StartFailure
from chassis.server.http_server import DRAIN
from gateway.upstream.client import Upstream
from gateway.upstream.connection import Broken

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
LONG = 200_000


@pytest.fixture(autouse=True)
async def _nothing_is_left_behind() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    async with asyncio.timeout(120):
        while asyncio.all_tasks() - before - {asyncio.current_task()}:  # noqa: ASYNC110 - they end in their own time
            await asyncio.sleep(0.01)


class Call:
    """One request by a caller that reads and sends as the test says."""

    def __init__(self, method: str = "GET", target: bytes = b"/", *parts: bytes, headers: Any = ()) -> None:
        path, _, query = target.partition(b"?")
        self.scope: Scope = {
            "type": "http",
            "method": method,
            "raw_path": path,
            "query_string": query,
            "headers": list(headers),
        }
        self.parts = list(parts) or [b""]
        self.gone = asyncio.Event()
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self.parts:
            await self.gone.wait()
            return {"type": "http.disconnect"}
        part = self.parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self.parts)}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def by(self, upstream: Upstream) -> "Call":
        await upstream(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        assert self.sent[-1]["more_body"] is False
        return b"".join(message["body"] for message in self.sent[1:])


def remembering(requests: list[tuple[bytes, bytes]], answer: bytes = OK) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            requests.append(await read_request(reader))
            writer.write(answer)

    return handle


async def connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(address)
    return await asyncio.open_connection(parts.hostname, parts.port)


# What the service gets.


@pytest.mark.parametrize(
    "target",
    [
        b"/api/v1/requirements/%C3%A4%c3%a4",
        b"/a%20b+c/~d;e=f,g:h@i!$&'()*",
        b"/%7euser/%41?q=%2f%5C",
        b"/search?q='or'&r=&s&=t&&u=%F6+%20",
        b'/search?a[]={1}|2^3`4"5<6>',
        b"/search?next=/a?b=c",
    ],
)
async def test_method_and_target_reach_the_service_as_they_were_sent(target: bytes) -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with (
        Speaking(remembering(requests)) as service,
        Upstream("s", service.address) as upstream,
        serving(upstream) as front,
    ):
        reader, writer = await connect(front)
        writer.write(b"PATCH " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"ok")
        writer.close()
    assert requests[0][0].split(b"\r\n")[0] == b"PATCH " + target + b" HTTP/1.1"


async def test_headers_reach_the_service_as_they_are_and_none_is_added() -> None:
    requests: list[tuple[bytes, bytes]] = []
    headers = [(b"accept", b"a"), (b"x-request-id", b"r"), (b"accept", b"caf\xe9 \xc3\xa9"), (b"x-empty", b"")]
    async with Speaking(remembering(requests)) as service, Upstream("s", service.address) as upstream:
        await Call(headers=headers).by(upstream)
        host = urlsplit(service.address).netloc.encode()
    assert requests[0][0].split(b"\r\n")[1:-2] == [
        b"host: " + host,
        b"accept: a",
        b"x-request-id: r",
        b"accept: caf\xe9 \xc3\xa9",
        b"x-empty: ",
    ]


@pytest.mark.parametrize("call", [Call(target=b"/a\r\nx: y"), Call(headers=[(b"x", b"y\nz: 1")])])
async def test_a_line_break_cannot_smuggle_a_header(call: Call) -> None:
    async with Upstream("s", "http://127.0.0.1:9") as upstream:
        with pytest.raises(MalformedBody):
            await call.by(upstream)


@pytest.mark.parametrize(
    ("method", "parts", "how"),
    [
        ("GET", [b""], b""),
        ("DELETE", [b""], b""),
        ("POST", [b""], b"content-length: 0"),
        ("POST", [b"abc", b"", b"def"], b"content-length: 6"),
        ("PUT", [b"x" * 60_000], b"content-length: 60000"),
        ("POST", [b"x" * LONG], b"content-length: 200000"),
        ("POST", [b"x" * 60_000, b"", b"y" * 60_000, b"z"], b"transfer-encoding: chunked"),
    ],
)
async def test_a_short_body_is_sent_with_its_length_and_a_long_one_in_chunks(
    method: str, parts: list[bytes], how: bytes
) -> None:
    requests: list[tuple[bytes, bytes]] = []
    announced = [(b"content-length", b"%d" % len(b"".join(parts)))]
    async with Speaking(remembering(requests)) as service, Upstream("s", service.address) as upstream:
        assert (await Call(method, b"/", *parts, headers=announced).by(upstream)).body == b"ok"
        assert (await Call(method, b"/", *parts).by(upstream)).body == b"ok"
        assert service.connections == 1
    for head, body in requests:
        assert head.split(b"\r\n")[2:-2] == ([how] if how else [])
        assert body == b"".join(parts)


async def test_a_long_body_flows_before_its_end_is_there() -> None:
    arrived = asyncio.Event()
    call = Call("POST", b"/", b"x" * LONG, b"last", b"")

    async def receive() -> Message:
        if len(call.parts) == 1:
            await arrived.wait()
        return await call.receive()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = b""
        while not seen.endswith(b"last\r\n"):
            seen += await reader.read(LONG)
        arrived.set()
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(OK)

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        await upstream(call.scope, receive, call.send)
    assert call.body == b"ok"


@pytest.mark.parametrize("before", [0, LONG])
async def test_a_body_beyond_the_limit_is_the_callers_fault_and_ends_the_services_request(before: int) -> None:
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()
        ended.set()

    call = Call("POST", b"/", b"x" * before, b"y")

    async def receive() -> Message:
        if len(call.parts) == 1:
            raise TooLarge("The body is too large.")
        return await call.receive()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        with pytest.raises(TooLarge):
            await upstream(call.scope, receive, call.send)
        if before:
            await ended.wait()


async def test_a_service_may_answer_before_it_has_read_the_body() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 415 Unsupported Media Type\r\ncontent-length: 1\r\n\r\n!")
        await reader.read()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        call = await Call("POST", b"/", *[b"x" * LONG] * 200).by(upstream)
        assert (call.status, call.body) == (415, b"!")
        assert call.parts, "the whole body was sent"
        await Call("POST").by(upstream)
        assert service.connections == 2


# What the caller gets.


async def test_status_headers_and_body_reach_the_caller_as_they_are() -> None:
    answer = (
        b"HTTP/1.1 207 Anything\r\nLink: <a>; rel=next\r\nConnection: keep-alive\r\nX-Name: caf\xe9\r\n"
        b"link: <b>\r\nContent-Encoding: gzip\r\nDate: now\r\nServer: s\r\nKeep-Alive: timeout=5\r\nSet-Cookie: a=b\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n3\r\n\x1f\x8bz\r\n0\r\n\r\n"
    )
    requests: list[tuple[bytes, bytes]] = []
    async with Speaking(remembering(requests, answer)) as service, Upstream("s", service.address) as upstream:
        for _ in range(2):
            call = await Call().by(upstream)
            assert (call.status, call.body) == (207, b"\x1f\x8bz")
            assert call.sent[0]["headers"] == [
                (b"link", b"<a>; rel=next"),
                (b"x-name", b"caf\xe9"),
                (b"link", b"<b>"),
                (b"content-encoding", b"gzip"),
                (b"set-cookie", b"a=b"),
            ]
    assert b"cookie" not in requests[1][0]


async def test_a_redirect_is_the_callers_business() -> None:
    answer = b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n"
    async with Speaking(answering(answer)) as service, Upstream("s", service.address) as upstream:
        call = await Call().by(upstream)
    assert (call.status, call.sent[0]["headers"][0]) == (307, (b"location", b"http://elsewhere/"))


@pytest.mark.parametrize(
    ("method", "answer", "headers"),
    [
        ("HEAD", b"200 OK\r\ncontent-length: 77", [(b"content-length", b"77")]),
        ("HEAD", b"200 OK\r\ntransfer-encoding: chunked", []),
        ("GET", b"204 No Content", []),
        ("GET", b'304 Not Modified\r\netag: "1"\r\ncontent-length: 77', [(b"etag", b'"1"')]),
    ],
)
async def test_an_answer_without_a_body_leaves_the_connection_usable(
    method: str, answer: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    handle = answering(b"HTTP/1.1 " + answer + b"\r\n\r\n", OK)
    async with Speaking(handle) as service, Upstream("s", service.address) as upstream, serving(upstream) as front:
        call = await Call(method).by(upstream)
        assert (call.body, call.sent[0]["headers"]) == (b"", headers)
        assert (await Call().by(upstream)).body == b"ok"
        assert service.connections == 1
        reader, writer = await connect(front)
        writer.write(method.encode() + b" / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"\r\n\r\n")
        writer.close()


async def test_a_body_where_there_is_none_is_not_taken_for_the_next_answer() -> None:
    async with Speaking(answering(OK)) as service, Upstream("s", service.address) as upstream:
        for _ in range(2):
            call = await Call("HEAD").by(upstream)
            assert (call.status, call.body) == (200, b"")
        assert service.connections == 2


async def test_an_answer_that_is_only_on_its_way_is_not_the_answer() -> None:
    handle = answering(b"HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n" + OK, OK)
    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        call = await Call().by(upstream)
        assert (call.status, call.sent[0]["headers"], call.body) == (200, [(b"content-length", b"2")], b"ok")
        assert (await Call().by(upstream)).body == b"ok"
        assert service.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
        OK + OK,
    ],
)
async def test_a_connection_that_cannot_be_trusted_further_is_not_used_again(answer: bytes) -> None:
    async with Speaking(answering(answer)) as service, Upstream("s", service.address) as upstream:
        for _ in range(3):
            assert (await Call("POST").by(upstream)).body == b"ok"
        assert service.connections == 3


async def test_an_answer_arrives_part_by_part() -> None:
    arrived = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await arrived.wait()
        writer.write(b"4\r\nlast\r\n0\r\n\r\n")

    call = Call()

    async def send(message: Message) -> None:
        await call.send(message)
        if message.get("body") == b"first":
            arrived.set()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        await upstream(call.scope, call.receive, send)
    assert call.body == b"firstlast"


async def test_a_service_waits_for_a_slow_caller_and_a_large_answer_is_not_held_in_memory() -> None:
    size, part = 100_000_000, b"x" * 100_000
    written, standstill = 0, asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
        while written < size:
            writer.write(part)
            try:
                async with asyncio.timeout(0.5):
                    await writer.drain()
            except TimeoutError:
                standstill.set()
                await writer.drain()
            written += len(part)

    received, largest = 0, 0

    async def send(message: Message) -> None:
        nonlocal received, largest
        if message["type"] == "http.response.body":
            await standstill.wait()
            received += len(message["body"])
            largest = max(largest, len(message["body"]))

    call = Call()
    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        asking = asyncio.create_task(upstream(call.scope, call.receive, send))
        await standstill.wait()
        assert written < 20_000_000
        await asking
    assert received == size
    assert largest < 1_000_000


# Callers that go away.


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"])
async def test_a_caller_that_goes_away_ends_the_services_request(answer: bytes) -> None:
    asked, dropped = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)
        asked.set()
        await reader.read()
        dropped.set()

    async with (
        Speaking(handle) as service,
        Upstream("s", service.address) as upstream,
        serving(upstream) as front,
    ):
        _, writer = await connect(front)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asked.wait()
        writer.close()
        await dropped.wait()


@pytest.mark.parametrize("before", [10, LONG])
async def test_a_caller_that_goes_away_within_its_body_ends_the_services_request(before: int) -> None:
    async def handle(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    call = Call("POST", b"/", b"x" * before, b"y")
    call.gone.set()

    async def receive() -> Message:
        message = await call.receive()
        return {**message, "more_body": True} if message["type"] == "http.request" else message

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        await upstream(call.scope, receive, call.send)
        assert call.sent == []
        assert service.connections == (before == LONG)


async def test_a_request_that_is_given_up_ends_at_the_service() -> None:
    begun, dropped = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await read_request(reader)
        begun.set()
        await reader.read()
        dropped.set()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        asked = asyncio.create_task(Call().by(upstream))
        await begun.wait()
        asked.cancel()
        await asyncio.wait([asked])
        await dropped.wait()


# Services that are away or broken.


async def closes_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.transport.abort()


@pytest.mark.parametrize(
    "handle",
    [
        closes_at_once,
        resets,
        answering(b""),
        answering(b"HTTP/1.1 200 O"),
        answering(b"SSH-2.0-OpenSSH_9.2\r\n"),
        answering(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"),
        answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_service_that_gives_no_answer_is_unavailable(handle: Handler, method: str) -> None:
    async with Speaking(handle) as service, Upstream("catalog-service", service.address) as upstream:
        with pytest.raises(Unavailable) as raised:
            await Call(method).by(upstream)
    assert raised.value.detail == "catalog-service cannot answer right now; try again."
    assert raised.value.headers["Retry-After"] == "1"


async def test_a_service_that_is_away_is_unavailable_and_found_again() -> None:
    async with Speaking(answering(OK)) as service:
        pass
    async with Upstream("s", service.address) as upstream:
        with pytest.raises(Unavailable):
            await Call().by(upstream)
        async with Speaking(answering(OK), urlsplit(service.address).port or 0):
            assert (await Call().by(upstream)).body == b"ok"


async def test_a_service_that_restarts_is_waited_for_as_long_as_that_takes() -> None:
    async with Speaking(answering(OK)) as service:
        upstream = Upstream("s", service.address, patience=30)
        assert (await Call().by(upstream)).body == b"ok"
    waiting = asyncio.create_task(Call("POST").by(upstream))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    async with Speaking(answering(OK), urlsplit(service.address).port or 0):
        assert (await waiting).body == b"ok"


async def test_a_service_that_stays_away_is_waited_for_once() -> None:
    async with Speaking(answering(OK)) as service:
        upstream = Upstream("s", service.address, patience=0.3)
        await Call().by(upstream)
    began = asyncio.get_running_loop().time()
    for _ in range(20):
        with pytest.raises(Unavailable):
            await Call().by(upstream)
    assert 0.3 <= asyncio.get_running_loop().time() - began < 20 * 0.3


async def test_a_service_that_takes_no_connection_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.upstream.client._CONNECT_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        with socket.create_connection(address):  # the only place in its queue
            async with Upstream("s", f"http://127.0.0.1:{address[1]}") as upstream:
                with pytest.raises(Unavailable):
                    await Call().by(upstream)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
)
async def test_an_answer_that_is_cut_never_looks_whole(answer: bytes) -> None:
    async with (
        Speaking(answering(answer)) as service,
        Upstream("s", service.address) as upstream,
        serving(upstream) as front,
    ):
        call = Call()
        with pytest.raises(Broken):
            await call.by(upstream)
        assert call.sent[-1]["more_body"] is True
        reader, writer = await connect(front)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        seen = await reader.read()  # to the end of the connection
        assert b"half" in seen
        assert not seen.endswith(b"0\r\n\r\n")
        writer.close()


async def test_an_answer_that_stalls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.upstream.connection._STALLED", 0.1)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")
        await reader.read()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        with pytest.raises(Broken, match="stopped"):
            await Call().by(upstream)


# Connections that are kept.


def ending_after(answers: int, requests: list[bytes], end: Callable[[asyncio.StreamWriter], None]) -> Handler:
    """Each connection answers so many requests, and ends when it has read the next one."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(answers):
            requests.append((await read_request(reader))[0].split(b" ")[0])
            writer.write(OK)
        requests.append((await read_request(reader))[0].split(b" ")[0])
        end(writer)

    return handle


@pytest.mark.parametrize("end", [asyncio.StreamWriter.close, lambda writer: writer.transport.abort()])
async def test_only_what_does_nothing_is_repeated_when_a_kept_connection_ends(
    end: Callable[[asyncio.StreamWriter], None],
) -> None:
    requests: list[bytes] = []
    async with Speaking(ending_after(1, requests, end)) as service, Upstream("s", service.address) as upstream:
        await Call("GET").by(upstream)
        assert (await Call("GET").by(upstream)).body == b"ok"
        assert (requests, service.connections) == ([b"GET"] * 3, 2)
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            requests.clear()
            await Call("GET", b"/").by(upstream)
            with pytest.raises(Unavailable):
                await Call(method).by(upstream)
            assert requests.count(method.encode()) == 1


async def test_a_connection_that_the_service_closed_is_not_used_again() -> None:
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        writer.write_eof()
        assert await reader.read() == b""
        ended.set()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        for _ in range(3):
            assert (await Call("POST").by(upstream)).body == b"ok"
            await ended.wait()
            ended.clear()
        assert service.connections == 3


async def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with Speaking(remembering(requests)) as service, Upstream("s", service.address) as upstream:
        await Call().by(upstream)
        monkeypatch.setattr("gateway.upstream.client._MAX_IDLE", 0)
        await Call().by(upstream)
        assert service.connections == 2


async def test_a_connection_is_not_used_again_when_a_service_that_ends_may_be_closing_it() -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with Speaking(remembering(requests)) as service, Upstream("s", service.address) as upstream:
        await Call().by(upstream)
        await asyncio.sleep(DRAIN / 2 + 0.1)
        await Call().by(upstream)
        assert service.connections == 2


async def test_a_connection_that_speaks_unasked_is_not_used_again() -> None:
    answered, ended = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        await answered.wait()
        writer.write(OK)
        await reader.read()
        ended.set()

    async with Speaking(handle) as service, Upstream("s", service.address) as upstream:
        await Call().by(upstream)
        answered.set()
        await ended.wait()
        assert (await Call().by(upstream)).body == b"ok"
        assert service.connections == 2


async def test_many_requests_at_once_each_get_their_own_answer_over_few_connections() -> None:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while (message := await receive())["body"]:
            body += message["body"]
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["raw_path"] + b" %d" % len(body), "more_body": False})

    async with serving(tell) as address, Upstream("s", address) as upstream:
        for _ in range(3):
            calls = [Call("POST", b"/%d" % n, b"x" * n * 3000) for n in range(50)]
            await asyncio.gather(*(call.by(upstream) for call in calls))
            assert [call.body for call in calls] == [b"/%d %d" % (n, n * 3000) for n in range(50)]


@pytest.mark.parametrize("url", ["catalog:8000", "ftp://catalog", "http://", "http://catalog/base", "http://c?x=1"])
def test_an_address_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(StartFailure, match="The address of catalog-service must be like"):
        Upstream("catalog-service", url)

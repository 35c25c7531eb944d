"""Which answers are compressed, and that nothing of them is lost or kept back on the way."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import pytest
from stand_ins import Running, running_gateway
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message

from gateway.routing.compression import compressing

LIST = "/api/v1/requirements"
TEXT = b'{"title": "Which requirement is covered by which test"}' * 40
LONG = b"".join(b"REQ-%d,covered by TC-%d,no doubt\n" % (n, n) for n in range(5000))
ZIPS = {b"accept-encoding": b"gzip, deflate, br"}


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def running(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    async with running_gateway(deployed=request.param) as running:
        yield running


async def sent_by(app: ASGIApp, path: str = LIST, accepted: dict[bytes, bytes] = ZIPS) -> tuple[Message, list[Message]]:
    """Return the head and the parts that a client gets of an answer."""
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        messages.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "asgi": {"spec_version": "2.4"}}
    await app(scope, receive, compressing(path, accepted, send))
    return messages[0], messages[1:]


def headers_of(start: Message) -> dict[bytes, bytes]:
    headers = dict(start["headers"])
    assert len(headers) == len(start["headers"]), "none twice"
    return headers


def whole(parts: list[Message]) -> bytes:
    assert [part.get("more_body", False) for part in parts] == [*[True] * (len(parts) - 1), False]
    return b"".join(part.get("body", b"") for part in parts)


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/problem+json",
        "text/html; charset=utf-8",
        "text/csv; charset=utf-8; header=present",
        "application/vnd.traceline.matrix",
    ],
)
@pytest.mark.parametrize("content", [TEXT, LONG], ids=["short", "long"])
async def test_what_is_text_is_compressed(kind: str, content: bytes) -> None:
    answer = Response(content, headers={"ETag": '"a"'}, media_type=kind)
    start, parts = await sent_by(answer)
    headers = headers_of(start)
    body = whole(parts)
    assert gzip.decompress(body) == content
    assert len(body) < len(content) / 2
    assert headers[b"content-encoding"] == b"gzip"
    assert headers[b"vary"] == b"Accept-Encoding"
    assert headers[b"etag"] == b'"a"', "If-Match works with it"
    assert headers.get(b"content-length") == (b"%d" % len(body) if content is TEXT else None)


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        (Response(TEXT[:1023], media_type="application/json"), LIST),
        (Response(TEXT, media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"), LIST),
        (Response(TEXT, media_type="text/event-stream"), LIST),
        (Response(TEXT), LIST),
        (Response(TEXT, headers={"Content-Encoding": "br"}, media_type="text/css"), LIST),
        (Response(TEXT, 206, media_type="text/css"), LIST),
        (Response(status_code=304, headers={"ETag": '"a"'}, media_type="application/json"), LIST),
        (Response(TEXT, media_type="application/json"), "/api/v1/auth/login"),
        (Response(TEXT, media_type="application/json"), "/api/v1/auth/register"),
    ],
)
async def test_what_is_short_or_binary_or_secret_stays_as_it_is(answer: Response, path: str) -> None:
    start, parts = await sent_by(answer, path)
    assert start["headers"] == answer.raw_headers
    assert whole(parts) == answer.body


@pytest.mark.parametrize("accepted", [{}, {b"accept-encoding": b"br"}, {b"accept-encoding": b"gzip;q=0, *"}])
async def test_who_does_not_read_gzip_gets_none(accepted: dict[bytes, bytes]) -> None:
    start, parts = await sent_by(Response(TEXT, media_type="application/json"), accepted=accepted)
    assert b"content-encoding" not in headers_of(start)
    assert whole(parts) == TEXT


async def test_an_answer_without_an_end_flows_on_compressed() -> None:
    written: list[bytes] = []

    async def rows() -> AsyncIterator[bytes]:
        for number in range(3):
            row = b"row %d\n" % number
            written.append(row)
            yield row

    start, parts = await sent_by(StreamingResponse(rows(), media_type="text/csv"))
    assert headers_of(start)[b"content-encoding"] == b"gzip"
    unpacked = zlib.decompressobj(31)
    seen = [unpacked.decompress(part.get("body", b"")) for part in parts]
    assert [row for row in seen if row] == written, "each row can be read before the next is there"
    assert unpacked.eof


async def test_a_list_is_compressed_through_the_gateway_and_head_says_so(running: Running) -> None:
    token = running.issuer.token()
    path = f"{LIST}/{'x' * 2000}"
    plain = await running.get(path, token, headers={"Accept-Encoding": "identity", "X-Request-ID": "r"})
    assert "content-encoding" not in plain.headers
    response = await running.get(path, token, headers={"X-Request-ID": "r"})
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) < 700
    assert response.json()["path"] == plain.json()["path"]
    assert "accept-encoding" not in dict(response.json()["headers"])
    head = await running.get(path, token, headers={"X-Request-ID": "r"}, method="HEAD")
    assert (head.content, sorted(head.headers)) == (b"", sorted(response.headers))


async def test_the_documentation_is_compressed_and_a_session_never(running: Running) -> None:
    for path in ("/docs", "/docs/assets/swagger-ui.css"):
        response = await running.get(path)
        assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip"), path
    refused = await running.client.post("/session?" + "&".join(f"wrong{n}=1" for n in range(20)), json={})
    assert (refused.status_code, len(refused.content) > 1024) == (422, True)
    assert "content-encoding" not in refused.headers

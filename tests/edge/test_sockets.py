"""Bytes that are no proper HTTP: refused with a problem document or a closed connection, and never a second request."""

import asyncio
import random
from typing import Any

import pytest

from acceptance.client import Traceline
from acceptance.wire import Answer, say

# `{A}` stands for a right token, `{NEXT}` for a request that somebody hides behind another one.
HOST = b"Host: localhost\r\n"
GET = b"GET /livez HTTP/1.1\r\n" + HOST
POST = b"POST /api/v1/requirements HTTP/1.1\r\n" + HOST + b"{A}Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
NEXT = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
MILLION = b"x" * 1_000_000

REFUSED: dict[str, tuple[bytes, set[int]]] = {
    "the same length twice": (POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + NEXT, {400}),
    "two lengths": (POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}" + NEXT, {400}),
    "a list of lengths": (POST + b"Content-Length: 2, 2\r\n\r\n{}" + NEXT, {400}),
    "a length with a plus": (POST + b"Content-Length: +2\r\n\r\n{}" + NEXT, {400}),
    "a length in hexadecimal": (POST + b"Content-Length: 0x2\r\n\r\n{}" + NEXT, {400}),
    "a length beyond 64 bits": (POST + b"Content-Length: 99999999999999999999\r\n\r\n{}" + NEXT, {400}),
    "length and chunks": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "chunks and length": (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "chunks twice": (POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n0\r\n\r\n" + NEXT, {400}),
    "chunks not last": (POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "unknown encoding": (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "a space before the colon": (POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "two hosts": (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", {400}),
    "no host": (b"GET /livez HTTP/1.1\r\n\r\n", {400}),
    "a folded header": (GET + b"X: a\r\n b\r\n\r\n", {400}),
    "a folded encoding": (POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + NEXT, {400}),
    "bare LF": (b"GET /livez HTTP/1.1\nHost: localhost\n\n", {400}),
    "bare LF between headers": (b"GET /livez HTTP/1.1\r\nHost: localhost\nX: b\r\n\r\n", {400}),
    "bare CR between headers": (b"GET /livez HTTP/1.1\r\nHost: localhost\rX: b\r\n\r\n", {400}),
    "NUL in a value": (GET + b"X: a\0b\r\n\r\n", {400}),
    "NUL in a name": (GET + b"X\0: a\r\n\r\n", {400}),
    "no name": (GET + b": a\r\n\r\n", {400}),
    "no colon": (GET + b"abc\r\n\r\n", {400}),
    "HTTP/0.9": (b"GET /livez\r\n\r\n", {400}),
    "a version that is 0.9": (b"GET /livez HTTP/0.9\r\nHost: localhost\r\n\r\n", {400}),
    "a version that is 2.0": (b"GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n", {400}),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
    "a version to come": (b"GET /livez HTTP/9.9\r\nHost: localhost\r\n\r\n", {400}),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", {400}),
    "a target without a path": (b"GET http://elsewhere HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    "the target *": (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    "CONNECT": (b"CONNECT elsewhere:443 HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT, {400}),
    "CONNECT with a path": (b"CONNECT /livez HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT, {405}),
    "TRACE": (b"TRACE /api/v1/requirements HTTP/1.1\r\n" + HOST + b"{A}\r\n", {405}),
    "a method of another protocol": (b"PROPFIND /livez HTTP/1.1\r\n" + HOST + b"\r\n", {405}),
    "an unknown method": (b"BREW /livez HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    "a method without end": (b"G" * 100_000, {400}),
    "encoded NUL": (b"GET /api/v1/requirements/%00 HTTP/1.1\r\n" + HOST + b"{A}\r\n", {400}),
    "NUL": (b"GET /api/v1/requirements/\0 HTTP/1.1\r\n" + HOST + b"{A}\r\n", {400}),
    "an encoded slash": (b"GET /api/v1/requirements%2fx HTTP/1.1\r\n" + HOST + b"{A}\r\n", {400}),
    "a byte beyond ASCII": (b"GET /api/v1/requirements/\xff HTTP/1.1\r\n" + HOST + b"{A}\r\n", {400}),
    "a space in the path": (b"GET /li vez HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    "a path of a megabyte": (b"GET /" + MILLION + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414}),
    "a query of 70,000 bytes": (b"GET /livez?" + MILLION[:70_000] + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414}),
    "a token of a megabyte": (b"GET /api/v1/users HTTP/1.1\r\nAuthorization: Bearer " + MILLION + b"\r\n\r\n", {431}),
    "a header of two megabytes": (GET + b"X: " + MILLION * 2 + b"\r\n\r\n", {431}),
    "a header of 33,000 bytes": (GET + b"X: " + MILLION[:33_000] + b"\r\n\r\n", {431}),
    "ten headers of 20,000 bytes": (GET + (b"X: " + MILLION[:20_000] + b"\r\n") * 10 + b"\r\n", {431}),
    "10,000 headers": (GET + b"X: x\r\n" * 10_000 + b"\r\n", {431}),
    "200,000 headers": (GET + b"X: x\r\n" * 200_000 + b"\r\n", {431}),
    "a chunk of no size": (CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n" + NEXT, {400}),
    "a chunk of negative size": (CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n" + NEXT, {400}),
    "a chunk beyond 64 bits": (CHUNKED + b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n" + NEXT, {400}),
    "a chunk that is longer than it says": (CHUNKED + b"2\r\n{}}\r\n0\r\n\r\n" + NEXT, {400}),
    "chunks that end with LF": (CHUNKED + b"2\n{}\n0\n\n" + NEXT, {400}),
    "a chunk extension of 2 MB": (CHUNKED + b"2;" + MILLION * 2 + b"\r\n{}\r\n0\r\n\r\n", {400, 431}),
    "a trailer of 2 MB": (CHUNKED + b"2\r\n{}\r\n0\r\nX: " + MILLION * 2 + b"\r\n\r\n", {400, 422, 431}),
    "a token in a trailer": (
        b"GET /api/v1/users HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n{A}\r\n",
        {401},
    ),
    "a body that nobody is to wait for": (POST + b"Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", {413}),
    "an expectation without a token": (
        b"POST /api/v1/requirements HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        {401},
    ),
    "a body that ends early": (POST + b"Content-Length: 20\r\n\r\n{}", set()),
}

ANSWERED: dict[str, tuple[bytes, list[int]]] = {
    "HTTP/1.0": (b"GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n" + NEXT, [200]),
    "a whole address": (b"GET http://elsewhere/livez HTTP/1.1\r\n" + HOST + b"\r\n", [200]),
    "empty lines before it": (b"\r\n\r\n" + GET + b"\r\n", [200]),
    "two requests": (GET + b"\r\n" + NEXT, [200, 404]),
    "garbage behind it": (GET + b"\r\nGARBAGE\r\n\r\n", [200]),
    "a bad length behind it": (
        b"GET /api/v1/requirements HTTP/1.1\r\n" + HOST + b"{A}\r\n" + POST + b"Content-Length: x\r\n\r\n" + NEXT,
        [200],
    ),
    "bad chunks behind it": (GET + b"\r\n" + CHUNKED + b"zz\r\n" + NEXT, [200]),
    "a request in the body of a GET": (GET + b"Content-Length: %d\r\n\r\n" % len(NEXT) + NEXT, [200]),
    "a request in a body that nobody reads": (
        b"POST /nothing HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(NEXT) + NEXT,
        [404],
    ),
    "a web socket": (GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + NEXT, [200]),
    "h2c": (POST + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}" + NEXT, [422]),
    "a header of 32,000 bytes": (GET + b"X: " + MILLION[:32_000] + b"\r\n\r\n", [200]),
    "a small body that is waited for": (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", [422]),
}


def filled(data: bytes, user: Traceline) -> bytes:
    return data.replace(b"{A}", b"Authorization: Bearer " + str(user.token).encode() + b"\r\n")


def check(answer: Answer) -> None:
    """Assert that it is what the documentation lets a caller expect."""
    assert 200 <= answer.status < 500, answer
    assert answer.headers["x-request-id"], answer
    if answer.status >= 400:
        assert answer.media_type == "application/problem+json", answer
        assert answer.json["status"] == answer.status
        assert set(answer.json) >= {"type", "title", "detail", "instance", "code", "request_id"}


@pytest.mark.parametrize("kind", REFUSED)
async def test_what_is_no_proper_request_is_refused_once(base_url: str, reviewer: Traceline, kind: str) -> None:
    data, statuses = REFUSED[kind]
    answers = await say(base_url, filled(data, reviewer))
    for answer in answers:
        check(answer)
    assert len(answers) == bool(statuses), answers
    assert {answer.status for answer in answers} <= statuses, answers


@pytest.mark.parametrize("kind", ANSWERED)
async def test_what_is_strange_and_proper_is_answered_and_nothing_else_is(
    base_url: str, reviewer: Traceline, kind: str
) -> None:
    data, statuses = ANSWERED[kind]
    answers = await say(base_url, filled(data, reviewer))
    for answer in answers:
        check(answer)
    assert [answer.status for answer in answers] == statuses, answers


async def test_of_many_requests_at_once_the_first_hundred_are_answered(base_url: str) -> None:
    answers = await say(base_url, (GET + b"\r\n") * 1000)
    assert {answer.status for answer in answers} == {200}
    assert 100 <= len(answers) < 200


def mangled(source: random.Random, whole: list[bytes]) -> bytes:
    """One request with a few bytes of it lost, doubled, turned, or taken from another request."""
    data = bytearray(source.choice(whole))
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data) + 1)
        other = source.choice(whole)
        cut = source.randrange(len(other))
        match source.randrange(6):
            case 0:
                del data[at : at + source.randint(1, 20)]
            case 1:
                data[at:at] = data[at : at + source.randint(1, 40)]
            case 2:
                data[at : at + 1] = bytes([source.randrange(256)])
            case 3:
                data[at:at] = source.choice([b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"\t", b"%00", b";", b","])
            case 4:
                data[at:at] = other[cut : cut + source.randint(1, 60)]
            case 5:
                data[at:] = other[cut:]
    return bytes(data)


async def mangle(base_url: str, user: Traceline, count: int, seed: int) -> dict[int, int]:
    """Send so many mangled requests, 32 at once; check every answer and count them by status, none as 0."""
    source = random.Random(seed)
    everything: dict[str, tuple[bytes, Any]] = REFUSED | ANSWERED
    whole = [filled(data, user) for data, _ in everything.values() if len(data) < 1000]
    counts: dict[int, int] = {}
    requests = iter([mangled(source, whole) for _ in range(count)])

    async def send() -> None:
        for data in requests:
            answers = await say(base_url, data, listen=0.05)
            for answer in answers:
                check(answer)
                counts[answer.status] = counts.get(answer.status, 0) + 1
            if not answers:
                counts[0] = counts.get(0, 0) + 1

    async with asyncio.TaskGroup() as group:
        for _ in range(32):
            group.create_task(send())
    return counts


async def test_mangled_requests_are_answered_or_cut(base_url: str, reviewer: Traceline, memory: Any) -> None:
    with memory.growing_less_than(50):
        counts = await mangle(base_url, reviewer, 500, 1)
    assert counts[400] > 100
    assert reviewer.get("/requirements").status_code == 200


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
async def test_thousands_of_mangled_requests_leave_no_trace(
    base_url: str, reviewer: Traceline, memory: Any, seed: int
) -> None:
    with memory.growing_less_than(50):
        counts = await mangle(base_url, reviewer, 5000, seed)
    print(f"answers by status: {sorted(counts.items())}; {memory.resident() // 2**20} MiB in memory")
    assert reviewer.get("/requirements").status_code == 200

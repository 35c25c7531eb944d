"""Clients that keep connections open and say little: they are closed in the end, and nobody else waits for them."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest

from acceptance.client import Traceline
from acceptance.wire import CLOSES_WITHIN, connect

SILENT = 500
GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"


async def drip(base_url: str, begin: bytes, byte: bytes) -> bytes:
    """Send a beginning and then a byte about every half second; return what comes until the connection is closed."""
    reader, writer = await connect(base_url)
    writer.write(begin)
    answer = asyncio.create_task(reader.read())
    while not answer.done():
        writer.write(byte)
        await asyncio.wait([answer], timeout=0.5)
    writer.close()
    return b"" if answer.exception() else answer.result()


async def wait_silently(base_url: str) -> bytes:
    reader, writer = await connect(base_url)
    with suppress(ConnectionError):
        assert await reader.read() == b""
    writer.close()
    return b""


async def served(base_url: str, token: str, until: asyncio.Event) -> list[float]:
    """Ask as an ordinary client until told to stop; return how long each answer took, in seconds."""
    times = []
    headers = {"Authorization": f"Bearer {token}"}
    while not until.is_set():
        # A connection of its own: whoever comes new is served, too.
        async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=10) as client:
            began = time.perf_counter()
            response = await client.get("/api/v1/requirements?limit=5")
            times.append(time.perf_counter() - began)
            assert response.status_code == 200, response.text
        await asyncio.sleep(0.05)
    return times


async def test_slow_and_silent_clients_are_closed_and_others_are_served(
    base_url: str, reviewer: Traceline, memory: Any
) -> None:
    token = str(reviewer.token)
    post = (
        b"POST /api/v1/requirements HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + token.encode() + b"\r\n"
    )
    over = asyncio.Event()
    with memory.growing_less_than(50):
        async with asyncio.timeout(CLOSES_WITHIN), asyncio.TaskGroup() as group:
            watching = group.create_task(served(base_url, token, over))
            silent = [group.create_task(wait_silently(base_url)) for _ in range(SILENT)]
            heads = [group.create_task(drip(base_url, GET + b"X: ", b"x")) for _ in range(20)]
            lines = [group.create_task(drip(base_url, b"", b"\r\n")) for _ in range(5)]
            bodies = [
                group.create_task(drip(base_url, post + b"Content-Length: 9999\r\n\r\n", b"x")) for _ in range(20)
            ]
            chunks = [
                group.create_task(drip(base_url, post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"))
                for _ in range(20)
            ]
            await asyncio.wait([*silent, *heads, *lines, *bodies, *chunks])
            over.set()
    for answer in [*heads, *bodies, *chunks]:
        assert answer.result().startswith(b"HTTP/1.1 408 "), answer.result()
        assert b"application/problem+json" in answer.result()
    assert all(answer.result() == b"" for answer in lines)
    times = sorted(watching.result())
    print(f"{len(times)} others were served, the slowest in {times[-1] * 1000:.0f} ms")
    assert len(times) > 1


async def ask_without_listening(base_url: str) -> float:
    """Ask for much and read nothing of it until the connection is cut; return how many seconds that took."""
    began = time.monotonic()
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    _, writer = await connect(base_url)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(request * 500)
    # What is still to be sent fails when the other side has gone.
    while not writer.is_closing():
        writer.write(request)
        await asyncio.sleep(0.5)
    return time.monotonic() - began


@pytest.mark.long
async def test_clients_that_do_not_read_their_answers_are_cut(base_url: str, memory: Any) -> None:
    with memory.growing_less_than(50):
        async with asyncio.timeout(2 * CLOSES_WITHIN):
            times = await asyncio.gather(*(ask_without_listening(base_url) for _ in range(50)))
    print(f"cut after {min(times):.0f} to {max(times):.0f} s; {memory.resident() // 2**20} MiB in memory")

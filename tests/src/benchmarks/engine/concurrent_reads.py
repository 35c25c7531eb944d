"""What other requests wait while a run is under way."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from benchmarks.load import Measured, request, run

PATH = "/api/v1/requirements?limit=20"
CONNECTIONS = 8
_SLICE = 1.0

Answer = TypeVar("Answer")


async def reading_alone(port: int, token: str, slices: int = 3) -> Measured:
    """Read lists for some seconds."""
    return Measured.joined([await _read(port, token) for _ in range(slices)])


async def reading(port: int, token: str, work: Awaitable[Answer]) -> tuple[Answer, Measured]:
    """Read lists until the work is done; return what it gave, and what the reading took."""
    working = asyncio.ensure_future(work)
    slices = [await _read(port, token)]
    while not working.done():
        slices.append(await _read(port, token))
    return await working, Measured.joined(slices)


async def _read(port: int, token: str) -> Measured:
    asked = request("GET", PATH, token)
    return await run(port, lambda: asked, connections=CONNECTIONS, seconds=_SLICE)

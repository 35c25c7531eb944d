"""Long work on the event loop, in turns with everybody else's."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

TURN = 0.0005
"""Seconds of work after which others in the process are let in."""

T = TypeVar("T")


async def take_turns(rows: Iterable[T]) -> AsyncIterator[T]:
    """Yield rows, and let others in whenever the work on them has taken half a millisecond."""
    began = time.perf_counter()
    for row in rows:
        yield row
        if time.perf_counter() - began > TURN:
            await asyncio.sleep(0)
            began = time.perf_counter()

"""Long work on the event loop, in turns with everybody else's."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TypeVar

TURN = 0.0002
"""Seconds of work after which others in the process are let in."""
_IDLE = 0.00005
"""Seconds of a turn of the event loop in which others had nothing to do."""
_LONGEST = 0.005
"""Seconds for which others are let in at a time: among many long works each goes on."""

T = TypeVar("T")


async def let_others_in() -> None:
    """Wait until others on the event loop have nothing to do but to wait, a few milliseconds at most."""
    now = time.perf_counter()
    ends = now + _LONGEST
    while now < ends:
        began = now
        await asyncio.sleep(0)
        now = time.perf_counter()
        if now - began < _IDLE:
            return


async def take_turns(rows: Iterable[T]) -> AsyncIterator[T]:
    """Yield rows, and let others in whenever the work on them has taken a turn."""
    began = time.perf_counter()
    for row in rows:
        yield row
        if time.perf_counter() - began > TURN:
            await let_others_in()
            began = time.perf_counter()


def drain(rows: list[T]) -> Iterator[T]:
    """Yield what is in a list, and let go of each: so that it is not freed all at once."""
    rows.reverse()
    while rows:
        yield rows.pop()

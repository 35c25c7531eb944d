"""Work of a request that takes a thread for long: it ends with the request, and is one at once for each user."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from chassis.core.request_context import actor_id
from chassis.core.turns import TURN

T = TypeVar("T")

_THREADS = 2
"""Such jobs at once in a process: Python runs one at a time, so more would only make each of them later."""
_PAUSE = TURN / 2
"""Seconds for which a thread lets others in."""
_LONGEST_REST = 1.0
"""Seconds after such work in which the same user has no other."""

_threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="costly")
_turns: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()


class Deadline:
    """Tells work in a thread when it has to end: when its time is over, or when nobody waits for it any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ended = False
        self._end: float | None = None
        self._paused = 0.0

    def end(self) -> None:
        """Have the work end as soon as it looks."""
        self._ended = True

    def is_over(self) -> bool:
        """Check whether the work has to end, and let others in; to be called each some hundred microseconds.

        The time counts from the first look, without that in which others were let in.
        """
        now = time.monotonic()
        if self._end is None:
            self._end, self._paused = now + self._seconds, now
        if now - self._paused > TURN:
            time.sleep(_PAUSE)
            self._paused = time.monotonic()
            self._end += self._paused - now
        return self._ended or now > self._end


async def in_thread(seconds: float, work: Callable[[Deadline], T]) -> T:
    """Return what `work` returns, from a thread, once no other such work of the same user is under way.

    The next one waits twice as long as this one took: whoever sends one after another takes a third of the process.
    It has to look at its deadline, and returns what it has by then; the deadline is over, too, when the caller is
    cancelled.
    """
    deadline = Deadline(seconds)
    async with _turn():
        try:
            return await asyncio.get_running_loop().run_in_executor(_threads, work, deadline)
        finally:
            deadline.end()


@asynccontextmanager
async def _turn() -> AsyncIterator[None]:
    key = asyncio.get_running_loop(), actor_id.get()
    turn = _turns.get(key)
    if turn is None:
        turn = _turns[key] = asyncio.Lock()
    await turn.acquire()
    began = time.monotonic()
    try:
        yield
    finally:
        rest = min(2 * (time.monotonic() - began), _LONGEST_REST)
        asyncio.get_running_loop().call_later(rest, turn.release)

"""Equal reads that arrive together are one read."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class SharedReads(Generic[V]):
    """Lets equal reads share a query that begins after each of them was asked for.

    So a caller always sees what was committed before they asked. A read waits for no other than its equal.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[V]] = {}
        self._running: dict[Hashable, asyncio.Task[V]] = {}

    async def share(self, key: Hashable, read: Callable[[], Awaitable[V]]) -> V:
        """Give the value of `read`, or that of an equal one (by `key`) that has not begun yet."""
        task = self._waiting.get(key)
        if task is None:
            task = asyncio.create_task(self._run(key, read, self._running.get(key)))
            self._waiting[key] = task
        # Shielded: one caller who gives up must not take the answer from the others.
        return await asyncio.shield(task)

    async def _run(self, key: Hashable, read: Callable[[], Awaitable[V]], before: asyncio.Task[V] | None) -> V:
        if before is not None:
            await asyncio.wait([before])
        self._running[key] = self._waiting.pop(key)
        try:
            return await read()
        finally:
            del self._running[key]

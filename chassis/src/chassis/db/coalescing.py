"""Many small reads that arrive together, answered by one query."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Coalesced(Generic[K, V]):
    """Loads values by key; keys asked for while a query is under way share the next one.

    A query starts after each of its keys was asked for, so that a caller always reads their own writes. A
    single caller waits no longer than with a query of their own; 32 at once cost one query, not 32.
    """

    def __init__(self, load: Callable[[list[K]], Awaitable[Mapping[K, V]]]) -> None:
        """`load` takes distinct keys and gives the values of those that exist."""
        self._load = load
        self._waiting: dict[K, asyncio.Future[V | None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def get(self, key: K) -> V | None:
        """Return the value of `key`, or None when there is none."""
        future = self._waiting.get(key)
        if future is None:
            future = asyncio.get_running_loop().create_future()
            self._waiting[key] = future
            if self._task is None:
                self._task = asyncio.create_task(self._run())
        # Shielded: one caller who gives up must not take the answer from the others.
        return await asyncio.shield(future)

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, {}
                try:
                    found = await self._load(list(batch))
                except Exception as error:  # noqa: BLE001 - handed to everyone who waits
                    for future in batch.values():
                        future.set_exception(error)
                        future.exception()
                else:
                    for key, future in batch.items():
                        future.set_result(found.get(key))
        finally:
            self._task = None

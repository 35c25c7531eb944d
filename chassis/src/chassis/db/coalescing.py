"""Many small reads that arrive together, answered by one query."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Generic, TypeVar

from chassis.core import projects

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Coalesced(Generic[K, V]):
    """Loads values by key; keys asked for while a query is under way share the next one.

    A query starts after each of its keys was asked for, so that a caller always reads their own writes. A
    single caller waits no longer than with a query of their own; 32 at once cost one query, not 32. Callers of
    different projects share nothing.
    """

    def __init__(self, load: Callable[[list[K]], Awaitable[Mapping[K, V]]]) -> None:
        """`load` takes distinct keys and gives the values of those that exist."""
        self._load = load
        self._waiting: dict[str, dict[K, asyncio.Future[V | None]]] = {}
        """By project, what is asked for next; there while something is under way."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, key: K) -> V | None:
        """Return the value of `key`, or None when there is none."""
        project = projects.current.get()
        waiting = self._waiting.get(project)
        if waiting is None:
            waiting = self._waiting[project] = {}
            # It works in the project of the caller who begins it.
            task = asyncio.create_task(self._run(project))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        future = waiting.get(key)
        if future is None:
            future = asyncio.get_running_loop().create_future()
            waiting[key] = future
        # Shielded: one caller who gives up must not take the answer from the others.
        return await asyncio.shield(future)

    async def _run(self, project: str) -> None:
        while batch := self._waiting[project]:
            self._waiting[project] = {}
            try:
                found = await self._load(list(batch))
            except Exception as error:  # noqa: BLE001 - handed to everyone who waits
                for future in batch.values():
                    future.set_exception(error)
                    future.exception()
            else:
                for key, future in batch.items():
                    future.set_result(found.get(key))
        del self._waiting[project]

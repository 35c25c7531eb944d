"""The loops of a service that run beside its HTTP app."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0

Loop = Callable[[], Awaitable[None]]


class Worker:
    """Runs loops until it is stopped; a loop that fails is logged and begun again after a growing pause."""

    def __init__(self) -> None:
        self._loops: dict[str, Loop] = {}

    def add(self, name: str, loop: Loop) -> None:
        """Add a loop that runs for ever."""
        self._loops[name] = loop

    def every(self, name: str, seconds: float, work: Loop) -> None:
        """Add work that is done now and then again `seconds` after it was done."""

        async def repeat() -> None:
            while True:
                await work()
                await asyncio.sleep(seconds)

        self.add(name, repeat)

    async def run(self) -> None:
        """Run all loops until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, loop in self._loops.items():
                group.create_task(_supervised(name, loop), name=name)


async def _supervised(name: str, loop: Loop) -> None:
    pause = _FIRST_PAUSE
    clock = asyncio.get_running_loop()
    while True:
        began = clock.time()
        try:
            await loop()
        except Exception:  # noqa: BLE001 - a loop must outlive whatever it met
            if clock.time() - began > _LONGEST_PAUSE:
                pause = _FIRST_PAUSE
            _log.exception("%s failed; again in %.1f s", name, pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)

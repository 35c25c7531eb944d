"""The loops of a service that run beside its HTTP app."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from chassis.core.backoff import Backoff
from chassis.core.problems import StorageFull
from chassis.core.tasks import cancel_and_wait
from chassis.db.database import AWAY
from chassis.db.refusals import is_of_full_storage
from chassis.observability.collectors import GaugeCollector

_log = logging.getLogger(__name__)

Loop = Callable[[], Awaitable[None]]


class Leadership(Protocol):
    """Decides which of several workers does what only one of them may do."""

    async def run_as_leader(self, work: Loop) -> None:
        """Run `work` whenever this worker leads, and cancel it when it does no more; for ever."""


class Worker:
    """Runs loops until it is stopped; a loop that fails is logged and begun again after a growing pause.

    What is `leader_only` is done by one worker of a service at a time.
    """

    def __init__(self) -> None:
        self._shared: dict[str, Loop] = {}
        self._led: dict[str, Loop] = {}
        self.collectors: list[GaugeCollector] = []
        """What can be measured of what the loops do."""

    def add(self, name: str, loop: Loop, *, leader_only: bool = False) -> None:
        """Add a loop that runs for ever."""
        (self._led if leader_only else self._shared)[name] = loop

    def every(self, name: str, seconds: float, work: Loop, *, leader_only: bool = False) -> None:
        """Add work that is done now and then again `seconds` after it was done."""

        async def repeat() -> None:
            while True:
                await work()
                await asyncio.sleep(seconds)

        self.add(name, repeat, leader_only=leader_only)

    async def run(self, leadership: Leadership | None = None) -> None:
        """Run all loops until cancelled. Without `leadership` there is no other worker."""
        if leadership is None:
            await _run(self._shared | self._led)
            return

        async def lead() -> None:
            await leadership.run_as_leader(lambda: _run(self._led))

        await _run({**self._shared, "leadership": lead})


async def _run(loops: dict[str, Loop]) -> None:
    tasks = [asyncio.create_task(_supervised(name, loop), name=name) for name, loop in loops.items()]
    try:
        await asyncio.gather(*(asyncio.shield(task) for task in tasks))
    finally:
        await cancel_and_wait(*tasks)


async def _supervised(name: str, loop: Loop) -> None:
    backoff = Backoff(first=0.2)
    clock = asyncio.get_running_loop()
    while True:
        began = clock.time()
        try:
            await loop()
        except Exception as error:  # noqa: BLE001 - a loop must outlive whatever it met
            backoff.restart_after(clock.time() - began)
            if is_of_full_storage(error) or isinstance(error, StorageFull):  # which the log has, once
                _log.info("%s pauses for %.1f s: nothing can be stored", name, backoff.seconds)
            elif isinstance(error, AWAY):
                _log.warning("%s pauses for %.1f s: %s", name, backoff.seconds, error)
            else:
                _log.exception("%s failed; again in %.1f s", name, backoff.seconds)
        await backoff.wait()

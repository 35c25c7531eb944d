"""How much memory each program of the stack holds, looked at again and again."""

import asyncio
import multiprocessing
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from acceptance.stack import RunningStack
from acceptance.stack_folder import StackFolder
from benchmarks.idle import programs

_MB = 1e6


def held(folder: Path, parent: int) -> Counter[str]:
    """Return the bytes that each program of a stack holds alone, the processes included that it has started.

    What is shared is left out: a backend of PostgreSQL comes to hold more of the one cache with each page that it
    reads.

    Args: ``folder`` is the data folder of the stack, ``parent`` the process that started it.
    """
    found: Counter[str] = Counter()
    for process, program in programs(StackFolder(folder), parent):
        with suppress(psutil.NoSuchProcess):
            memory = process.memory_info()
            found[program] += memory.rss - memory.shared
    return found


@dataclass(frozen=True)
class Growth:
    """What a program held when it was first looked at after warming up, at the end, at most, and how that grew."""

    program: str
    first: float
    last: float
    most: float
    per_minute: float
    """By the straight line that fits best; all in MB."""


class Watch:
    """Looks at all programs while something goes on, from a process of its own: it must not hold up who measures."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._looks: list[tuple[float, Counter[str]]] = []

    @asynccontextmanager
    async def over(self, stack: RunningStack) -> AsyncIterator[None]:
        """Look at them until the block ends."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            watching = asyncio.create_task(self._look(stack, pool))
            try:
                yield
            finally:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching

    async def _look(self, stack: RunningStack, pool: ProcessPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        while True:
            found = await loop.run_in_executor(pool, held, stack.data_dir, stack.pid)
            self._looks.append((time.monotonic(), found))
            await asyncio.sleep(self._every)

    def growth(self, after: float) -> list[Growth]:
        """Return what became of each program from so many seconds after the first look on."""
        return growth(self._looks, after)


def growth(looks: Sequence[tuple[float, Counter[str]]], after: float) -> list[Growth]:
    """Return what became of each program, by looks (at a second, the bytes of each), who grew most first."""
    began = looks[0][0] + after
    warm = [(at, found) for at, found in looks if at >= began] or [looks[-1]]
    minutes = np.array([at - began for at, _ in warm]) / 60
    edge = max(1, len(warm) // 10)
    grown = []
    for program in warm[-1][1]:
        sizes = np.array([found[program] for _, found in warm]) / _MB
        slope = float(np.polyfit(minutes, sizes, 1)[0]) if len(warm) > 2 else 0.0
        first, last = float(np.median(sizes[:edge])), float(np.median(sizes[-edge:]))
        grown.append(Growth(program, first, last, float(sizes.max()), slope))
    return sorted(grown, key=lambda one: -one.per_minute)

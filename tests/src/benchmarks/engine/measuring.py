"""Time and memory of a piece of work, each in a fresh process, with an end to the patience."""

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import psutil

_LOOK = 0.003
"""Seconds between looks at the memory of the process."""
_ENOUGH_ROUNDS = 3
_ENOUGH_SECONDS = 5.0

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class TooSlow(Exception):
    """The work was not done in time; its process is gone."""


@dataclass
class Part:
    """A part of a job that was watched; its seconds are known at its end."""

    seconds: float = 0.0


@dataclass(frozen=True)
class Measured(Generic[Value]):
    """What a job gave, the seconds of each of its measured parts, and its peak memory above what it began with."""

    value: Value
    seconds: list[float]
    peak: int

    @property
    def median(self) -> float:
        """Seconds of a part, where all parts are the same work."""
        return statistics.median(self.seconds)


class Watch:
    """What a job measures itself with."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._process = psutil.Process()

    @contextmanager
    def __call__(self) -> Iterator[Part]:
        """Measure the block."""
        part = Part()
        self._connection.send(("begins", self._process.memory_info().rss))
        began = time.perf_counter()
        yield part
        part.seconds = time.perf_counter() - began
        self._connection.send(("ends", (part.seconds, self._process.memory_info().rss)))

    def rounds(self) -> Iterator[None]:
        """Return a few turns for the same work, one when it is long."""
        began = time.perf_counter()
        for _ in range(_ENOUGH_ROUNDS):
            yield
            if time.perf_counter() - began > _ENOUGH_SECONDS:
                return


Job = Callable[Concatenate[Watch, Arguments], Value]


def measure(
    job: Job[Arguments, Value], within: float, *arguments: Arguments.args, **named: Arguments.kwargs
) -> Measured[Value]:
    """Run a function of some module in a process of its own, and measure what it watches.

    Raises:
        TooSlow: it has not ended within so many seconds.
        RuntimeError: it failed; why is on the terminal.
    """
    spawn = multiprocessing.get_context("spawn")
    ours, its = spawn.Pipe()
    child = spawn.Process(target=_run, args=(its, job, arguments, named), daemon=True)
    child.start()
    its.close()
    try:
        return _follow(ours, psutil.Process(child.pid), time.monotonic() + within)
    except EOFError:
        child.join()
        raise RuntimeError(f"The measured process of {job.__name__} ended with code {child.exitcode}.") from None
    finally:
        child.kill()
        child.join()
        ours.close()


def _follow(connection: Connection, process: psutil.Process, end: float) -> Measured[Any]:
    seconds: list[float] = []
    base = peak = 0
    watched = False
    while time.monotonic() < end:
        if not connection.poll(_LOOK):
            if watched:
                peak = max(peak, process.memory_info().rss - base)
            continue
        word, value = connection.recv()
        if word == "begins":
            base, watched = value, True
        elif word == "ends":
            seconds.append(value[0])
            peak, watched = max(peak, value[1] - base), False
        else:
            return Measured(value, seconds, peak)
    raise TooSlow


def _run(connection: Connection, job: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    connection.send(("value", job(Watch(connection), *arguments, **named)))

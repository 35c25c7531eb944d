"""A consumer is slow and ten thousand events wait for it: its memory is bounded, and the API does not notice."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import psycopg
import pytest

from acceptance.client import API, Traceline
from acceptance.faults.databases import value
from acceptance.faults.invariants import Hold
from acceptance.stack import RunningStack
from benchmarks import load

EVENTS = 10_000
REQUIREMENTS = 32
ROOM = 64 * 2**20
"""Bytes by which the consumer may grow: some batches of events, and what Python keeps."""
HELD_FOR = 5.0


@pytest.mark.long
def test_ten_thousand_events_wait_for_a_slow_consumer(stack: RunningStack, admin: Traceline, hold: Hold) -> None:
    assert admin.token is not None
    items = [admin.create_requirement()["id"] for _ in range(REQUIREMENTS)]
    hold()
    usual = reading(stack, admin.token, items)
    memory = Memory(stack.pids()["notification-worker"])
    with slowed_down(stack, "notification"), memory.watched():
        while lag(stack) < EVENTS:
            asyncio.run(load.run(stack.port, changes(admin.token, items), connections=16, seconds=5))
        while_waiting = reading(stack, admin.token, items)
        assert lag(stack) > EVENTS // 2, "it was not slow enough"
    with memory.watched():
        hold()
    print(
        f"p99 {usual.percentile(0.99):.1f} ms, while they wait {while_waiting.percentile(0.99):.1f} ms;"
        f" the consumer grew by {memory.grown / 2**20:.1f} MiB"
    )
    assert while_waiting.errors == 0
    assert while_waiting.percentile(0.99) < 2 * usual.percentile(0.99)
    assert memory.grown < ROOM


class Memory:
    """How much a process grows."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._before = self._process.memory_info().rss
        self.grown = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.2):
                self.grown = max(self.grown, self._process.memory_info().rss - self._before)

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()


@contextmanager
def slowed_down(stack: RunningStack, queue: str) -> Iterator[None]:
    """Inside, batches of this inbox wait for a lock that somebody else has nearly all the time."""
    over = threading.Event()

    def hold_the_lock() -> None:
        with psycopg.connect(stack.database_url(f"{queue}-service")) as connection:
            while not over.is_set():
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"inbox:{queue}"])
                    over.wait(HELD_FOR)

    holding = threading.Thread(target=hold_the_lock)
    holding.start()
    try:
        yield
    finally:
        over.set()
        holding.join()


def changes(token: str, items: list[str]) -> Callable[[], bytes]:
    """Requests of which each changes something that scoring does not read, so that the load is that of the events."""
    numbers = itertools.count()

    def make() -> bytes:
        number = next(numbers)
        path = f"{API}/requirements/{items[number % len(items)]}"
        body = b'{"source_system":"s%d"}' % number
        return load.request("PATCH", path, token, body)

    return make


def reading(stack: RunningStack, token: str, items: list[str]) -> load.Measured:
    one = load.request("GET", f"{API}/requirements/{items[0]}", token)
    return asyncio.run(load.run(stack.port, lambda: one, connections=4, seconds=10))


def lag(stack: RunningStack) -> int:
    """How many of catalog's events notification-service has not received."""
    head = value(stack, "catalog", "SELECT head FROM feed_head")
    received = value(stack, "notification", "SELECT position FROM inbox_positions WHERE source = 'catalog'")
    waiting: int = head - received
    return waiting

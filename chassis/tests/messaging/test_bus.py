"""Every adapter of the bus keeps the promises of the port."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from chassis.messaging.bus import Bus, Publication
from chassis.messaging.bus.in_process import InProcessBus
from testing import NewRabbitMQBus


class Consumer:
    """Takes events or jobs, after it refused the first deliveries."""

    def __init__(self, refuses: int = 0) -> None:
        self._refuses = refuses
        self._got: list[bytes] = []
        self._news = asyncio.Event()
        self._busy = False

    async def deliver(self, batch: Sequence[bytes]) -> None:
        assert not self._busy, "one batch at a time"
        self._busy = True
        await asyncio.sleep(0)
        self._busy = False
        if self._refuses:
            self._refuses -= 1
            raise ConnectionError("not now")
        self._got.extend(batch)
        self._news.set()

    async def work(self, job: bytes) -> None:
        await self.deliver([job])
        if job == b"bad":
            raise ValueError("a bad job")

    async def gets(self, *expected: bytes) -> None:
        """Wait until as much came as is expected; it must be just that."""
        async with asyncio.timeout(120):
            while len(self._got) < len(expected):
                await self._news.wait()
                self._news.clear()
        assert self._got == list(expected)


@pytest.fixture
async def in_process() -> AsyncIterator[Bus]:
    """The adapter of the embedded run."""
    bus = InProcessBus()
    yield bus
    await bus.stop()


@pytest.fixture
def over_rabbitmq(new_rabbitmq_bus: NewRabbitMQBus) -> Bus:
    """The adapter of processes."""
    return new_rabbitmq_bus()


@pytest.fixture(params=["in_process", "over_rabbitmq"])
def bus(request: pytest.FixtureRequest) -> Bus:
    """Every adapter of the port."""
    adapter: Bus = request.getfixturevalue(request.param)
    return adapter


async def test_the_bus_delivers_again_until_the_consumer_takes_it_and_keeps_the_order(bus: Bus) -> None:
    consumer = Consumer(2)
    bus.subscribe("refusing", frozenset({"test"}), consumer.deliver)
    await bus.start()
    await bus.publish([Publication("test.a", b"1"), Publication("test.b", b"2")])
    await bus.publish([Publication("test.a", b"3")])
    await consumer.gets(b"1", b"2", b"3")


async def test_many_events_of_all_sizes_keep_their_order(bus: Bus) -> None:
    consumer = Consumer()
    bus.subscribe("orderly", frozenset({"test"}), consumer.deliver)
    await bus.start()
    events = [
        b"%d " % number + b"x" * (number * 7919 % 300_000 if number % 50 == 0 else number) for number in range(1500)
    ]
    await bus.publish([Publication("test.a", event) for event in events])
    await consumer.gets(*events)


async def test_the_bus_delivers_to_every_queue_what_its_sources_tell(bus: Bus) -> None:
    one, other, rest = Consumer(), Consumer(1), Consumer()
    bus.subscribe("one", frozenset({"test"}), one.deliver)
    bus.subscribe("other", frozenset({"test", "more"}), other.deliver)
    bus.subscribe("rest", frozenset({"else"}), rest.deliver)
    await bus.start()
    await bus.publish([Publication("test.a", b"1"), Publication("more.a", b"2"), Publication("else.a", b"3")])
    await bus.publish([Publication("test.of.more.words", b"4")])
    await one.gets(b"1", b"4")
    await other.gets(b"1", b"2", b"4")
    await rest.gets(b"3")


async def test_a_queue_has_one_subscription(bus: Bus) -> None:
    bus.subscribe("one", frozenset({"test"}), Consumer().deliver)
    with pytest.raises(ValueError, match="already"):
        bus.subscribe("one", frozenset({"test"}), Consumer().deliver)
    await bus.start()


async def test_publishers_wait_until_the_bus_starts(bus: Bus) -> None:
    consumer = Consumer()
    bus.subscribe("late", frozenset({"test"}), consumer.deliver)
    publishing = asyncio.create_task(bus.publish([Publication("test.a", b"1")]))
    await asyncio.sleep(0.05)
    assert not publishing.done()
    await bus.start()
    await publishing
    await consumer.gets(b"1")


async def test_a_job_that_fails_is_given_up_and_the_next_one_is_done(bus: Bus) -> None:
    worker = Consumer()
    bus.take_part("jobs", worker.work)
    await bus.start()
    await bus.send("jobs", b"bad")
    await bus.send("jobs", b"good")
    await worker.gets(b"bad", b"good")


async def test_a_job_for_nobody_is_lost_without_an_error(bus: Bus) -> None:
    await bus.start()
    await bus.send("nobody", b"job")


async def test_jobs_are_done_one_at_a_time_in_the_order_of_their_coming(bus: Bus) -> None:
    worker = Consumer()
    bus.take_part("jobs", worker.work)
    await bus.start()
    jobs = [b"%d" % number for number in range(20)]
    for job in jobs:
        await bus.send("jobs", job)
    await worker.gets(*jobs)


async def test_stopping_lets_a_delivery_finish_and_can_be_done_twice(bus: Bus) -> None:
    began, finished = asyncio.Event(), asyncio.Event()

    async def slow(batch: Sequence[bytes]) -> None:
        began.set()
        await asyncio.sleep(0.2)
        finished.set()

    bus.subscribe("slow", frozenset({"test"}), slow)
    await bus.start()
    publishing = asyncio.create_task(bus.publish([Publication("test.a", b"1")]))
    async with asyncio.timeout(120):
        await began.wait()
        await bus.stop()
        await bus.stop()
        await finished.wait()
        await publishing

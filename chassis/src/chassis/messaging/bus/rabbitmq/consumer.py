"""Consuming: what has arrived is delivered as a batch and acknowledged together, again and again until taken.

Nothing is ever given back to the broker: it would count that, and throw events away after some times. What was not
acknowledged when the connection ends comes again by itself.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

from aio_pika.abc import AbstractChannel
from aiormq.abc import DeliveredMessage

from chassis.core.backoff import Backoff
from chassis.db.refusals import is_of_full_storage
from chassis.messaging.bus import Deliver, Work
from chassis.messaging.bus.rabbitmq.broker import Broker, BrokerAway
from chassis.messaging.bus.rabbitmq.topology import Topology

_log = logging.getLogger(__name__)
DECLARE_WITHIN = 30.0
_FINISH_WITHIN = 10.0
"""Seconds that a delivery under way has when the bus stops."""


class Consumer(ABC):
    """Consumes one queue, over a connection of its own, until it is stopped; connects again after an outage."""

    prefetch: int
    """How many messages may be here without being acknowledged: the bound of the memory they take."""
    at_once: int
    """How many of them are delivered together."""

    def __init__(self, broker: Broker, topology: Topology, queue: str) -> None:
        self.queue = queue
        self._broker = broker
        self._topology = topology
        self._task: asyncio.Task[None] | None = None
        self._delivering = False
        self._stopping = False

    @abstractmethod
    async def declare(self, channel: AbstractChannel) -> None:
        """Declare the queue."""

    @abstractmethod
    async def deliver(self, batch: Sequence[bytes]) -> None:
        """Hand over; what raises is delivered again."""

    def start(self) -> None:
        """Consume in the background."""
        self._task = asyncio.create_task(self._run(), name=f"consuming {self.queue}")

    async def stop(self) -> None:
        """Stop; what is being delivered may finish, and is then acknowledged."""
        self._stopping = True
        if self._task is None:
            return
        if self._delivering:
            await asyncio.wait({self._task}, timeout=_FINISH_WITHIN)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        clock, backoff = asyncio.get_running_loop(), Backoff()
        while not self._stopping:
            began = clock.time()
            try:
                async with self._broker.channel(f"consuming {self.queue}") as channel:
                    await self._consume(channel)
            except BrokerAway as away:
                backoff.restart_after(clock.time() - began)
                _log.warning("%s %s is consumed again in %.1f s.", away, self.queue, backoff.seconds)
            except Exception:  # noqa: BLE001 - consuming must outlive whatever it met
                _log.exception("Consuming %s failed; again in %.1f s", self.queue, backoff.seconds)
            else:
                return
            await backoff.wait()

    async def _consume(self, channel: AbstractChannel) -> None:
        arrived = _Arrived()
        underlay = await channel.get_underlay_channel()
        underlay.closing.add_done_callback(lambda _: arrived.end())
        underlay.on_consumer_cancel_callbacks.add(lambda _: arrived.end())
        async with asyncio.timeout(DECLARE_WITHIN):
            await self.declare(channel)
            await channel.set_qos(prefetch_count=self.prefetch)
            await underlay.basic_consume(self._topology.queue(self.queue), arrived.add)
        while not self._stopping:
            batch = await arrived.take(self.at_once)
            if not batch:
                raise BrokerAway(f"RabbitMQ at {self._broker.place} has ended the connection or deleted the queue.")
            try:
                if await self._delivered([message.body for message in batch], arrived):
                    await underlay.basic_ack(_tag(batch[-1]), multiple=True)
            finally:
                self._delivering = False

    async def _delivered(self, batch: Sequence[bytes], arrived: "_Arrived") -> bool:
        """Deliver until it is taken; False when the broker will send the batch again, or the bus stops."""
        backoff = Backoff()
        while not arrived.ended.is_set() and not self._stopping:
            self._delivering = True
            try:
                await self.deliver(batch)
            except Exception as error:  # noqa: BLE001 - whatever it was, the events must not be lost
                self._delivering = False
                _log.log(
                    logging.INFO if is_of_full_storage(error) else logging.WARNING,  # which the log has, once
                    "%s did not take %d events: %s; again in %.1f s",
                    *(self.queue, len(batch), error, backoff.seconds),
                )
            else:
                return True
            await backoff.wait(unless=arrived.ended)
        return False


class EventConsumer(Consumer):
    """Delivers events in order."""

    prefetch = 500
    at_once = 250

    def __init__(
        self, broker: Broker, topology: Topology, queue: str, sources: frozenset[str], deliver: Deliver
    ) -> None:
        super().__init__(broker, topology, queue)
        self._sources = sources
        self._deliver = deliver

    async def declare(self, channel: AbstractChannel) -> None:
        """See Consumer.declare."""
        await self._topology.declare_events(channel, self.queue, self._sources)

    async def deliver(self, batch: Sequence[bytes]) -> None:
        """See Consumer.deliver."""
        await self._deliver(batch)


class JobConsumer(Consumer):
    """Has jobs done, one at a time."""

    prefetch = 1
    at_once = 1

    def __init__(self, broker: Broker, topology: Topology, queue: str, work: Work) -> None:
        super().__init__(broker, topology, queue)
        self._work = work

    async def declare(self, channel: AbstractChannel) -> None:
        """See Consumer.declare."""
        await self._topology.declare_jobs(channel, self.queue)

    async def deliver(self, batch: Sequence[bytes]) -> None:
        """See Consumer.deliver. A job that fails is given up."""
        for job in batch:
            try:
                await self._work(job)
            except Exception as error:  # noqa: BLE001 - the database still says what there is to do
                if is_of_full_storage(error):  # which the log has, once
                    _log.info("A job of %s waits for room", self.queue)
                else:
                    _log.exception("A job of %s failed", self.queue)


class _Arrived:
    """The messages that came over one channel and wait to be delivered, at most the prefetch."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._messages: deque[DeliveredMessage] = deque()
        self._news = asyncio.Event()

    async def add(self, message: DeliveredMessage) -> None:
        self._messages.append(message)
        self._news.set()

    def end(self) -> None:
        """Signal that nothing more comes, and nothing can be acknowledged any more."""
        self._messages.clear()
        self.ended.set()
        self._news.set()

    async def take(self, most: int) -> list[DeliveredMessage]:
        """Wait for messages and give up to `most`; none when the channel has ended."""
        await self._news.wait()
        batch = [self._messages.popleft() for _ in range(min(most, len(self._messages)))]
        if not self._messages and not self.ended.is_set():
            self._news.clear()
        return batch


def _tag(message: DeliveredMessage) -> int:
    tag = message.delivery_tag
    assert tag is not None, "the broker numbers what it delivers"
    return tag

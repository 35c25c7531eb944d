"""The bus over RabbitMQ, 3.10.8 or later: events in order through one queue a consumer, jobs shared out."""

import asyncio
import logging
from collections.abc import Sequence
from ssl import SSLContext

from chassis.core.start_failure import StartFailure
from chassis.messaging.bus import Deliver, NotPublished, Publication, Work
from chassis.messaging.bus.rabbitmq.broker import Broker, BrokerAway, BrokerRefuses
from chassis.messaging.bus.rabbitmq.consumer import DECLARE_WITHIN, Consumer, EventConsumer, JobConsumer
from chassis.messaging.bus.rabbitmq.publisher import Publisher
from chassis.messaging.bus.rabbitmq.topology import Topology
from chassis.messaging.bus.rabbitmq.users import NAME

_log = logging.getLogger(__name__)


class RabbitMQBus:
    """Publishes with confirms and consumes with acknowledgements, each kind on connections of its own.

    An outage is waited for: publishing raises meanwhile, consuming goes on by itself.
    """

    def __init__(self, url: str, *, name: str = NAME, believes: SSLContext | None = None) -> None:
        """`url`: amqp(s)://user:password@host:port/vhost; `name`: what exchange and queues begin with.

        `believes`: by whom a broker of amqps is known, the authorities of the system when None.
        """
        self._url = url
        self._believes = believes
        self.topology = Topology(name)
        self._subscriptions: dict[str, tuple[frozenset[str], Deliver]] = {}
        self._work: dict[str, Work] = {}
        self._started = asyncio.Event()
        self._publisher: Publisher | None = None
        self._consumers: list[Consumer] = []

    @property
    def queues(self) -> frozenset[str]:
        """The queues that are consumed here."""
        return frozenset(self._subscriptions) | frozenset(self._work)

    def subscribe(self, queue: str, sources: frozenset[str], deliver: Deliver) -> None:
        """See Bus.subscribe."""
        if queue in self._subscriptions:
            raise ValueError(f"The queue {queue} has a subscription already.")
        self._subscriptions[queue] = (sources, deliver)

    def take_part(self, queue: str, work: Work) -> None:
        """See Bus.take_part."""
        self._work[queue] = work

    async def start(self) -> None:
        """See Bus.start. A broker that is not there is waited for in the background.

        Raises StartFailure when waiting does not help: the URL, the password or the vhost is wrong, or a queue
        was declared otherwise.
        """
        if self._started.is_set():
            return
        broker, topology = Broker(self._url, self._believes), self.topology
        consumers: list[Consumer] = [
            *(EventConsumer(broker, topology, queue, *what) for queue, what in self._subscriptions.items()),
            *(JobConsumer(broker, topology, queue, work) for queue, work in self._work.items()),
        ]
        try:
            # So that what is published next finds its queues, and what is wrong is told now.
            async with broker.channel("starting") as channel, asyncio.timeout(DECLARE_WITHIN):
                await topology.declare_exchange(channel)
                for consumer in consumers:
                    await consumer.declare(channel)
        except BrokerRefuses as refusal:
            raise StartFailure(str(refusal)) from None
        except BrokerAway as away:
            _log.warning("%s Waiting for it.", away)
        self._publisher, self._consumers = Publisher(broker, topology), consumers
        for consumer in consumers:
            consumer.start()
        self._started.set()

    async def publish(self, publications: Sequence[Publication]) -> None:
        """See Bus.publish. Waits before the start and after the stop; raises NotPublished."""
        await self._started.wait()
        assert self._publisher is not None, "a started bus has one"
        await self._publisher.publish(publications)

    async def send(self, queue: str, job: bytes) -> None:
        """See Bus.send. A job that the broker does not take is lost, which is logged."""
        await self._started.wait()
        assert self._publisher is not None, "a started bus has one"
        try:
            await self._publisher.send(queue, job)
        except NotPublished as failure:
            _log.warning("A job for %s is lost: %s", queue, failure)

    async def stop(self) -> None:
        """See Bus.stop. Deliveries under way get some seconds to finish; publishers wait from now on."""
        self._started.clear()
        consumers, self._consumers = self._consumers, []
        await asyncio.gather(*(consumer.stop() for consumer in consumers))
        if self._publisher is not None:
            await self._publisher.close()

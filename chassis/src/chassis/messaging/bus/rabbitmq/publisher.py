"""Publishing: a window of events at a time, in order, each confirmed by the broker."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange
from aio_pika.exceptions import DeliveryError, PublishError

from chassis.messaging.bus import NotPublished, Publication
from chassis.messaging.bus.rabbitmq.broker import Broker, BrokerAway, close
from chassis.messaging.bus.rabbitmq.topology import Topology

_WINDOW = 500
"""Events on their way at once."""
_WITHIN = 10.0
"""Seconds for a window; a broker that is out of memory or disk lets publishers wait for ever."""
_SEND_WITHIN = 2.0


@dataclass(frozen=True, slots=True)
class _Opened:
    connection: AbstractConnection
    channel: AbstractChannel
    events: AbstractExchange


class Publisher:
    """Publishes over one connection, which it opens when it is needed and gives up after a failure."""

    def __init__(self, broker: Broker, topology: Topology) -> None:
        self._broker = broker
        self._topology = topology
        self._opened: _Opened | None = None
        self._opening = asyncio.Lock()
        self._in_order = asyncio.Lock()
        self._flowing = False
        """Whether the last event was taken."""

    async def publish(self, publications: Sequence[Publication]) -> None:
        """Return when the broker keeps all of them, in this order; raise NotPublished."""
        async with self._in_order:
            for start in range(0, len(publications), _WINDOW):
                window = publications[start : start + _WINDOW]
                # After a refusal the first goes alone: if queues began to take events in the middle of a window,
                # those would have overtaken the ones before.
                first = len(window) if self._flowing else 1
                for part in (window[:first], window[first:]):
                    if part:
                        await self._publish(part)

    async def _publish(self, window: Sequence[Publication]) -> None:
        self._flowing = False
        opened = await self._open(_WITHIN)
        await self._confirmed(opened, _WITHIN, [_event(opened.events, publication) for publication in window])
        self._flowing = True

    async def send(self, queue: str, job: bytes) -> None:
        """Return when the broker has the job; raise NotPublished, also when no worker ever took part in `queue`."""
        opened = await self._open(_SEND_WITHIN)
        message = Message(job, delivery_mode=DeliveryMode.PERSISTENT)
        exchange = await opened.channel.get_exchange(self._topology.queue(queue), ensure=False)
        await self._confirmed(opened, _SEND_WITHIN, [exchange.publish(message, "", mandatory=False)])

    async def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            await self._give_up(self._opened)

    async def _open(self, within: float) -> _Opened:
        try:
            async with asyncio.timeout(within), self._opening:
                if self._opened is not None:
                    if not self._opened.channel.is_closed:
                        return self._opened
                    await self._give_up(self._opened)
                self._opened = await self._connect()
                return self._opened
        except (BrokerAway, TimeoutError) as error:
            raise NotPublished(str(error) or f"RabbitMQ at {self._broker.place} does not answer.") from None

    async def _connect(self) -> _Opened:
        connection = await self._broker.connect("publishing")
        try:
            with self._broker.explained():
                channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
                events = await self._topology.declare_exchange(channel)
                return _Opened(connection, channel, events)
        except BaseException:
            await close(connection)
            raise

    async def _confirmed(self, opened: _Opened, within: float, publishing: list[Coroutine[Any, Any, Any]]) -> None:
        place = self._broker.place
        try:
            async with asyncio.timeout(within):
                # They get to the socket in the order in which they begin; all end before the first error is raised.
                results = await asyncio.gather(*publishing, return_exceptions=True)
            with self._broker.explained():
                for result in results:
                    if isinstance(result, BaseException):
                        raise result
        except PublishError as error:
            event = error.message.routing_key if error.message else "an event"
            raise NotPublished(f"RabbitMQ at {place} has no queue yet that takes {event}.") from None
        except DeliveryError:
            raise NotPublished(f"RabbitMQ at {place} has a full queue, which takes no more events.") from None
        except TimeoutError:
            await self._give_up(opened)
            raise NotPublished(f"RabbitMQ at {place} did not confirm within {within:g} s.") from None
        except BrokerAway as away:
            await self._give_up(opened)
            raise NotPublished(str(away)) from None
        except asyncio.CancelledError:
            await self._give_up(opened)
            raise

    async def _give_up(self, opened: _Opened) -> None:
        if self._opened is opened:
            self._opened = None
        await close(opened.connection)


def _event(exchange: AbstractExchange, publication: Publication) -> Coroutine[Any, Any, Any]:
    message = Message(
        publication.envelope,
        content_type="application/cloudevents+json",
        delivery_mode=DeliveryMode.PERSISTENT,
    )
    return exchange.publish(message, publication.wire_name, mandatory=True)

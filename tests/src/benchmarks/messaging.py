"""How many events a second go from a service's outbox through RabbitMQ into the copy of another."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import psycopg
import uvloop

from benchmarks.events import creates
from benchmarks.texts import Texts
from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.messaging.bus import Deliver, Publication
from chassis.messaging.bus.rabbitmq import RabbitMQBus
from chassis.messaging.inbox import Inbox
from chassis.messaging.relay import Relay
from contracts.routes import ignored_by
from suggestion_service.handlers import handlers
from suggestion_service.scale import Scales
from testing.postgres import PostgresServer, postgres_of_the_wheel
from testing.rabbitmq_node import RabbitMQNode

_EVENTS = 5000
_ONE_BY_ONE = 1000
_ROUNDS = 3
_SOURCES = frozenset({"catalog"})
_QUEUE = "suggestion"
_RELAY_GOAL = 3.0
_CONSUMER_GOAL = 500
_WITHIN = 120.0


def main(folder: Path) -> None:
    """Print the table."""
    with _postgres() as postgres, RabbitMQNode(folder) as rabbitmq:
        uvloop.run(_measure(postgres, rabbitmq.url))


async def _measure(postgres: PostgresServer, rabbitmq_url: str) -> None:
    size = statistics.mean(len(event.envelope()) for event in creates(Texts(5), 100))
    print(
        f"\nEvents over RabbitMQ: {_EVENTS:,} of {size:,.0f} bytes, persistent, confirmed, in order; {_ROUNDS} rounds"
    )
    print(f"{'':40}{'events/s':>9}{'one by one/s':>14}{'ratio':>8}{'goal':>7}")
    rounds = []
    for number in range(_ROUNDS):
        async with AsyncExitStack() as resources:
            rounds.append(await _Round(rabbitmq_url, f"bench-{number}", resources).measure(postgres))
    one_by_one, relay, consumer, both = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    ratio = statistics.median(relay / one_by_one for one_by_one, relay, _, _ in rounds)
    print(f"{'relay: outbox to broker':40}{relay:9,.0f}{one_by_one:14,.0f}{ratio:8.1f}{_RELAY_GOAL:7.1f}")
    print(f"{'consumer: broker to inbox and copy':40}{consumer:9,.0f}{_CONSUMER_GOAL:29,}")
    print(f"{'at once, in one process: outbox to copy':40}{both:9,.0f}")


class _Round:
    """Has databases and queues of its own."""

    def __init__(self, rabbitmq_url: str, name: str, resources: AsyncExitStack) -> None:
        self._rabbitmq_url = rabbitmq_url
        self._name = name
        self._resources = resources

    async def measure(self, postgres: PostgresServer) -> tuple[float, float, float, float]:
        """Return events a second: published one by one, by the relay, consumed, and relay and consumer at once."""
        catalog = await self._database(postgres, "catalog_service")
        suggestion = await self._database(postgres, "suggestion_service")
        bus = await self._publishing(self._name)
        relay = Relay(catalog, bus)

        await _record(catalog)
        relay_seconds = await _seconds(relay.publish_waiting())
        events = (await outbox.read(catalog, 0, _ONE_BY_ONE)).events
        alone = await self._publishing(f"{self._name}-alone")
        alone_seconds = await _seconds(_publish_one_by_one(alone, events))
        first, last = await self._consume(suggestion, upto=_EVENTS)
        consumer_seconds = last - first

        await _record(catalog)
        began = time.perf_counter()
        consuming = asyncio.create_task(self._consume(suggestion, upto=2 * _EVENTS))
        await relay.publish_waiting()
        _, last = await consuming
        return (
            _ONE_BY_ONE / alone_seconds,
            _EVENTS / relay_seconds,
            _EVENTS / consumer_seconds,
            _EVENTS / (last - began),
        )

    async def _consume(self, database: Database, *, upto: int) -> tuple[float, float]:
        """Apply what is in the queue up to a place in the feed; return when the first came and the last was applied."""
        inbox = Inbox(
            _QUEUE, database, handlers(scales=Scales("tfidf", 0.3), queued=lambda: None), ignored_by("suggestion")
        )
        batches_began: list[float] = []
        done = asyncio.Event()

        async def deliver(batch: Sequence[bytes]) -> None:
            batches_began.append(time.perf_counter())
            await inbox.receive(batch)
            if await inbox.position("catalog") >= upto:
                done.set()

        bus = await self._consuming(self._name, deliver)
        async with asyncio.timeout(_WITHIN):
            await done.wait()
        ended = time.perf_counter()
        await bus.stop()
        return batches_began[0], ended

    async def _database(self, postgres: PostgresServer, package: str) -> Database:
        database = Database(postgres.database(package))
        await database.open()
        self._resources.push_async_callback(database.close)
        return database

    async def _publishing(self, name: str) -> RabbitMQBus:
        """Return a bus with a queue that keeps what is published until somebody consumes it."""
        await (await self._consuming(name, _take)).stop()
        bus = RabbitMQBus(self._rabbitmq_url, name=name)
        await bus.start()
        self._resources.push_async_callback(bus.stop)
        return bus

    async def _consuming(self, name: str, deliver: Deliver) -> RabbitMQBus:
        bus = RabbitMQBus(self._rabbitmq_url, name=name)
        bus.subscribe(_QUEUE, _SOURCES, deliver)
        await bus.start()
        return bus


async def _record(database: Database) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, creates(Texts(5), _EVENTS))


async def _publish_one_by_one(bus: RabbitMQBus, events: Sequence[tuple[str, bytes]]) -> None:
    for wire_name, envelope in events:
        await bus.publish([Publication(wire_name, envelope)])


async def _take(_batch: Sequence[bytes]) -> None:
    raise AssertionError("nothing was published yet")


async def _seconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


@contextmanager
def _postgres() -> Iterator[PostgresServer]:
    """Run a server whose commits reach the disk, as they do where data is kept."""
    with postgres_of_the_wheel() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = on")
            connection.execute("SELECT pg_reload_conf()")
        yield PostgresServer(url)

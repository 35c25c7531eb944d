"""Over RabbitMQ nothing is lost and everything keeps its order, whatever happens to the broker."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import aio_pika
import pytest
from aiormq.abc import AbstractChannel
from aiormq.exceptions import ChannelAccessRefused
from yarl import URL

from chassis.core.start_failure import StartFailure
from chassis.core.tls import TlsSettings
from chassis.local.free_ports import free_port
from chassis.messaging.bus import NotPublished, Publication
from chassis.messaging.bus.rabbitmq import RabbitMQBus, publisher
from chassis.messaging.bus.rabbitmq.users import users
from testing import NewRabbitMQBus, RabbitMQNode
from testing.certificates import Authority

SOURCES = frozenset({"test"})
FOLLOWS = {"one": ["two"], "two": ["one"], "three": ["one", "two"]}
USERS = users(FOLLOWS)
_OVER_TLS = """\
listeners.ssl.1 = 127.0.0.1:{port}
ssl_options.cacertfile = {authority}
ssl_options.certfile = {tls_certificate}
ssl_options.keyfile = {tls_key}
"""
Does = Callable[[AbstractChannel], Awaitable[object]]


def event(number: int) -> Publication:
    return Publication("test.thing.happened", b"%d" % number)


class Consumer:
    """Keeps what it was given, without what it had already, as an inbox does; can be made to wait or to refuse."""

    def __init__(self) -> None:
        self.refuses = False
        self.got: dict[int, None] = {}
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self._news = asyncio.Event()

    async def deliver(self, batch: Sequence[bytes]) -> None:
        await self.may_go_on.wait()
        if self.refuses:
            raise ConnectionError("the database is away")
        self.got.update(dict.fromkeys(int(body) for body in batch))
        self._news.set()

    async def work(self, job: bytes) -> None:
        self.got[int(job)] = None
        self._news.set()
        await self.may_go_on.wait()

    async def gets(self, count: int) -> list[int]:
        """Wait until `count` different ones came; return all, in the order in which they came first."""
        async with asyncio.timeout(240):
            while len(self.got) < count:
                await self._news.wait()
                self._news.clear()
        return list(self.got)


async def publish(bus: RabbitMQBus, *events: Publication) -> int:
    """Publish as the relay does: again until it worked; tell how often it did not."""
    failures = 0
    async with asyncio.timeout(120):
        while True:
            try:
                await bus.publish(events)
            except NotPublished:
                failures += 1
                await asyncio.sleep(0.1)
            else:
                return failures


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_port() -> int:
    return free_port(None, set())


@pytest.fixture(scope="module")
def node(authority: Authority, tls_port: int) -> Iterator[RabbitMQNode]:
    """A broker that may be killed, and that is known as localhost over TLS."""
    shown = authority.settings_of("localhost")
    with tempfile.TemporaryDirectory(prefix="traceline-test-", ignore_cleanup_errors=True) as folder:
        node = RabbitMQNode(Path(folder) / "rabbitmq", USERS)
        with (Path(folder) / "rabbitmq" / "rabbitmq.conf").open("a") as configuration:
            configuration.write(_OVER_TLS.format(port=tls_port, authority=authority.file, **shown.model_dump()))
        yield node
        node.stop()


@pytest.fixture
async def bus(node: RabbitMQNode, request: pytest.FixtureRequest) -> AsyncIterator[RabbitMQBus]:
    """A bus over the broker that may be killed."""
    bus = RabbitMQBus(node.url, name=request.node.name)
    yield bus
    await bus.stop()


@pytest.fixture
async def channel(rabbitmq: str) -> AsyncIterator[aio_pika.abc.AbstractChannel]:
    """What an operator does at the broker of all tests."""
    async with await aio_pika.connect(rabbitmq) as connection, connection.channel() as channel:
        yield channel


async def test_a_broker_that_is_away_at_the_start_is_waited_for(
    node: RabbitMQNode, bus: RabbitMQBus, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.to_thread(node.shut_down)
    password = URL(node.url).password
    assert password
    consumer = Consumer()
    bus.subscribe("waiting", SOURCES, consumer.deliver)
    with caplog.at_level(logging.DEBUG):
        await bus.start()
        with pytest.raises(NotPublished, match="cannot be reached") as refusal:
            await bus.publish([event(1)])
        await asyncio.to_thread(node.start)
        await publish(bus, event(1))
        assert await consumer.gets(1) == [1]
    assert "cannot be reached" in caplog.text
    assert "Traceback" not in caplog.text
    assert password not in caplog.text + str(refusal.value)


async def test_a_broker_killed_while_it_is_published_to_loses_nothing_and_keeps_the_order(
    node: RabbitMQNode, bus: RabbitMQBus
) -> None:
    await asyncio.to_thread(node.start)
    consumer = Consumer()
    bus.subscribe("orderly", SOURCES, consumer.deliver)
    await bus.start()
    stop = asyncio.Event()

    async def relay() -> tuple[int, int]:
        published = failures = 0
        while not stop.is_set():
            failures += await publish(bus, *(event(published + number) for number in range(20)))
            published += 20
        return published, failures

    relaying = asyncio.create_task(relay())
    # A quorum queue that is killed in the first seconds of its life forgets what it confirmed.
    await asyncio.sleep(4)
    await asyncio.to_thread(node.kill)
    before = len(consumer.got)
    await asyncio.to_thread(node.start)
    await consumer.gets(before + 500)
    stop.set()
    published, failures = await relaying
    assert failures > 0
    assert await consumer.gets(published) == list(range(published))


async def test_a_full_queue_holds_up_the_publisher_and_keeps_the_order(node: RabbitMQNode, bus: RabbitMQBus) -> None:
    await asyncio.to_thread(node.start)
    consumer = Consumer()
    consumer.may_go_on.clear()
    bus.subscribe("full", SOURCES, consumer.deliver)
    await bus.start()
    await asyncio.to_thread(
        node.rabbitmqctl, "set_policy", "-p", "traceline", "short", r"\.full$", '{"max-length": 10}'
    )
    published = 0

    async def fill() -> None:
        nonlocal published
        while True:
            await bus.publish([event(published + number) for number in range(20)])
            published += 20

    with pytest.raises(NotPublished, match="full"):
        await asyncio.wait_for(fill(), 20)
    publishing = asyncio.create_task(publish(bus, *(event(published + number) for number in range(20))))
    consumer.may_go_on.set()
    await publishing
    assert await consumer.gets(published + 20) == list(range(published + 20))


async def test_a_broker_without_memory_makes_publishing_fail_in_time_and_heals(
    node: RabbitMQNode, bus: RabbitMQBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_WITHIN", 1.0)
    await asyncio.to_thread(node.start)
    consumer = Consumer()
    bus.subscribe("patient", SOURCES, consumer.deliver)
    await bus.start()
    await publish(bus, event(1))
    await asyncio.to_thread(node.rabbitmqctl, "set_vm_memory_high_watermark", "absolute", "1MB")
    with pytest.raises(NotPublished, match="did not confirm within 1 s"):
        await bus.publish([event(2), event(3)])
    await asyncio.to_thread(node.rabbitmqctl, "set_vm_memory_high_watermark", "absolute", "1GB")
    await publish(bus, event(2), event(3))
    assert await consumer.gets(3) == [1, 2, 3]


async def test_of_two_processes_with_one_queue_the_other_takes_over_when_the_active_one_stops(
    new_rabbitmq_bus: NewRabbitMQBus,
) -> None:
    active, waiting, telling = (new_rabbitmq_bus() for _ in range(3))
    first, second = Consumer(), Consumer()
    active.subscribe("shared", SOURCES, first.deliver)
    waiting.subscribe("shared", SOURCES, second.deliver)
    await active.start()
    await telling.start()
    await telling.publish([event(1)])
    await first.gets(1)
    await waiting.start()
    await telling.publish([event(2), event(3)])
    assert await first.gets(3) == [1, 2, 3]
    assert not second.got
    first.refuses = True
    await telling.publish([event(number) for number in range(4, 1000)])
    assert not second.got
    await active.stop()
    assert await second.gets(996) == list(range(4, 1000))


async def test_a_job_goes_to_a_process_that_has_none(new_rabbitmq_bus: NewRabbitMQBus) -> None:
    buses, workers = [new_rabbitmq_bus(), new_rabbitmq_bus()], [Consumer(), Consumer()]
    for bus, worker in zip(buses, workers, strict=True):
        worker.may_go_on.clear()
        bus.take_part("jobs", worker.work)
        await bus.start()
    await buses[0].send("jobs", b"1")
    await buses[0].send("jobs", b"2")
    got = [await worker.gets(1) for worker in workers]
    assert sorted(got) == [[1], [2]]
    for worker in workers:
        worker.may_go_on.set()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda url: url.with_password("wrong-secret"), "does not accept the user and password of RABBITMQ_URL"),
        (lambda url: url.with_path("/nowhere"), "does not open the vhost of RABBITMQ_URL"),
        (lambda url: url.with_scheme("http"), "write amqp://user:password@host:port/vhost"),
        (lambda url: str(url).replace(f":{url.port}", ":port"), "write amqp://user:password@host:port/vhost"),
        (lambda url: "secret", "write amqp://user:password@host:port/vhost"),
    ],
)
async def test_a_url_that_cannot_work_is_told_in_a_sentence(rabbitmq: str, change: object, sentence: str) -> None:
    assert callable(change)
    url = str(change(URL(rabbitmq)))
    with pytest.raises(StartFailure, match=sentence) as failure:
        await RabbitMQBus(url).start()
    assert "\n" not in str(failure.value)
    assert "secret" not in str(failure.value)
    assert str(URL(rabbitmq).password) not in str(failure.value)


async def test_an_event_that_no_queue_takes_is_not_published(new_rabbitmq_bus: NewRabbitMQBus) -> None:
    lonely, late = new_rabbitmq_bus(), new_rabbitmq_bus()
    await lonely.start()
    with pytest.raises(NotPublished, match=r"no queue yet that takes test\.thing\.happened"):
        await lonely.publish([event(1), event(2)])
    consumer = Consumer()
    late.subscribe("late", SOURCES, consumer.deliver)
    await late.start()
    await lonely.publish([event(1), event(2)])
    assert await consumer.gets(2) == [1, 2]


async def test_a_queue_that_was_deleted_is_declared_again(
    new_rabbitmq_bus: NewRabbitMQBus, channel: aio_pika.abc.AbstractChannel
) -> None:
    bus, consumer = new_rabbitmq_bus(), Consumer()
    bus.subscribe("deleted", SOURCES, consumer.deliver)
    await bus.start()
    await bus.publish([event(1)])
    await consumer.gets(1)
    await channel.queue_delete(bus.topology.queue("deleted"))
    await publish(bus, event(2))
    assert await consumer.gets(2) == [1, 2]


async def test_a_queue_with_other_arguments_is_told_in_a_sentence(
    new_rabbitmq_bus: NewRabbitMQBus, channel: aio_pika.abc.AbstractChannel
) -> None:
    bus = new_rabbitmq_bus()
    bus.subscribe("other", SOURCES, Consumer().deliver)
    await channel.declare_queue(bus.topology.queue("other"), durable=True)
    with pytest.raises(StartFailure, match=r"other arguments .*\.other.*delete it") as failure:
        await bus.start()
    assert "\n" not in str(failure.value)


async def test_a_slow_consumer_holds_no_more_than_the_prefetch(
    new_rabbitmq_bus: NewRabbitMQBus, channel: aio_pika.abc.AbstractChannel
) -> None:
    bus, consumer = new_rabbitmq_bus(), Consumer()
    consumer.may_go_on.clear()
    bus.subscribe("slow", SOURCES, consumer.deliver)
    await bus.start()
    await bus.publish([event(number) for number in range(1200)])
    queue = await channel.get_queue(bus.topology.queue("slow"))

    async def at_the_broker() -> int | None:
        await asyncio.sleep(0.2)
        return (await queue.declare()).message_count

    async with asyncio.timeout(120):
        while await at_the_broker() != 700:
            pass
    assert await at_the_broker() == 700
    consumer.may_go_on.set()
    assert await consumer.gets(1200) == list(range(1200))


@pytest.fixture
async def buses(node: RabbitMQNode) -> AsyncIterator[dict[str, RabbitMQBus]]:
    """The bus of each service, as its own user."""
    await asyncio.to_thread(node.start)
    buses = {name: RabbitMQBus(node.url_of(name)) for name in FOLLOWS}
    yield buses
    for bus in buses.values():
        await bus.stop()


async def test_the_user_of_a_service_may_do_all_that_it_does(buses: dict[str, RabbitMQBus]) -> None:
    consumers = {name: Consumer() for name in FOLLOWS}
    worker = Consumer()
    buses["one"].take_part("one.jobs", worker.work)
    for name, sources in FOLLOWS.items():
        buses[name].subscribe(name, frozenset(sources), consumers[name].deliver)
        await buses[name].start()
    await publish(buses["one"], Publication("one.thing.happened", b"1"))
    await publish(buses["two"], Publication("two.thing.happened", b"2"))
    await buses["one"].send("one.jobs", b"3")
    got = {name: await consumers[name].gets(len(sources)) for name, sources in FOLLOWS.items()}
    assert {name: sorted(numbers) for name, numbers in got.items()} == {"one": [2], "two": [1], "three": [1, 2]}
    assert await worker.gets(1) == [3]


@pytest.mark.parametrize(
    ("user", "does"),
    [
        pytest.param("three", lambda c: c.basic_consume("traceline.one", print), id="reads another's queue"),
        pytest.param("three", lambda c: c.basic_get("traceline.one.jobs"), id="takes another's job"),
        pytest.param("three", lambda c: c.queue_purge("traceline.one"), id="empties another's queue"),
        pytest.param("three", lambda c: c.queue_delete("traceline.one"), id="deletes another's queue"),
        pytest.param("three", lambda c: c.queue_declare("elsewhere"), id="declares a queue of no service"),
        pytest.param("three", lambda c: _put(c, "traceline.one.jobs", ""), id="gives another a job"),
        pytest.param("three", lambda c: _put(c, "", "traceline.one"), id="writes into another's queue by its name"),
        pytest.param("three", lambda c: _put(c, "traceline.events", "three.thing.happened"), id="publishes"),
        pytest.param("two", lambda c: _put(c, "traceline.events", "one.thing.happened"), id="publishes as another"),
        pytest.param("two", lambda c: _bind(c, "traceline.two", "two.#"), id="hears what it does not follow"),
        pytest.param("two", lambda c: _bind(c, "traceline.two", "#"), id="hears everything"),
        pytest.param("two", lambda c: _bind(c, "traceline.one", "one.#"), id="binds another's queue"),
    ],
)
async def test_the_user_of_a_service_may_do_nothing_else(
    node: RabbitMQNode, buses: dict[str, RabbitMQBus], user: str, does: Does
) -> None:
    for name, sources in FOLLOWS.items():
        buses[name].take_part(f"{name}.jobs", Consumer().work)
        buses[name].subscribe(name, frozenset(sources), Consumer().deliver)
        await buses[name].start()
    async with await aio_pika.connect(node.url_of(user)) as connection:
        channel = await (await connection.channel()).get_underlay_channel()
        with pytest.raises(ChannelAccessRefused):
            await does(channel)


async def test_a_user_without_permission_is_told_in_a_sentence(node: RabbitMQNode) -> None:
    await asyncio.to_thread(node.start)
    bus = RabbitMQBus(node.url_of("one"))
    bus.subscribe("two", SOURCES, Consumer().deliver)
    with pytest.raises(StartFailure, match=r"does not let the user of RABBITMQ_URL.*traceline\.two") as failure:
        await bus.start()
    assert "\n" not in str(failure.value)


async def test_events_travel_over_tls_from_a_broker_that_is_believed_alone(
    node: RabbitMQNode, authority: Authority, tls_port: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await asyncio.to_thread(node.start)
    url = str(URL(node.url).with_scheme("amqps").with_host("localhost").with_port(tls_port))
    consumer = Consumer()
    over_tls = RabbitMQBus(url, name=request.node.name, believes=TlsSettings(tls_ca=authority.file).client())
    doubting = RabbitMQBus(url, believes=TlsSettings(tls_ca=Authority(tmp_path, "other").file).client())
    over_tls.subscribe("tls", SOURCES, consumer.deliver)
    try:
        await over_tls.start()
        await publish(over_tls, event(1))
        assert await consumer.gets(1) == [1]
        await doubting.start()
        with pytest.raises(NotPublished, match="cannot be reached"):
            await doubting.publish([event(2)])
    finally:
        await over_tls.stop()
        await doubting.stop()


def _put(channel: AbstractChannel, exchange: str, routing_key: str) -> Awaitable[object]:
    return channel.basic_publish(b"forged", exchange=exchange, routing_key=routing_key)


def _bind(channel: AbstractChannel, queue: str, routing_key: str) -> Awaitable[object]:
    return channel.queue_bind(queue, "traceline.events", routing_key)

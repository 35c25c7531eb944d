"""The pytest plugin of all test suites: a real PostgreSQL and a real RabbitMQ, from the first source there is.

DATABASE_URL and RABBITMQ_URL come first, then containers if a Docker engine answers, then what is installed here.
"""

import gc
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import ExitStack, nullcontext

import aio_pika
import hypothesis
import pytest

from chassis.core.start_failure import StartFailure
from chassis.messaging.bus.rabbitmq import RabbitMQBus
from chassis.messaging.bus.rabbitmq.topology import Topology
from testing.identity_provider import IdentityProvider
from testing.postgres import PostgresServer, postgres_of_the_wheel, schema_differences
from testing.rabbitmq_node import RabbitMQNode, temporary_rabbitmq_node

__all__ = ["NewRabbitMQBus", "PostgresServer", "RabbitMQNode", "schema_differences", "temporary_rabbitmq_node"]

NewRabbitMQBus = Callable[[], RabbitMQBus]

# How long an example takes says how busy the machine is. Others are tried each time; `make fault` tries many.
hypothesis.settings.register_profile(
    "of the suite", hypothesis.settings.default, deadline=None, max_examples=int(os.environ.get("EXAMPLES", "50"))
)
hypothesis.settings.load_profile("of the suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from what is loaded: it stays, and to walk through it again and again takes long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the report say which requirements the tests of a file prove, and as which test case."""
    for item in items:
        keys = [key for mark in item.iter_markers("requirement") for key in mark.args]
        if keys:
            test_case = item.nodeid.partition("::")[0].removesuffix(".py").replace("/", ".")
            item.user_properties += [("test_case", test_case), *(("requirement", key) for key in keys)]


@pytest.fixture(scope="session")
def identity_provider() -> Iterator[IdentityProvider]:
    """An OpenID provider that lives as long as the tests."""
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A server that lives as long as the tests."""
    with ExitStack() as stack:
        yield PostgresServer(
            os.environ.get("DATABASE_URL")
            or _in_container("postgres", request, stack)
            or stack.enter_context(postgres_of_the_wheel())
        )


@pytest.fixture(scope="session")
def rabbitmq(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a broker that lives as long as the tests."""
    with ExitStack() as stack:
        try:
            url = (
                os.environ.get("RABBITMQ_URL")
                or _in_container("rabbitmq", request, stack)
                or stack.enter_context(temporary_rabbitmq_node()).url
            )
        except StartFailure as failure:
            pytest.fail(str(failure), pytrace=False)
        yield url


@pytest.fixture
async def new_rabbitmq_bus(rabbitmq: str) -> AsyncIterator[NewRabbitMQBus]:
    """Gives buses that have exchange and queues of their own in each test, as the processes of a system share them."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    buses: list[RabbitMQBus] = []

    def new() -> RabbitMQBus:
        buses.append(RabbitMQBus(rabbitmq, name=name))
        return buses[-1]

    yield new
    for bus in buses:
        await bus.stop()
    async with await aio_pika.connect(rabbitmq) as connection, connection.channel() as channel:
        topology = Topology(name)
        for queue in {queue for bus in buses for queue in bus.queues}:
            for each in (topology.queue(queue), topology.dead_letters(queue)):
                await channel.queue_delete(each)
                await channel.exchange_delete(each)
        await channel.exchange_delete(topology.exchange)


def _in_container(server: str, request: pytest.FixtureRequest, stack: ExitStack) -> str | None:
    from testing import containers  # takes half a second

    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            sys.stderr.write(f"\n{line}\n")

    start = {"postgres": containers.postgres, "rabbitmq": containers.rabbitmq}[server]
    return start(stack, say)

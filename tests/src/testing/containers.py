"""PostgreSQL and RabbitMQ in containers, where a Docker engine answers and has or gets their images."""

import gc
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import TypeVar

from docker.errors import DockerException  # type: ignore[import-untyped]
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

POSTGRES_IMAGE = "pgvector/pgvector:pg17"
RABBITMQ_IMAGE = "rabbitmq:4-alpine"

Say = Callable[[str], None]
Container = TypeVar("Container", bound=DockerContainer)


def postgres(stack: ExitStack, say: Say) -> str | None:
    """Start PostgreSQL until `stack` closes; return its URL, or None after saying why not."""
    container = _started(lambda: PostgresContainer(POSTGRES_IMAGE, driver=None), POSTGRES_IMAGE, stack, say)
    return None if container is None else container.get_connection_url()


def rabbitmq(stack: ExitStack, say: Say) -> str | None:
    """Start RabbitMQ until `stack` closes; return its URL, or None after saying why not."""

    def create() -> DockerContainer:
        # Not RabbitMqContainer, which needs a second client library to see whether the broker is ready.
        return (
            DockerContainer(RABBITMQ_IMAGE)
            .with_exposed_ports(5672)
            .with_env("RABBITMQ_DEFAULT_USER", "traceline")
            .with_env("RABBITMQ_DEFAULT_PASS", "traceline")
            .waiting_for(LogMessageWaitStrategy("Server startup complete"))
        )

    container = _started(create, RABBITMQ_IMAGE, stack, say)
    if container is None:
        return None
    return f"amqp://traceline:traceline@{container.get_container_host_ip()}:{container.get_exposed_port(5672)}/"


def _started(create: Callable[[], Container], image: str, stack: ExitStack, say: Say) -> Container | None:
    if not _engine_answers():
        return None
    try:
        container = create()
        stack.callback(container.stop)
        container.start()
    except Exception as error:  # noqa: BLE001 - whatever keeps a container from running, there is a next choice
        say(f"Docker answers, but does not run {image} ({_first_line(error)}): the tests use a local server instead.")
        return None
    return container


@cache
def _engine_answers() -> bool:
    with warnings.catch_warnings():
        # Where nothing listens, the client forgets to close its socket.
        warnings.simplefilter("ignore", ResourceWarning)
        answers = _ping()
        gc.collect()
    return answers


def _ping() -> bool:
    try:
        client = DockerClient(timeout=5).client
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__

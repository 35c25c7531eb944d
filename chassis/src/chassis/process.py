"""One program: what `python -m SERVICE.app` and `python -m SERVICE.worker` stand on.

It waits for what comes up later (its database, the schema), serves until SIGTERM, finishes and closes everything.
"""

import asyncio
import inspect
import logging
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import uvloop
from fastapi import FastAPI
from psycopg.rows import dict_row
from psycopg_pool import PoolTimeout
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict
from starlette.types import ASGIApp

from chassis import logs, telemetry
from chassis.bus import Bus
from chassis.database import Database
from chassis.http.app import create_app
from chassis.http.server import Server, listen, settle
from chassis.identity import InternalTokens
from chassis.metrics import exposition
from chassis.metrics.databases import of_pool
from chassis.metrics.readings import Readings
from chassis.metrics.requests import Measured, RouteOf, template
from chassis.peers import Peer
from chassis.problems import Unavailable
from chassis.readiness import check_schema
from chassis.replicas import Replicas
from chassis.settings import ServiceSettings, read
from chassis.start_failure import StartFailure
from chassis.worker import Worker

T = TypeVar("T")

_log = logging.getLogger(__name__)
_LOOK_AGAIN = 1.0
_PEER_TIMEOUT = httpx.Timeout(10, connect=2)
_DRAIN = 2
_HOPELESS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "permission denied for database")
"""What PostgreSQL says about who one is and what one may do: waiting does not mend that."""


class ProcessSettings(BaseSettings):
    """Where a program listens, and how patiently it starts and ends."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8000, ge=0, le=65535)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where `GET /metrics` is answered, on HTTP_HOST, too; None: nowhere."""
    http_socket_fd: int | None = Field(default=None, ge=0)
    """A listening socket that the program was given by who started it, instead of host and port."""
    forwarded_allow_ips: str = Field(default="", pattern=r"^[^*]*$")
    """Proxies in front, by address or network, whose X-Forwarded-For says who calls. Not `*`: uvicorn would then
    take the first address of that header, which whoever calls may have written."""
    shutdown_grace_seconds: float = Field(default=20, ge=0)
    start_patience_seconds: float = Field(default=60, ge=0)


class BrokerSettings(BaseSettings):
    """Where the broker is, and as whom to log in there."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    rabbitmq_url: str


class Process:
    """What programs are put together from. What was opened is closed at the end, the last one first."""

    def __init__(self, settings: ProcessSettings, resources: AsyncExitStack, readings: Readings) -> None:
        self._settings = settings
        self._resources = resources
        self._readings = readings
        self._replicas: Replicas | None = None
        self._probes: Callable[[], FastAPI] | None = None

    async def database(self, settings: ServiceSettings, schema: str) -> Database:
        """Give the open database; wait while it is not there or has an older schema.

        Raises StartFailure when waiting does not help, or takes longer than START_PATIENCE_SECONDS.
        """
        database = Database(settings.database_url, pool_size=settings.database_pool_size)
        clock = asyncio.get_running_loop()
        end = clock.time() + self._settings.start_patience_seconds
        while (reason := await _why_not(settings.database_url, schema)) is not None:
            if clock.time() >= end:
                raise StartFailure(reason)
            _log.warning("%s Waiting.", reason)
            await asyncio.sleep(_LOOK_AGAIN)
        try:
            await database.open()
        except PoolTimeout as error:
            raise StartFailure(f"The database does not answer: {error}.") from None
        self._resources.push_async_callback(database.close)
        self._readings.add([of_pool(database)])
        self._replicas = Replicas(database)
        self._probes = partial(
            create_app,
            "worker",
            [],
            database=database,
            internal_tokens=settings.internal_tokens(),
            schema_version=schema,
        )
        announcing = Worker()
        announcing.add("announcing commits", self._replicas.announce)
        self._run_beside(announcing.run())
        return database

    def peer(self, name: str, url: str, tokens: InternalTokens, caller: str) -> Peer:
        """Give the service `name` at `url`, as `caller` asks it."""
        client = httpx.AsyncClient(base_url=url, timeout=_PEER_TIMEOUT, trust_env=False)
        self._resources.push_async_callback(client.aclose)
        return Peer(name, client, tokens, caller)

    async def open(self, resource: AbstractAsyncContextManager[T]) -> T:
        """Give what a context manager gives, closed when the program ends."""
        return await self._resources.enter_async_context(resource)

    def bus(self) -> Bus:
        """Give the broker of RABBITMQ_URL; a worker starts and stops it."""
        # Only workers need it, and it takes 10 MB.
        from chassis.bus.rabbitmq import RabbitMQBus

        return RabbitMQBus(read(BrokerSettings).rabbitmq_url)

    def probes(self) -> ASGIApp:
        """Give the HTTP app of a worker, after `database`: `/livez` and `/readyz` alone are open to everybody."""
        assert self._probes is not None, "a worker opens its database first"
        return self._probes()

    async def use(self, worker: Worker, bus: Bus | None = None) -> None:
        """Run a worker, and the bus that it uses, until the program ends.

        Of several replicas, the programs that opened the same database, one leads.
        """
        if bus is not None:
            await bus.start()
        self._readings.add(worker.readings)
        self._run_beside(worker.run(self._replicas))
        if bus is not None:
            self._resources.push_async_callback(bus.stop)

    def _run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        running = asyncio.create_task(work)

        async def stop() -> None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        self._resources.push_async_callback(stop)


Compose = Callable[[Process], Awaitable[ASGIApp]]


def run(compose: Compose, route_of: RouteOf = template) -> None:
    """Run the program that `compose` puts together; end with exit code 0 after SIGTERM, 1 when it cannot start.

    `route_of` tells the routes by which its requests are measured.
    """
    program = _program_of(compose)
    logs.configure(program)
    telemetry.configure(program)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(compose, partial(Measured, program=program, route_of=route_of)))
    except StartFailure as failure:
        _log.error("%s", failure)
        sys.exit(1)
    except asyncio.CancelledError:
        pass  # stopped while it was still waiting to start
    except Exception:  # noqa: BLE001 - in the log like all else, where errors quote nothing
        _log.exception("The program cannot go on")
        sys.exit(1)
    finally:
        telemetry.stop()


def _program_of(compose: Compose) -> str:
    """Give the name of the program that a module composes: `catalog-service`, `catalog-worker`, `gateway`."""
    module = Path(inspect.getfile(compose))
    package = module.parent.name
    return package.replace("_service", f"-{'worker' if module.stem == 'worker' else 'service'}")


async def _run(compose: Compose, measured: Callable[[ASGIApp], ASGIApp]) -> None:
    starting = asyncio.current_task()
    assert starting is not None, "it runs as a task"
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        starting.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.set_exception_handler(logs.nobody_awaited)
    settings = read(ProcessSettings)
    async with AsyncExitStack() as resources:
        readings = Readings()
        if settings.metrics_port is not None:
            metrics = listen(settings.http_host, settings.metrics_port, "HTTP_HOST or METRICS_PORT")
            await resources.enter_async_context(exposition.served(metrics, readings))
        app = await compose(Process(settings, resources, readings))
        if settings.metrics_port is not None:
            app = measured(app)
        if stopped.is_set():  # and the cancellation was swallowed by what it met
            return
        listener = _listener(settings)
        server = Server(
            app,
            grace=settings.shutdown_grace_seconds,
            drain=_DRAIN,
            trusted_proxies=settings.forwarded_allow_ips,
        )
        settle()
        server.stop_on_signals()
        await server.serve(sockets=[listener])


def _listener(settings: ProcessSettings) -> socket.socket:
    if settings.http_socket_fd is None:
        return listen(settings.http_host, settings.http_port, "HTTP_HOST or HTTP_PORT")
    try:
        return socket.socket(fileno=settings.http_socket_fd)
    except OSError as error:
        raise StartFailure(
            f"HTTP_SOCKET_FD is {settings.http_socket_fd}, which is no socket ({error.strerror})."
        ) from None


async def _why_not(url: str, schema: str) -> str | None:
    """Tell why the database cannot be used yet; None when it can. Raise StartFailure when waiting does not help."""
    try:
        async with await psycopg.AsyncConnection.connect(url, row_factory=dict_row, connect_timeout=5) as connection:
            await check_schema(connection, schema)
    except psycopg.OperationalError as error:
        reason = str(error).strip().partition("\n")[0]
        if any(words in reason for words in _HOPELESS):
            raise StartFailure(f"DATABASE_URL does not open the database: {reason}.") from None
        return f"The database cannot be reached: {reason}."
    except psycopg.ProgrammingError:  # its message may show the password
        raise StartFailure(
            "DATABASE_URL is no address of a PostgreSQL database; write postgresql://user:password@host:port/name."
        ) from None
    except Unavailable as not_yet:
        return not_yet.detail
    return None

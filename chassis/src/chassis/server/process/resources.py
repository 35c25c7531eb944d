"""What programs are put together from: the database, peers, the bus and workers, opened once and closed at the end."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cached_property, partial
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI
from starlette.types import ASGIApp

from chassis.core.settings import CallingSettings, ServiceSettings, read
from chassis.db.database import Database
from chassis.db.replicas import Replicas
from chassis.messaging.bus import Bus
from chassis.observability.collectors import GaugeCollectors
from chassis.observability.databases import of_pool, of_storage
from chassis.server.app import probes
from chassis.server.http_server import DRAIN, is_loopback
from chassis.server.process.database import open_when_ready
from chassis.server.process.settings import BrokerSettings, ProcessSettings, addresses
from chassis.server.worker import Worker
from chassis.web.peers import Peer

T = TypeVar("T")

_PEER_TIMEOUT = httpx.Timeout(10, connect=2)
_PEER_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=DRAIN / 2)
"""httpx's own, but for how long a connection may be idle: a service that ends closes it after DRAIN."""


class Process:
    """What programs are put together from. What was opened is closed at the end, the last one first."""

    def __init__(self, settings: ProcessSettings, resources: AsyncExitStack, collectors: GaugeCollectors) -> None:
        self._settings = settings
        self._resources = resources
        self._collectors = collectors
        self._replicas: Replicas | None = None
        self._probes: Callable[[], FastAPI] | None = None

    @cached_property
    def believes(self) -> ssl.SSLContext:
        """Whom the program believes to be another one that it calls."""
        return self._settings.client()

    @property
    def on_loopback(self) -> bool:
        """Whether the program is reached from this machine alone."""
        return is_loopback(self._settings.http_host)

    @property
    def patience(self) -> float:
        """For how many seconds requests wait for a service that does not listen."""
        return self._settings.restart_patience_seconds

    async def database(self, settings: ServiceSettings, schema: str) -> Database:
        """Return the open database; wait while it is not there or has an older schema.

        Raises StartFailure when waiting does not help, or takes longer than START_PATIENCE_SECONDS.
        """
        database = Database(settings.database_url, pool_size=settings.database_pool_size)
        await open_when_ready(database, schema, patience=self._settings.start_patience_seconds)
        self._resources.push_async_callback(database.close)
        self._collectors.add([of_pool(database), of_storage(database)])
        self._replicas = Replicas(database)
        self._probes = partial(probes, database, schema)
        notifier = Worker()
        notifier.add("notices of commits", self._replicas.notify_commits)
        self._run_beside(notifier.run())
        return database

    def hear_commits(self) -> None:
        """Have the commits of other processes of the database wake this one, too, as those of a worker do anyway."""
        assert self._replicas is not None, "the database is opened first"
        hearing = Worker()
        hearing.add("notices of other processes", self._replicas.hear_commits)
        self._run_beside(hearing.run())

    def urls(self, services: Sequence[str]) -> dict[str, str]:
        """Return where services are, by name."""
        urls = read(addresses(services)).model_dump(exclude={"service_url"})
        return dict(zip(services, urls.values(), strict=True))

    def peers(self, services: Sequence[str], caller: str, *, patience: float = 0) -> list[Peer]:
        """Return the services of these names, as `caller` asks them; see Peer for `patience`."""
        if not services:
            return []
        signer = read(CallingSettings).signer(caller)
        peers = []
        for name, url in self.urls(services).items():
            client = httpx.AsyncClient(
                base_url=url, timeout=_PEER_TIMEOUT, limits=_PEER_LIMITS, trust_env=False, verify=self.believes
            )
            self._resources.push_async_callback(client.aclose)
            peers.append(Peer(name, client, signer, patience=patience))
        return peers

    async def open(self, resource: AbstractAsyncContextManager[T]) -> T:
        """Return what a context manager gives, closed when the program ends."""
        return await self._resources.enter_async_context(resource)

    def bus(self) -> Bus:
        """Return the broker of RABBITMQ_URL; a worker starts and stops it."""
        # Only workers need it, and it takes 10 MB.
        from chassis.messaging.bus.rabbitmq import RabbitMQBus

        return RabbitMQBus(read(BrokerSettings).rabbitmq_url, believes=self.believes)

    def probes(self) -> ASGIApp:
        """Return the HTTP app of a worker, after `database`: `/livez` and `/readyz`, and no more."""
        assert self._probes is not None, "a worker opens its database first"
        return self._probes()

    async def use(self, worker: Worker, bus: Bus | None = None) -> None:
        """Run a worker, and the bus that it uses, until the program ends.

        Of several replicas, the programs that opened the same database, one leads.
        """
        if bus is not None:
            await bus.start()
        self._collectors.add(worker.collectors)
        self._run_beside(worker.run(self._replicas))
        if bus is not None:
            self._resources.push_async_callback(bus.stop)

    def _run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        running = asyncio.create_task(work)

        async def stop() -> None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        self._resources.push_async_callback(stop)

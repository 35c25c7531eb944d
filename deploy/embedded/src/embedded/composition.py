"""The composition root of the embedded run: every service, its database and the bus, in one event loop."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from starlette.types import ASGIApp

import auth_service.startup
import gateway.app
from chassis.core.full_disks import Volume
from chassis.core.internal_tokens import GATEWAY, InternalSigner, InternalVerifier, public_key
from chassis.db.database import Database
from chassis.messaging.bus.in_process import InProcessBus
from chassis.observability.collectors import GaugeCollector
from chassis.observability.databases import of_pool, of_storage
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from contracts.routes import AUTH
from embedded.services import SERVICES
from embedded.settings import AllSettings

_PEER_TIMEOUT = 10
_RESERVE, _RESERVE_OF_LOG_INS = 64 << 20, 32 << 20
"""Bytes that stay free on the volume of the data. PostgreSQL ends where it cannot write its log, of which it begins 16
MiB at a time, and starts again only with room for what it had not written. Who logs in takes little, and can read."""


@dataclass
class Traceline:
    """The whole system, not yet running: serve `app`, run `workers`, between `start` and `stop`."""

    app: gateway.app.Gateway
    workers: list[Worker]
    bus: InProcessBus
    databases: Mapping[str, Database]
    settings: AllSettings
    clients: AsyncExitStack
    running: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> str | None:
        """Connect to the databases and see that there is somebody who can log in.

        Returns the admin's password if it is random and was made just now: to be shown, once.
        """
        await asyncio.gather(*(database.open() for database in self.databases.values()))
        password = await auth_service.startup.prepare(
            self.settings.auth, self.databases[AUTH.name], on_loopback=self.settings.own.on_loopback
        )
        await self.bus.start()
        self.running = [asyncio.create_task(worker.run()) for worker in self.workers]
        return password

    async def log_in_hint(self) -> str:
        """Return how the default admin logs in."""
        password = self.settings.first_password
        return await auth_service.startup.log_in_hint(self.settings.auth, self.databases[AUTH.name], password)

    def collectors(self) -> list[GaugeCollector]:
        """Return what can be measured of every service."""
        of_workers = [collector for worker in self.workers for collector in worker.collectors]
        of_databases = [of(database) for database in self.databases.values() for of in (of_pool, of_storage)]
        return [*of_workers, *of_databases]

    async def check_ready(self) -> None:
        """Raise Unavailable, naming who is not ready, unless everything is."""
        await self.app.check_ready()

    async def stop(self) -> None:
        """Stop the loops; what they had not finished is taken up at the next start."""
        await self.bus.stop()
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        await self.clients.aclose()
        await asyncio.gather(*(database.close() for database in self.databases.values()))


def compose(
    settings: AllSettings, database_urls: Mapping[str, str], data: Path | None = None, *, demo: bool = False
) -> Traceline:
    """Return the system over these databases, by service, whose server has its files in `data`, where that is known.

    The page of a `demo` signs in by a button.
    """
    signers = {caller: InternalSigner(key) for caller, key in settings.signing_keys.items()}
    trusted = [public_key(key) for key in settings.signing_keys.values()]
    bus = InProcessBus()
    clients = AsyncExitStack()
    apps: dict[str, ASGIApp] = {}
    databases = {
        name: Database(
            database_urls[name],
            pool_size=of.database_pool_size,
            volume=None if data is None else Volume(data, _RESERVE_OF_LOG_INS if name == AUTH.name else _RESERVE),
        )
        for name, of in settings.services.items()
    }

    def peers(names: Iterable[str], caller: str) -> dict[str, Peer]:
        return {name: Peer(name, client_of(name), signers[caller]) for name in names}

    def client_of(name: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=apps[name])
        client = httpx.AsyncClient(transport=transport, base_url=f"http://{name}", timeout=_PEER_TIMEOUT)
        clients.push_async_callback(client.aclose)
        return client

    for service in SERVICES:
        asked = peers(service.app_asks, service.name)
        own, database = settings.services[service.name], databases[service.name]
        verifier = InternalVerifier(service.name, trusted, service.internal)
        apps[service.name] = service.create_app(own, database, verifier, asked)
    account = settings.demo_account if demo else None
    app, gateway_worker = gateway.app.create_gateway(
        settings.gateway, apps, peers(apps, GATEWAY), signers[GATEWAY], account, at_hand=True
    )
    clients.push_async_exit(app.notices)
    workers = [
        service.create_worker(
            settings.services[service.name],
            databases[service.name],
            bus,
            peers(service.worker_asks, service.name),
        )
        for service in SERVICES
    ]
    return Traceline(app, [*workers, gateway_worker], bus, databases, settings, clients)

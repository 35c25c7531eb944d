"""The composition root of the embedded run: every service, its database and the bus, in one event loop."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
from starlette.types import ASGIApp

import auth_service.app
import auth_service.startup
import auth_service.worker
import catalog_service.app
import catalog_service.worker
import gateway.app
import notification_service.app
import notification_service.worker
import suggestion_service.app
import suggestion_service.worker
from chassis.core.identity import InternalTokens
from chassis.core.settings import ServiceSettings
from chassis.db.database import Database
from chassis.messaging.bus.in_process import InProcessBus
from chassis.observability.databases import of_pool
from chassis.observability.readings import Reading
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from embedded.settings import AllSettings
from gateway.routes import AUTH, CATALOG, NOTIFICATION, SUGGESTION

SCHEMAS = {
    AUTH: ("auth_service", auth_service.app.SCHEMA_VERSION),
    CATALOG: ("catalog_service", catalog_service.app.SCHEMA_VERSION),
    SUGGESTION: ("suggestion_service", suggestion_service.app.SCHEMA_VERSION),
    NOTIFICATION: ("notification_service", notification_service.app.SCHEMA_VERSION),
}
"""The package and the schema version of each service that has a database."""

_PEER_TIMEOUT = 10


@dataclass
class Traceline:
    """The whole system, not yet running: serve `app`, run `workers`, between `start` and `stop`."""

    app: gateway.app.Gateway
    workers: list[Worker]
    bus: InProcessBus
    databases: list[Database]
    settings: AllSettings
    peers: AsyncExitStack
    running: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> str | None:
        """Connect to the databases and see that there is somebody who can log in.

        Returns the admin's password if it is random and was made just now: to be shown, once.
        """
        await asyncio.gather(*(database.open() for database in self.databases))
        password = await auth_service.startup.prepare(
            self.settings.auth, self.databases[0], on_loopback=self.settings.own.on_loopback
        )
        await self.bus.start()
        self.running = [asyncio.create_task(worker.run()) for worker in self.workers]
        return password

    async def log_in_hint(self) -> str:
        """Return how the default admin logs in."""
        password = self.settings.first_password
        return await auth_service.startup.log_in_hint(self.settings.auth, self.databases[0], password)

    def readings(self) -> list[Reading]:
        """Return what can be measured of every service."""
        of_workers = [reading for worker in self.workers for reading in worker.readings]
        return [*of_workers, *(of_pool(database) for database in self.databases)]

    async def check_ready(self) -> None:
        """Raise Unavailable, naming who is not ready, unless everything is."""
        await self.app.check_ready()

    async def stop(self) -> None:
        """Stop the loops; what they had not finished is taken up at the next start."""
        await self.bus.stop()
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        await self.peers.aclose()
        await asyncio.gather(*(database.close() for database in self.databases))


def compose(settings: AllSettings, database_urls: Mapping[str, str]) -> Traceline:
    """Return the system over these databases, by service."""
    tokens = InternalTokens(settings.gateway.internal_token_secret.get_secret_value())
    bus = InProcessBus()
    stack = AsyncExitStack()

    def database(service: str, of: ServiceSettings) -> Database:
        return Database(database_urls[service], pool_size=of.database_pool_size)

    auth = database(AUTH, settings.auth)
    catalog = database(CATALOG, settings.catalog)
    suggestion = database(SUGGESTION, settings.suggestion)
    notification = database(NOTIFICATION, settings.notification)

    def peer(name: str, app: ASGIApp, caller: str) -> Peer:
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url=f"http://{name}", timeout=_PEER_TIMEOUT
        )
        stack.push_async_callback(client.aclose)
        return Peer(name, client, tokens, caller)

    catalog_app = catalog_service.app.create_app(settings.catalog, catalog, tokens)
    catalog_peer = peer(CATALOG, catalog_app, SUGGESTION)
    services: dict[str, ASGIApp] = {
        AUTH: auth_service.app.create_app(settings.auth, auth, tokens),
        CATALOG: catalog_app,
        SUGGESTION: suggestion_service.app.create_app(settings.suggestion, suggestion, tokens, catalog_peer),
        NOTIFICATION: notification_service.app.create_app(settings.notification, notification, tokens),
    }
    app, gateway_worker = gateway.app.create_gateway(
        settings.gateway,
        services,
        {name: peer(name, service, "gateway") for name, service in services.items()},
        tokens,
    )
    followed = {
        source: peer(name, services[name], NOTIFICATION)
        for source, name in {"auth": AUTH, "catalog": CATALOG, "suggestion": SUGGESTION}.items()
    }
    workers = [
        auth_service.worker.create_worker(settings.auth, auth, bus),
        catalog_service.worker.create_worker(settings.catalog, catalog, bus),
        suggestion_service.worker.create_worker(settings.suggestion, suggestion, bus, catalog_peer),
        notification_service.worker.create_worker(settings.notification, notification, bus, followed),
        gateway_worker,
    ]
    return Traceline(
        app=app,
        workers=workers,
        bus=bus,
        databases=[auth, catalog, suggestion, notification],
        settings=settings,
        peers=stack,
    )

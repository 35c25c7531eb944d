"""A service as it is run, whatever runs it: as programs of its own, or beside others in one process."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from fastapi import FastAPI

from chassis.core.internal_tokens import InternalVerifier
from chassis.core.settings import ServiceSettings
from chassis.core.version import newest_schema
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.server.worker import Worker
from chassis.web.peers import Peer


@dataclass(frozen=True, slots=True)
class Service:
    """What a package says of itself as SERVICE in its module `service`.

    The package has `app.create_app` (settings, database, verifier of internal tokens), `worker.create_worker`
    (settings, database, bus) and `migrations`. The services that app and worker ask are their further arguments, one
    Peer each. `internal` says which callers may call which of its internal addresses.
    """

    name: str
    settings: type[ServiceSettings]
    internal: Mapping[str, Collection[str]] = field(default_factory=dict)
    app_asks: tuple[str, ...] = ()
    worker_asks: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """The package, whose name the database has, too."""
        return self.name.replace("-", "_")

    @property
    def schema(self) -> str:
        """The schema that it needs of its database."""
        return newest_schema(self.package)

    def create_app(
        self, settings: ServiceSettings, database: Database, verifier: InternalVerifier, peers: Mapping[str, Peer]
    ) -> FastAPI:
        """Return its HTTP app; `peers` are by name."""
        create = import_module(f"{self.package}.app").create_app
        app: FastAPI = create(settings, database, verifier, *(peers[name] for name in self.app_asks))
        return app

    def create_worker(
        self, settings: ServiceSettings, database: Database, bus: Bus, peers: Mapping[str, Peer]
    ) -> Worker:
        """Return its worker; `peers` are by name."""
        create = import_module(f"{self.package}.worker").create_worker
        worker: Worker = create(settings, database, bus, *(peers[name] for name in self.worker_asks))
        return worker


def service_of(package: str) -> Service:
    """Return what a package says of itself."""
    service: Service = import_module(f"{package}.service").SERVICE
    return service

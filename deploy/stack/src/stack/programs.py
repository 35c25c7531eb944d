"""The programs of the stack that are Traceline's own, and the settings that each is given."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from chassis.core.internal_tokens import GATEWAY, callers_of, public_key
from chassis.server.service import Service
from contracts import routes
from embedded import services

SERVICES = {service.name: service.package for service in routes.SERVICES}
"""The package of each service that has a database; the database has the package's name."""

_GATEWAYS = 2
_WORKERS = {f"{service.context}-worker": 1 for service in routes.SERVICES} | {"suggestion-worker": 2}
_APP_CONNECTIONS = 12
"""As many writes may wait for the disk before a list has to wait for them."""
_WORKER_CONNECTIONS = 6


class Stage(IntEnum):
    """Started from the first to the last, stopped the other way round."""

    SERVERS = 1
    SERVICES = 2
    WORKERS = 3
    GATEWAY = 4


@dataclass(frozen=True)
class Program:
    """What supervisord runs, in one or several copies.

    With `settings` (names and values of the environment) it reads them from files that are closed to others;
    `of_copy` holds those of each copy. A program with a `listener`, a host and port, gets the listening socket that
    its copies share as file 0.
    """

    name: str
    stage: Stage
    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    of_copy: Sequence[Mapping[str, str]] = ({},)
    listener: tuple[str, int] | None = None
    user: str | None = None
    stop_signal: str = "TERM"
    starts_first: bool = False

    @property
    def processes(self) -> list[str]:
        """The name of each copy."""
        if len(self.of_copy) == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(len(self.of_copy))]


@dataclass(frozen=True)
class Surroundings:
    """What the programs must know of one another; ports by process, the URLs of servers by service."""

    listener: tuple[str, int]
    ports: Mapping[str, int]
    metrics_ports: Mapping[str, int]
    database_urls: Mapping[str, str]
    rabbitmq_urls: Mapping[str, str]
    signing_keys: Mapping[str, str]

    def signing_key(self, caller: str, asked: Sequence[str]) -> dict[str, str]:
        """Return what signs the calls of a program that asks others."""
        return {"INTERNAL_SIGNING_KEY": self.signing_keys[caller]} if asked else {}

    def trusted_keys(self, service: Service) -> dict[str, str]:
        """Return what the calls of a service are verified by."""
        keys = (public_key(self.signing_keys[caller]) for caller in sorted(callers_of(service.internal)))
        return {"INTERNAL_TRUSTED_KEYS": " ".join(keys)}

    def url(self, process: str) -> str:
        """Return where a process answers HTTP."""
        return f"http://127.0.0.1:{self.ports[process]}"


def processes_with_ports() -> list[str]:
    """Return the name of each process that listens on a port of its own."""
    copies = [[name] if number == 1 else [f"{name}-{n}" for n in range(number)] for name, number in _WORKERS.items()]
    return [*SERVICES, *(name for names in copies for name in names)]


def all_processes() -> list[str]:
    """Return the name of each process of ours."""
    return [*processes_with_ports(), *(f"{GATEWAY}-{number}" for number in range(_GATEWAYS))]


def programs(given: Surroundings) -> list[Program]:
    """Return every service's app and worker, and the gateway."""
    peers = {f"{service.removesuffix('-service').upper()}_URL": given.url(service) for service in SERVICES}

    def of_service(service: str, connections: int) -> dict[str, str]:
        pool = {"DATABASE_URL": given.database_urls[service], "DATABASE_POOL_SIZE": str(connections)}
        return {**peers, **pool, "HTTP_HOST": "127.0.0.1"}

    def metrics(process: str) -> dict[str, str]:
        return {"METRICS_PORT": str(given.metrics_ports[process])}

    def ports(processes: list[str]) -> list[dict[str, str]]:
        return [{"HTTP_PORT": str(given.ports[process]), **metrics(process)} for process in processes]

    apps = [
        Program(
            name=service.name,
            stage=Stage.SERVICES,
            command=_module(f"{service.package}.app"),
            settings={
                **of_service(service.name, _APP_CONNECTIONS),
                **given.trusted_keys(service),
                **given.signing_key(service.name, service.app_asks),
            },
            of_copy=ports([service.name]),
        )
        for service in services.SERVICES
    ]
    workers = []
    for service in services.SERVICES:
        name = service.name.replace("-service", "-worker")
        workers.append(
            Program(
                name=name,
                stage=Stage.WORKERS,
                # People wait for what apps answer: on one machine, workers give way to them.
                command=["nice", "-n", "10", *_module(f"{service.package}.worker")],
                settings={
                    **of_service(service.name, _WORKER_CONNECTIONS),
                    **given.signing_key(service.name, service.worker_asks),
                    "RABBITMQ_URL": given.rabbitmq_urls[service.name],
                },
                of_copy=ports([process for process in given.ports if process.startswith(name)]),
            )
        )
    gateway = Program(
        name=GATEWAY,
        stage=Stage.GATEWAY,
        command=_module("gateway.app"),
        settings={**given.signing_key(GATEWAY, tuple(SERVICES)), **peers, "HTTP_SOCKET_FD": "0"},
        of_copy=[metrics(f"{GATEWAY}-{number}") for number in range(_GATEWAYS)],
        listener=given.listener,
    )
    return [*apps, *workers, gateway]


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", name]

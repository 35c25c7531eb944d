"""Everything that runs for one data folder: prepared, started in order, stopped in order."""

import http.client
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chassis.core.internal_tokens import GATEWAY, new_signing_key
from chassis.local.postgres import Cluster
from chassis.local.rabbitmq import PrivateNode
from contracts.routes import CALLERS
from stack import configuration, databases, ports, postgres, rabbitmq
from stack.programs import SERVICES, Program, Stage, Surroundings, all_processes, processes_with_ports, programs
from stack.settings import Servers, Settings
from stack.supervision import Supervisor

_OURS = ("DATABASE_URL", "RABBITMQ_URL", "HTTP_HOST", "HTTP_PORT", "HTTP_SOCKET_FD", "METRICS_PORT")
"""Each program is given its own; what the environment says is not for all of them."""
_LOOK_AGAIN = 0.1
_POSTGRES_STARTS_WITHIN = 120


@dataclass
class System:
    """Not yet running; `folder` is ours alone."""

    folder: Path
    settings: Settings
    servers: Servers
    signing_keys: Mapping[str, str]

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(self.folder)
        self._programs: list[Program] = []
        self._ports: dict[str, int] = {}
        self.database_urls: dict[str, str] = {}

    def start(self) -> None:
        """Start everything; it is not ready yet. Raises StartFailure when that cannot be."""
        cluster, database_url = self._postgres()
        node, rabbitmq_urls = self._rabbitmq()
        taken = {self.settings.port, *(node.ports if node else ())}
        self._ports = ports.assign(self.folder / "ports.json", processes_with_ports(), taken)
        self.database_urls = databases.urls(database_url)
        surroundings = Surroundings(
            listener=(self.settings.host, self.settings.port),
            ports=self._ports,
            metrics_ports=ports.assign(self.folder / "metrics_ports.json", all_processes(), taken),
            database_urls=self.database_urls,
            rabbitmq_urls=rabbitmq_urls,
            signing_keys=self.signing_keys,
        )
        servers = [*(rabbitmq.programs(node) if node else []), *([postgres.program(cluster)] if cluster else [])]
        self._programs = [*servers, *programs(surroundings)]
        configuration.write(self.folder, self._programs)
        for name in _OURS:
            os.environ.pop(name, None)
        self.supervisor.start()
        # RabbitMQ, which takes the longest, starts from here on.
        if cluster:
            cluster.prepare()
            self.supervisor.start_group("postgres")
            log = self.folder / "log" / "postgres.log"
            databases.wait_for(database_url, patience=_POSTGRES_STARTS_WITHIN, advice=f"its log is {log}")
        databases.prepare(database_url)
        self._start(Stage.SERVICES)
        self._start(Stage.GATEWAY)
        if node:
            # Workers would wait for it as well, but look again only after ever longer pauses.
            rabbitmq.wait_for(node)
        self._start(Stage.WORKERS)

    def wait_until_ready(self, patience: float) -> list[str]:
        """Wait until everything is ready; return the processes that are not after `patience` seconds."""
        end = time.monotonic() + patience
        waiting = {GATEWAY: (self.settings.host, self.settings.port, "/healthz")}
        waiting |= {name: ("127.0.0.1", port, "/readyz") for name, port in self._ports.items()}
        while (waiting := {name: place for name, place in waiting.items() if not _is_ready(*place)}) != {}:
            if time.monotonic() >= end:
                break
            time.sleep(_LOOK_AGAIN)
        return list(waiting)

    def stop(self) -> None:
        """End everything, who serves before what they need; nothing is left, whatever state it was in."""
        if self.supervisor.answers():
            # Workers answer no requests: they end while the gateways answer what is under way.
            self.supervisor.stop_groups([*self._names(Stage.GATEWAY), *self._names(Stage.WORKERS)])
            self.supervisor.stop_groups(self._names(Stage.SERVICES))
            self.supervisor.stop_groups(self._names(Stage.SERVERS))
        self.supervisor.take_down_what_is_left()

    def _postgres(self) -> tuple[Cluster | None, str]:
        if self.servers.database_url is not None:
            url = self.servers.database_url.get_secret_value()
            databases.wait_for(url, patience=0, advice="look at the server, or mend DATABASE_URL")
            return None, url
        cluster = postgres.cluster(self.folder)
        return cluster, postgres.url(cluster)

    def _rabbitmq(self) -> tuple[PrivateNode | None, dict[str, str]]:
        if self.servers.rabbitmq_url is not None:
            return None, dict.fromkeys(SERVICES, self.servers.rabbitmq_url.get_secret_value())
        rabbitmq.install_when_missing()
        node = rabbitmq.node(self.folder / "rabbitmq")
        node.prepare()
        return node, rabbitmq.urls(node)

    def _start(self, stage: Stage) -> None:
        for name in self._names(stage):
            self.supervisor.start_group(name)

    def _names(self, stage: Stage) -> list[str]:
        return [program.name for program in self._programs if program.stage is stage]


def signing_keys(folder: Path) -> dict[str, str]:
    """Return the key that each caller of a service signs with: made once, stored in the folder."""
    file = folder / "signing_keys.json"
    stored: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    keys = {caller: new_signing_key(caller) for caller in CALLERS} | stored
    if keys != stored:
        configuration.write_private(file, json.dumps(keys))
    return keys


def _is_ready(host: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

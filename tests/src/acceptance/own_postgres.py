"""A PostgreSQL server of a test's own, reached over TCP, which nothing is left of at the end."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from acceptance.program import free_port
from chassis.local.postgres import Cluster
from stack.databases import wait_for


@dataclass(frozen=True)
class OwnPostgres:
    """A running server: the URL under which its superuser logs in, and where its pg_dump and the like are."""

    url: str
    programs: Path


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """Run a fresh server of the wheel on the loopback address."""
    with tempfile.TemporaryDirectory(prefix="traceline-postgres-", ignore_cleanup_errors=True) as place:
        folder, port = Path(place) / "data", free_port()
        settings = {"listen_addresses": "127.0.0.1", "port": str(port), "max_connections": "250", "fsync": "off"}
        server = Cluster(folder, settings)
        server.prepare()
        with (Path(place) / "log").open("wb") as log:
            running = subprocess.Popen([server.programs / "postgres", "-D", folder], **server.as_user(), stderr=log)
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        try:
            wait_for(url, patience=30, advice="its log is lost")
            yield OwnPostgres(url, server.programs)
        finally:
            running.send_signal(signal.SIGINT)  # ends connections at once
            running.wait(timeout=30)

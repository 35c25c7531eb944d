"""The server of a stack is backed up by the command that the runbook names."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from acceptance.faults.databases import SERVICES
from acceptance.own_postgres import OwnPostgres, own_postgres
from testing.postgres import with_database

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def server() -> Iterator[OwnPostgres]:
    """A server of the wheel's version, with an empty database a service."""
    with own_postgres() as running:
        for service in SERVICES:
            with psycopg.connect(running.url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {service}_service")
        yield running


def back_up(folder: Path, url: str, path: str) -> subprocess.CompletedProcess[str]:
    parts = psycopg.conninfo.conninfo_to_dict(with_database(url, "postgres"))
    where = {"PGHOST": str(parts["host"]), "PGPORT": str(parts["port"]), "PGUSER": str(parts["user"]), "PATH": path}
    return subprocess.run(
        [DEPLOY / "backup.sh", folder], env={**os.environ, **where}, capture_output=True, text=True, check=False
    )


def test_a_client_that_fits_the_server_is_found(server: OwnPostgres, tmp_path: Path) -> None:
    """The system has none, or one that is older than the server."""
    done = back_up(tmp_path / "backup", server.url, "/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert sorted(file.stem for file in (tmp_path / "backup").iterdir()) == sorted(SERVICES)


def test_a_server_that_is_not_there_is_told_and_leaves_nothing(server: OwnPostgres, tmp_path: Path) -> None:
    nobody = server.url.replace("127.0.0.1:", "127.0.0.2:")
    done = back_up(tmp_path / "backup", nobody, f"{server.programs}:/usr/bin:/bin")
    assert done.returncode == 1
    assert "Nothing was done." in done.stderr
    assert list(tmp_path.iterdir()) == []

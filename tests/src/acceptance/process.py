"""The embedded Traceline as a process: started, killed, stopped, and watched for what it leaves."""

import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil
import psycopg

from acceptance.program import RunningProgram

READY_WITHIN = 180.0


class RunningTraceline(RunningProgram):
    """``python -m embedded``: all of Traceline in one process."""

    stopped_within = 20.0

    def __init__(self, data_dir: Path, module: Sequence[str] = ("embedded",), **settings: str) -> None:
        """Args: see RunningProgram."""
        super().__init__(data_dir, module, **settings)

    @property
    def log(self) -> str:
        """Its log file, which tells more than the terminal sees."""
        return (self.data_dir / "traceline.log").read_text(encoding="utf-8", errors="replace")

    def events_kept_back(self) -> list[tuple[str, str]]:
        """The events that a service could not apply, by name and error: nothing of it shows over the API."""
        found = []
        for service in ("auth", "catalog", "suggestion", "notification"):
            with psycopg.connect(self.database_url(f"{service}-service")) as connection:
                found += connection.execute("SELECT wire_name, error FROM inbox_failures").fetchall()
        return found

    def database_url(self, service: str) -> str:
        """The database of ``auth-service``, ``catalog-service`` and so on."""
        # Where the server listens is in the lines of its lock file: port, then folder of the socket.
        lines = (self.data_dir / "postgresql" / "postmaster.pid").read_text().splitlines()
        name = service.replace("-", "_")
        return f"postgresql://postgres@/{name}?host={quote(lines[4], safe='')}&port={lines[3]}"

    def start(self) -> None:
        """See RunningProgram.start."""
        self._launch()
        try:
            self._wait_until_ready()
        except RuntimeError:
            self.kill()
            raise

    def kill(self, *, with_database: bool = False) -> None:
        """End it with SIGKILL, without a chance to tidy up; its database server too, as a power cut would."""
        if with_database:
            self.kill_everything()
        else:
            self._kill()

    def kill_everything(self) -> None:
        """See RunningProgram.kill_everything."""
        if self._process is not None:
            self._kill()
        for process in living_in(self.data_dir):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + READY_WITHIN
        while time.monotonic() < end:
            code = self._running().poll()
            if code is not None:
                raise RuntimeError(f"It ended with exit code {code} while starting.\n{self.output}")
            try:
                if httpx.get(self.base_url + "/healthz", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # not listening yet
            time.sleep(0.05)
        raise RuntimeError(f"It was not ready within {READY_WITHIN:g} s.\n{self.output}")


@contextmanager
def fresh_folder(copy_of: Path | None = None) -> Iterator[Path]:
    """A path for the data of one Traceline, removed with everything in it at the end.

    Args: ``copy_of`` is the data folder of a stopped Traceline to begin with; without it nothing is there yet.

    None of pytest's temporary folders: whenever another pytest starts, it closes them to all other users,
    and for root the embedded PostgreSQL runs as one.
    """
    with tempfile.TemporaryDirectory(prefix="traceline-") as folder:
        place = Path(folder).resolve() / "data"
        if copy_of is not None:
            copy(copy_of, place)
        yield place


def copy(folder: Path, place: Path) -> None:
    """Copy a data folder with the owners of its files, as PostgreSQL wants them."""
    subprocess.run(["cp", "-a", folder, place], check=True)  # noqa: S607 - a POSIX command


def living_in(folder: Path) -> list[psutil.Process]:
    """The processes that work in ``folder`` or were started with it, its database servers for example."""
    place = str(folder.resolve())
    found = []
    for process in psutil.process_iter():
        try:
            working_in, command = process.cwd(), " ".join(process.cmdline())
        except psutil.Error:
            continue  # it has ended meanwhile, or is none of ours
        if working_in.startswith(place) or place in command:
            found.append(process)
    return found

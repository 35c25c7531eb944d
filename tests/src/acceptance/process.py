"""The embedded Traceline as a process: started, killed, stopped, and watched for what it leaves."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psutil

from acceptance.program import RunningProgram, is_ready

READY_WITHIN = 180.0


class RunningTraceline(RunningProgram):
    """``python -m embedded``: all of Traceline in one process."""

    def __init__(self, data_dir: Path, module: Sequence[str] = ("embedded",), **settings: str) -> None:
        """Args: see RunningProgram."""
        super().__init__(data_dir, module, **settings)

    @property
    def log(self) -> str:
        """Its log file, which tells more than the terminal sees."""
        return (self.data_dir / "traceline.log").read_text(encoding="utf-8", errors="replace")

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
            self._wait(lambda: [] if is_ready(f"{self.base_url}/healthz") else ["/healthz"], READY_WITHIN)
        except RuntimeError:
            self.kill_everything()
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

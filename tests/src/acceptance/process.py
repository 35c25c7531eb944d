"""The embedded Traceline as a process: started, killed, stopped, and watched for what it leaves."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import httpx
import psutil
import psycopg

ADMIN_EMAIL = "admin@traceline.test"
ADMIN_PASSWORD = "the admin of these tests"

READY_WITHIN = 60.0
STOPPED_WITHIN = 5.0


class RunningTraceline:
    """``python -m embedded`` with its data in one folder, on a free port of the loopback address.

    As a context manager it is started and ready inside, and stopped at the end.
    """

    def __init__(self, data_dir: Path, module: Sequence[str] = ("embedded",), **settings: str) -> None:
        """Args: ``data_dir`` need not exist; ``module`` is what stands after ``python -m``; ``settings`` are
        further environment variables.
        """
        self.data_dir = data_dir
        self._command = [sys.executable, "-m", *module]
        self.port = free_port()
        self.settings = settings
        self._output = data_dir.with_name(data_dir.name + ".log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def output(self) -> str:
        """Everything it has written so far, over all its starts."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    @property
    def log(self) -> str:
        """Its log file, which tells more than the terminal sees."""
        return (self.data_dir / "traceline.log").read_text(encoding="utf-8", errors="replace")

    def events_kept_back(self) -> list[tuple[str, str]]:
        """The events that a service could not apply, by name and error: nothing of it shows over the API."""
        # Where the server listens is in the lines of its lock file: port, then folder of the socket.
        lines = (self.data_dir / "postgresql" / "postmaster.pid").read_text().splitlines()
        found = []
        for service in ("auth", "catalog", "suggestion", "notification"):
            place = f"host={lines[4]} port={lines[3]} user=postgres dbname={service}_service"
            with psycopg.connect(place) as connection:
                found += connection.execute("SELECT wire_name, error FROM inbox_failures").fetchall()
        return found

    def start(self) -> None:
        """Start it and wait until it is ready; again after an end, on the same folder and port.

        Raises:
            RuntimeError: it ended, or was not ready in time; the message shows its output.
        """
        with self._output.open("ab") as output:
            # A session of its own: Ctrl-C at the tests must end it through stop(), not behind our back.
            self._process = subprocess.Popen(
                self._command,
                env=self.environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except RuntimeError:
            self.kill()
            raise

    def run_to_its_end(self, *, within: float = 30.0) -> subprocess.CompletedProcess[str]:
        """Start it where it cannot work, and return how it ended with what it wrote."""
        return subprocess.run(
            self._command,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "TRACELINE_HOST": "127.0.0.1",
            "TRACELINE_PORT": str(self.port),
            "TRACELINE_DATA_DIR": str(self.data_dir),
            "DEFAULT_ADMIN_EMAIL": ADMIN_EMAIL,
            "DEFAULT_ADMIN_PASSWORD": ADMIN_PASSWORD,
            **self.settings,
        }

    def kill(self, *, with_database: bool = False) -> None:
        """End it with SIGKILL, without a chance to tidy up; its database server too, as a power cut would."""
        process = self._running()
        process.kill()
        process.wait()
        self._process = None
        if with_database:
            self._kill_what_is_left()

    def stop(self) -> None:
        """End it as Ctrl-C does.

        Raises:
            RuntimeError: it was not gone in time, or its exit code was not 0.
        """
        process = self._running()
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(timeout=STOPPED_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"Still there {STOPPED_WITHIN:g} s after Ctrl-C.\n{self.output}") from None
        self._process = None
        if code != 0:
            raise RuntimeError(f"Ended with exit code {code}.\n{self.output}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._process is not None:
                self.stop()
        finally:
            self._kill_what_is_left()

    def _kill_what_is_left(self) -> None:
        for process in living_in(self.data_dir):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("It is not running.")
        return self._process

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
            # With the owners of the files, as PostgreSQL wants them.
            subprocess.run(["cp", "-a", copy_of, place], check=True)  # noqa: S607 - a POSIX command
        yield place


def free_port() -> int:
    """A port of the loopback address on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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

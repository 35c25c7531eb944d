"""A Traceline that a test has started: one process of its own, whatever it starts itself."""

import http.client
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from chassis.local import free_ports

ADMIN_EMAIL = "admin@traceline.test"
ADMIN_PASSWORD = "the admin of these tests"

STOPPED_WITHIN = 300.0
"""Seconds after Ctrl-C from which on it counts as hanging. It may have to end a computation first, and on a machine
that others want too that takes many times what it takes alone."""


class RunningProgram(ABC):
    """``python -m ...`` with its data in one folder, on a free port of the loopback address.

    As a context manager it is started and ready inside, and stopped at the end; nothing of it is left then.
    """

    def __init__(self, data_dir: Path, module: Sequence[str], **settings: str) -> None:
        """Args: ``data_dir`` need not exist; ``module`` is what stands after ``python -m``; ``settings`` are
        further environment variables.
        """
        self.data_dir = data_dir
        self.port = free_port()
        self.settings = settings
        self._module = module
        self._command = [sys.executable, "-m", *module]
        self._output = data_dir.with_name(data_dir.name + ".log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process that was started here."""
        return self._running().pid

    @property
    def output(self) -> str:
        """Everything it has written to the terminal so far, over all its starts."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it is ready; again after an end, on the same folder and port.

        Raises:
            RuntimeError: it ended, or was not ready in time; the message shows its output.
        """

    @abstractmethod
    def kill_everything(self) -> None:
        """End it and all that it has started with SIGKILL, as a power cut would."""

    def run_to_its_end(self, *arguments: str, within: float = 500.0) -> subprocess.CompletedProcess[str]:
        """Start it where it cannot work, and return how it ended with what it wrote."""
        from testing import commands  # pytest and more, which a benchmark has no use for

        module, *words = self._module
        code, output, errors = commands.run(module, [*words, *arguments], self.environment(), seconds=within)
        return subprocess.CompletedProcess([*self._command, *arguments], code, output, errors)

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
            self.kill_everything()
            raise RuntimeError(f"Still there {STOPPED_WITHIN:g} s after Ctrl-C.\n{self.output}") from None
        self._process = None
        if code != 0:
            raise RuntimeError(f"Ended with exit code {code}.\n{self.output}")

    def _launch(self) -> None:
        with self._output.open("ab") as output:
            # A session of its own: Ctrl-C at the tests must end it through stop(), not behind our back.
            self._process = subprocess.Popen(
                self._command,
                env=self.environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _wait(self, what_is_missing: Callable[[], list[str]], within: float) -> None:
        end = time.monotonic() + within
        while missing := what_is_missing():
            code = self._running().poll()
            if code is not None:
                raise RuntimeError(f"It ended with exit code {code}.\n{self.output}")
            if time.monotonic() >= end:
                told = f"{self.output}{self._logs_of(missing)}"
                raise RuntimeError(f"Not ready within {within:g} s: {', '.join(missing)}.\n{told}")
            time.sleep(0.05)

    def _logs_of(self, missing: list[str]) -> str:
        """Return what the logs of what is missing end with; nothing where all is written to the terminal."""
        return ""

    def _kill(self) -> None:
        """End the process that was started here with SIGKILL."""
        process = self._running()
        process.kill()
        process.wait()
        self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("It is not running.")
        return self._process

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._process is not None:
                self.stop()
        finally:
            self.kill_everything()


def is_ready(url: str) -> bool:
    """Whether 200 is answered at an address, which begins with http://."""
    parts = urlsplit(url)
    # Not httpx, which reads all authorities of the machine first: this is asked again and again.
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False  # not listening yet
    finally:
        connection.close()


def free_port() -> int:
    """A port of the loopback address on which nobody listens, and that no connection is given by chance."""
    return free_ports.free_port(None, set())

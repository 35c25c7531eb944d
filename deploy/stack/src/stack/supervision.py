"""The supervisord of one data folder, and what an earlier one has left running."""

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from xmlrpc.client import Fault, ProtocolError, ServerProxy

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport  # type: ignore[import-untyped]

from chassis.core.start_failure import StartFailure

_ANSWERS_WITHIN = 60
_STOPS_WITHIN = 40
_STOPPED: Final = ("STOPPED", "FATAL")
_LOOK_AGAIN = 0.05


class Supervisor:
    """Answers through a socket in the folder, which only its owner may open."""

    def __init__(self, folder: Path) -> None:
        self._url = f"unix://{folder}/supervisor.sock"
        self._configuration = folder / "supervisord.conf"
        self._errors = folder / "log" / "supervisord-errors.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it starts the programs that wait for no other. Raise StartFailure when it does not come up."""
        command = [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(self._configuration)]
        with self._errors.open("wb") as errors:
            # A session of its own: Ctrl-C at the terminal is for us, who know in which order things stop.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )
        end = time.monotonic() + _ANSWERS_WITHIN
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > end:
                reason = self._errors.read_text().strip().rpartition("\n")[2]
                raise StartFailure(f"supervisord cannot start: {reason or f'its log is {self._errors.parent}'}.")
            time.sleep(_LOOK_AGAIN)

    def wait(self) -> int:
        """Wait until it ends by itself; return its exit code."""
        assert self._process is not None, "it was started"
        return self._process.wait()

    def answers(self) -> bool:
        """Whether it runs."""
        try:
            self._call("getState")
        except (OSError, ProtocolError):
            return False
        return True

    def processes(self) -> list[dict[str, Any]]:
        """Return what supervisord knows of each process: group, name, statename, pid and more."""
        found: list[dict[str, Any]] = self._call("getAllProcessInfo")
        return found

    def start_group(self, name: str) -> None:
        """Start all copies of a program that do not run; return at once. Raise StartFailure when they cannot be."""
        try:
            self._call("startProcessGroup", name, False)
        except ProtocolError:
            # All that it answers when it cannot have the socket that the copies share.
            raise StartFailure(
                f"supervisord cannot start {name}: somebody may have taken its port meanwhile. Its log says more:"
                f" {self._errors.parent / 'supervisord.log'}."
            ) from None

    def stop_groups(self, names: Iterable[str]) -> None:
        """Stop these programs together; return when all of them have ended."""
        left = set(names)
        while left:
            for name in left:
                # Again each time: what had just crashed when it was asked to stop, comes back.
                self._call("stopProcessGroup", name, False)
            left = {
                process["group"]
                for process in self.processes()
                if process["group"] in left and process["statename"] not in _STOPPED
            }
            time.sleep(_LOOK_AGAIN if left else 0)

    def start_process(self, process: str) -> None:
        """Start one process by its name, gateway-0 for example; return when it runs, or has failed for once."""
        with _unless(Faults.ALREADY_STARTED, Faults.ABNORMAL_TERMINATION, Faults.SPAWN_ERROR):
            self._call("startProcess", self._full_name(process))

    def stop_process(self, process: str) -> None:
        """Stop one process and return when it has ended; it stays away until it is started."""
        with _unless(Faults.NOT_RUNNING):
            self._call("stopProcess", self._full_name(process))

    def shut_down(self) -> None:
        """Stop it, with everything that still runs below it, and wait for that."""
        pid = self._call("getPID")
        self._call("shutdown")
        with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            psutil.Process(pid).wait(_STOPS_WITHIN)

    def take_down_what_is_left(self) -> None:
        """End the supervisord of an earlier run, and the processes that have lost theirs."""
        if self.answers():
            self.shut_down()
        left = [process for process in psutil.process_iter() if self._is_ours(process)]
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, stubborn = psutil.wait_procs(left, timeout=10)
        for process in stubborn:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(stubborn, timeout=5)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if str(self._configuration) in process.cmdline():
                return "supervisor.supervisord" in process.cmdline()
            # supervisord tells each process that it starts, and all that come from it inherit this.
            environment: dict[str, str] = process.environ()
        except psutil.Error:
            return False  # it has ended meanwhile, or belongs to somebody else
        return environment.get("SUPERVISOR_SERVER_URL") == self._url

    def _full_name(self, process: str) -> str:
        for found in self.processes():
            if found["name"] == process:
                return f"{found['group']}:{process}"
        raise LookupError(f"There is no process {process!r}.")

    def _call(self, method: str, *arguments: Any) -> Any:
        # A connection for each call: supervisord closes those that are idle.
        with ServerProxy("http://localhost", SupervisorTransport(serverurl=self._url)) as proxy:
            return getattr(proxy.supervisor, method)(*arguments)


@contextmanager
def _unless(*codes: int) -> Iterator[None]:
    """Let pass the refusals with these codes: what was asked for is so already."""
    try:
        yield
    except Fault as refusal:
        if refusal.faultCode not in codes:
            raise

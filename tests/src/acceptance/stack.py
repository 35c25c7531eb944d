"""The stack, every service as processes, as a test drives it: started, hurt, watched and stopped."""

import shlex
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from acceptance.program import RunningProgram, is_ready
from acceptance.stack_folder import StackFolder
from acceptance.waiting import eventually
from stack.configuration import write_settings

READY_WITHIN = 240.0

_LOG_LINES = 5

_GREETING = "Traceline is running at"


class RunningStack(StackFolder, RunningProgram):
    """``python -m stack`` with its data in one folder, on a free port of the loopback address.

    As a context manager it is started and ready inside, and stopped at the end; nothing of it is left then.

    A *program* may run in several *processes*: the programs ``gateway`` and ``suggestion-worker`` as ``gateway-0``,
    ``gateway-1`` and so on; all others in one that has the program's name, ``catalog-service`` for example.
    """

    def __init__(
        self, data_dir: Path, *, overrides: Mapping[str, Mapping[str, str]] | None = None, **settings: str
    ) -> None:
        """Args: ``data_dir`` need not exist; ``overrides`` are those of :meth:`override` from the first start on;
        ``settings`` are further environment variables.
        """
        StackFolder.__init__(self, data_dir)
        RunningProgram.__init__(self, data_dir, ["stack"], **settings)
        self._overrides = overrides or {}

    def kill(self, process: str, number: int = signal.SIGKILL) -> int:
        """Send a signal; return the process id that it was sent to. After SIGKILL that process is gone."""
        pid = self.pids()[process]
        victim = psutil.Process(pid)
        victim.send_signal(number)
        if number == signal.SIGKILL:
            eventually(lambda: not _lives(victim), f"the end of {process}")
        return pid

    def restart(self, name: str) -> None:
        """Stop and start a process, or the processes of a program, one after the other."""
        for process in self._processes_of(name):
            self.supervisor.stop_process(process)
            self.supervisor.start_process(process)

    def stop_program(self, name: str) -> None:
        """Stop a process, or all of a program; it stays away until it is started."""
        for process in self._processes_of(name):
            self.supervisor.stop_process(process)

    def start_program(self, name: str) -> None:
        """Start what was stopped; see :meth:`wait_ready` for when it is ready."""
        for process in self._processes_of(name):
            self.supervisor.start_process(process)

    def override(self, name: str, **settings: str) -> None:
        """Give a program, or one process of it, other settings than the stack does, from its next start on.

        ``COMMAND`` is one of them, a shell command: see :func:`module`. Without settings the override is taken away.
        """
        folder = self.data_dir / "overrides"
        folder.mkdir(parents=True, exist_ok=True)
        if settings:
            write_settings(folder / f"{name}.env", settings)
        else:
            (folder / f"{name}.env").unlink(missing_ok=True)

    def start(self) -> None:
        """See RunningProgram.start."""
        for name, settings in self._overrides.items():
            self.override(name, **settings)
        said = self._output.stat().st_size if self._output.exists() else 0
        self._launch()
        try:
            # Its own word first: what an earlier run has left may seem to be ready until it is taken down.
            self._wait(lambda: [] if _GREETING in self.output[said:] else ["the greeting"], READY_WITHIN)
            self.wait_ready()
        except RuntimeError:
            self.kill_everything()
            raise

    def environment(self) -> dict[str, str]:
        # A server that all tests share is nothing for a stack: its databases always have the same names.
        shared = ("DATABASE_URL", "RABBITMQ_URL")
        environment = super().environment()
        return {name: value for name, value in environment.items() if name not in shared} | self.settings

    def wait_ready(self, within: float = READY_WITHIN) -> None:
        """Wait until every process runs and says that it is ready.

        Raises:
            RuntimeError: it ended, or was not ready in time; the message says who is not, and shows the output.
        """
        self._wait(self._not_ready, within)

    def stop(self) -> None:
        """End it as Ctrl-C does.

        Raises:
            RuntimeError: it was not gone in time, its exit code was not 0, or it left processes behind.
        """
        super().stop()
        if left := self.processes():
            raise RuntimeError(f"It has left {left}.")

    def kill_parent(self) -> None:
        """End the process that was started here with SIGKILL: supervisord and all below it live on."""
        self._kill()

    def kill_everything(self) -> None:
        """See RunningProgram.kill_everything."""
        if self._process is not None:
            self.kill_parent()
        # Twice: one that starts others may have started one meanwhile.
        for _ in range(2):
            left = self.processes()
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(left, timeout=5)

    def _logs_of(self, missing: list[str]) -> str:
        """See RunningProgram._logs_of."""
        logs = sorted({log for name in missing for log in (self.data_dir / "log").glob(f"{name}*.log")})
        ends = (log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:] for log in logs)
        return "".join(f"\n{log.name} ends with:\n" + "\n".join(end) for log, end in zip(logs, ends, strict=True))

    def _processes_of(self, name: str) -> list[str]:
        found = [
            process["name"] for process in self.supervisor.processes() if name in (process["group"], process["name"])
        ]
        if not found:
            raise LookupError(f"There is no program {name!r}.")
        return found

    def _not_ready(self) -> list[str]:
        if not self.supervisor.answers():
            return ["supervisord"]
        missing = [
            process["name"]
            for process in self.supervisor.processes()
            if process["statename"] != "RUNNING" or not psutil.pid_exists(process["pid"])
        ]
        if missing:
            return missing
        if (self.rabbitmq.folder / "node.json").exists() and not self.rabbitmq.answers():
            return ["rabbitmq"]
        probes = {"gateway": f"{self.base_url}/healthz"}
        probes |= {process: f"{url}/readyz" for process, url in self.urls.items()}
        return [name for name, url in probes.items() if not is_ready(url)]


def module(*words: str) -> str:
    """The COMMAND that runs ``python -m`` with these words, to be given to :meth:`RunningStack.override`."""
    return shlex.join([sys.executable, "-m", *words])


def _lives(process: psutil.Process) -> bool:
    try:
        lives: bool = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    return lives

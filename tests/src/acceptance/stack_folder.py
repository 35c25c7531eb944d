"""What can be seen of a stack from its data folder, by whoever started it."""

import json
import shlex
from contextlib import suppress
from pathlib import Path

import psutil

from acceptance.process import living_in
from chassis.local.rabbitmq import PrivateNode
from stack.supervision import Supervisor


class StackFolder:
    """The data folder of a stack; most of it can be told only while the stack runs."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.supervisor = Supervisor(data_dir)

    @property
    def urls(self) -> dict[str, str]:
        """Where each service and each worker answers HTTP itself, by process."""
        ports = json.loads((self.data_dir / "ports.json").read_text())
        return {process: f"http://127.0.0.1:{port}" for process, port in ports.items()}

    @property
    def metrics_urls(self) -> dict[str, str]:
        """Where each process tells what it has measured."""
        ports = json.loads((self.data_dir / "metrics_ports.json").read_text())
        return {process: f"http://127.0.0.1:{port}/metrics" for process, port in ports.items()}

    @property
    def rabbitmq_url(self) -> str:
        """Where its operator reaches the broker."""
        return self.rabbitmq.url

    @property
    def signing_keys(self) -> dict[str, str]:
        """What each caller of a service signs with."""
        keys: dict[str, str] = json.loads((self.data_dir / "signing_keys.json").read_text())
        return keys

    @property
    def rabbitmq(self) -> PrivateNode:
        """Its broker; all that it stores is in ``rabbitmq.folder / "data"``."""
        return PrivateNode(self.data_dir / "rabbitmq")

    def rabbitmqctl(self, *arguments: str) -> str:
        """Run ``rabbitmqctl`` against its broker, and return what it writes."""
        return self.rabbitmq.rabbitmqctl(*arguments)

    def database_url(self, service: str) -> str:
        """The database of ``auth-service``, ``catalog-service`` and so on."""
        return self.setting(service, "DATABASE_URL")

    def setting(self, program: str, name: str) -> str:
        """What the stack has set for a program (overrides not looked at)."""
        lines = (self.data_dir / "settings" / f"{program}.env").read_text().splitlines()
        return dict(shlex.split(line)[0].split("=", 1) for line in lines)[name]

    def log(self, process: str) -> str:
        """The newest part of the log of a process, of ``gateway-0`` for example, or of ``supervisord``."""
        return (self.data_dir / "log" / f"{process}.log").read_text(encoding="utf-8", errors="replace")

    def pids(self) -> dict[str, int]:
        """The processes that run now, Traceline's own and its servers', by name."""
        return {process["name"]: process["pid"] for process in self.supervisor.processes() if process["pid"]}

    def processes(self) -> list[psutil.Process]:
        """Every process that lives in its folder, the backends of PostgreSQL too."""
        return living_in(self.data_dir)

    def cpu_seconds(self) -> float:
        """What all living processes together have used so far; take the difference of two looks."""
        total = 0.0
        for process in self.processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

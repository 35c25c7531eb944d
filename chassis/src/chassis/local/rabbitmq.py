"""A RabbitMQ node of our own on this machine: its configuration, environment and command, all within one folder.

Who runs the command is not decided here: tests start it themselves, `make stack` gives it to its process runner.
`python -m chassis.local.rabbitmq` sees that RabbitMQ is on this machine.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from chassis.core.start_failure import StartFailure
from chassis.local import debian
from chassis.local.free_ports import free_port
from chassis.messaging.bus.rabbitmq.users import VHOST, User, definitions

_DEBIAN_SCRIPTS = Path("/usr/lib/rabbitmq/bin")
"""What stands in PATH on Debian changes to the user and the folders of the system's own broker."""

# The node answers to this machine only, sleeps while it has nothing to do, and ends with SIGTERM as one process.
_ERLANG_ARGUMENTS = (
    "-noinput +B i +S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}"
)
_CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
load_definitions = {folder}/definitions.json
vm_memory_high_watermark.absolute = 768MiB
disk_free_limit.absolute = 200MB
# Quorum queues keep what is in the current write-ahead file in memory too.
raft.wal_max_size_bytes = 67108864
log.file.level = warning
log.console = false
"""


class _Node(TypedDict):
    """What a folder's node has for its life."""

    password: str
    passwords: dict[str, str]
    port: int
    distribution_port: int
    epmd_port: int


class PrivateNode:
    """The node of one folder on a local disk. Call `prepare` before a start, while nothing of it runs."""

    def __init__(self, folder: Path, port: int | None = None, users: Sequence[User] = ()) -> None:
        """`port`: where it listens for AMQP; a free one that stays the same while it can, when None.

        `users`: who it knows besides the operator, who may everything.
        """
        self.folder = folder
        self._port = port
        self._users = users
        self._file = folder / "node.json"

    @property
    def url(self) -> str:
        """Where the operator connects, with the password."""
        return self._url("traceline", self._node()["password"])

    def url_of(self, user: str) -> str:
        """Return where one of the users connects, with the password."""
        return self._url(user, self._node()["passwords"][user])

    @property
    def ports(self) -> set[int]:
        """What its programs listen on once they run."""
        node = self._node()
        return {node["port"], node["distribution_port"], node["epmd_port"]}

    @property
    def command(self) -> list[str]:
        """Runs the node in the foreground as one process; SIGTERM ends it well."""
        return [str(_scripts() / "rabbitmq-server")]

    @property
    def epmd_command(self) -> list[str]:
        """Runs the Erlang port mapper in the foreground: start it before the node, which else leaves a daemon."""
        node = self._node()
        return [_program("epmd"), "-address", "127.0.0.1", "-port", str(node["epmd_port"])]

    @property
    def environment(self) -> dict[str, str]:
        """What the commands need besides the environment they inherit. It holds no secret."""
        node, folder = self._node(), self.folder.resolve()
        return {
            "HOME": str(folder),  # where Erlang looks for its cookie
            "LC_ALL": "C.UTF-8",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(node["epmd_port"]),
            "RABBITMQ_ALLOW_INPUT": "true",  # so that no shell stays around the node
            "RABBITMQ_CONF_ENV_FILE": str(folder / "rabbitmq-env.conf"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_CTL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_DIST_PORT": str(node["distribution_port"]),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_NODENAME": "traceline@localhost",
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _ERLANG_ARGUMENTS,
        }

    def prepare(self) -> None:
        """Write the configuration. Ports that were taken meanwhile are replaced, passwords stay."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        before: _Node | None = self._node() if self._file.exists() else None
        taken: set[int] = {self._port} if self._port else set()
        known = before.get("passwords", {}) if before else {}
        passwords = {user: known.get(user.name) or secrets.token_hex(16) for user in self._users}
        node = _Node(
            password=before["password"] if before else secrets.token_hex(16),
            passwords={user.name: password for user, password in passwords.items()},
            port=self._port or free_port(before and before["port"], taken),
            distribution_port=free_port(before and before["distribution_port"], taken),
            epmd_port=free_port(before and before["epmd_port"], taken),
        )
        self._write("node.json", json.dumps(node))
        self._write("rabbitmq.conf", _CONFIGURATION.format(folder=self.folder.resolve(), port=node["port"]))
        self._write("definitions.json", json.dumps(definitions(passwords, operator_password=node["password"])))
        self._write("rabbitmq-env.conf", "")
        self._write("enabled_plugins", "[].\n")
        if not (self.folder / ".erlang.cookie").exists():
            self._write(".erlang.cookie", secrets.token_hex(16))

    def rabbitmqctl(self, *arguments: str) -> str:
        """Run `rabbitmqctl` (a second or two) and return what it says; raise subprocess.CalledProcessError."""
        command = [str(_scripts() / "rabbitmqctl"), "--quiet", *arguments]
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def answers(self) -> bool:
        """Whether clients can connect: listening is the last thing that a starting node does."""
        try:
            socket.create_connection(("127.0.0.1", self._node()["port"]), timeout=1).close()
        except OSError:
            return False
        return True

    def _url(self, user: str, password: str) -> str:
        return f"amqp://{user}:{password}@127.0.0.1:{self._node()['port']}/{VHOST}"

    def _node(self) -> _Node:
        node: _Node = json.loads(self._file.read_text())
        return node

    def _write(self, name: str, text: str) -> None:
        # Replaced, not written in place: it is whole and closed to others from its first moment.
        new = self.folder / f"{name}.new"
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        new.replace(self.folder / name)


def installed() -> bool:
    """Whether this machine has RabbitMQ."""
    return _DEBIAN_SCRIPTS.exists() or shutil.which("rabbitmq-server") is not None


def install() -> None:
    """Install RabbitMQ where that is possible, without starting its service; raise StartFailure where it is not."""
    if not debian.can_install():
        raise StartFailure(
            "RabbitMQ is not installed: install it (Debian, Ubuntu: apt-get install rabbitmq-server; "
            "macOS: brew install rabbitmq), or set RABBITMQ_URL to a running one."
        )
    try:
        debian.install("rabbitmq-server", installed)
    except StartFailure as failure:
        raise StartFailure(f"{failure} Install it by hand, or set RABBITMQ_URL to a running one.") from None


def main() -> int:
    """Install RabbitMQ where it is missing; return the exit code."""
    try:
        if not installed():
            sys.stdout.write("RabbitMQ is not there yet: installing it (once) ...\n")
            sys.stdout.flush()
            install()
    except StartFailure as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


def _scripts() -> Path:
    if _DEBIAN_SCRIPTS.exists():
        return _DEBIAN_SCRIPTS
    return Path(_program("rabbitmq-server")).parent


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise StartFailure(f"{name} is not installed: it comes with RabbitMQ's package.")
    return found


if __name__ == "__main__":
    sys.exit(main())

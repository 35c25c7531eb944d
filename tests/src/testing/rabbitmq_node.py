"""A real RabbitMQ for tests: a private node that can be stopped, killed and started again."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from chassis.local import rabbitmq as private_node
from chassis.local.rabbitmq import PrivateNode
from chassis.messaging.bus.rabbitmq.users import User

_READY_WITHIN = 300.0
_STOPPED_WITHIN = 30.0


class RabbitMQNode:
    """A node with its data in one folder. As a context manager it runs inside, and is stopped at the end."""

    def __init__(self, folder: Path, users: Sequence[User] = ()) -> None:
        """`folder` need not exist. The node has its URL from now on, and runs when it is started."""
        self._node = PrivateNode(folder, users=users)
        self._node.prepare()
        self._output = folder.with_name(folder.name + ".log")
        self._epmd: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients connect; it stays the same over restarts."""
        return self._node.url

    def url_of(self, user: str) -> str:
        """Return where one of its users connects."""
        return self._node.url_of(user)

    def start(self) -> None:
        """Start it, unless it runs, and wait until it answers; raise RuntimeError with its output if it does not.

        RabbitMQ is installed first where it is missing and that is possible, else StartFailure is raised.
        """
        if self._server is not None:
            return
        if not private_node.installed():
            private_node.install()
        if self._epmd is None:
            self._epmd = self._run(self._node.epmd_command)
        self._server = self._run(self._node.command)
        end = time.monotonic() + _READY_WITHIN
        while not self._node.answers():
            if self._server.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"RabbitMQ did not start:\n{self._output.read_text(errors='replace')}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End it with SIGKILL, as a power cut does."""
        assert self._server is not None, "it runs"
        self._server.kill()
        self._server.wait()
        self._server = None

    def shut_down(self) -> None:
        """End it well, to be started again."""
        if self._server is not None:
            self._server.terminate()
            try:
                self._server.wait(_STOPPED_WITHIN)
            except subprocess.TimeoutExpired:
                self.kill()
        self._server = None

    def stop(self) -> None:
        """End it well, with everything that belongs to it."""
        self.shut_down()
        if self._epmd is not None:
            self._epmd.terminate()
            self._epmd.wait()
        self._epmd = None

    def rabbitmqctl(self, *arguments: str) -> str:
        """Run `rabbitmqctl` on the node; return what it says."""
        return self._node.rabbitmqctl(*arguments)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._output.open("ab") as output:
            return subprocess.Popen(
                command,
                env={**os.environ, **self._node.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A session of its own: Ctrl-C at the tests must end it through stop(), not behind our back.
                start_new_session=True,
            )


@contextmanager
def temporary_rabbitmq_node() -> Iterator[RabbitMQNode]:
    """Run a node in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="traceline-test-", ignore_cleanup_errors=True) as folder,
        RabbitMQNode(Path(folder) / "rabbitmq") as node,
    ):
        yield node

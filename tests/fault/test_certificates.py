"""Certificates between programs are changed under load, and then their authority, as the runbook says: none is refused.

Each service is one process here: requests wait at the gateway while it restarts. PostgreSQL and RabbitMQ, which a stack
asks over its own machine, show none.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import fresh_folder
from acceptance.program import is_ready
from acceptance.stack import RunningStack
from acceptance.waiting import eventually
from chassis.core.internal_tokens import GATEWAY
from contracts.routes import SERVICES
from stack.programs import all_processes
from testing.certificates import Authority

APPS = [service.name for service in SERVICES]
CLIENTS = [process for process in all_processes() if process not in APPS]


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with fresh_folder() as place, RunningStack(place) as running:
        yield running


class Secrets:
    """The files that the programs read when they start: what services show, and whom all believe."""

    def __init__(self, folder: Path) -> None:
        self.believed = folder / "internal_ca.crt"
        self._folder = folder

    def believe(self, *authorities: Authority) -> None:
        self.believed.write_text("".join(authority.file.read_text() for authority in authorities))

    def show(self, authority: Authority) -> None:
        """Make the certificate of the services anew, by this authority."""
        made = authority.settings_of("localhost")
        assert made.tls_certificate is not None
        assert made.tls_key is not None
        made.tls_certificate.replace(self._folder / "tls.crt")
        made.tls_key.replace(self._folder / "tls.key")

    def settings_of(self, process: str) -> dict[str, str]:
        shown = {"TLS_CERTIFICATE": f"{self._folder}/tls.crt", "TLS_KEY": f"{self._folder}/tls.key"}
        return {"TLS_CA": str(self.believed), **(shown if process in APPS else {})}


def restart(stack: RunningStack, load: Load | None, *processes: str) -> None:
    for process in processes:
        if load is not None:
            load.acknowledges(10)
        stack.restart(process)
        eventually(lambda: is_ready(f"{stack.base_url}/healthz"), f"a healthy stack after {process}")


@pytest.mark.long
def test_certificates_are_changed_and_no_request_is_refused(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold, tmp_path: Path
) -> None:
    first, second = (Authority(tmp_path, name) for name in ("first", "second"))
    secrets = Secrets(tmp_path)
    secrets.believe(first)
    secrets.show(first)
    peers = {
        f"{service.context.upper()}_URL": stack.urls[service.name].replace("http://127.0.0.1", "https://localhost")
        for service in SERVICES
    }
    for process in (*APPS, *(process for process in CLIENTS if not process.startswith(GATEWAY)), GATEWAY):
        stack.override(process, **peers, **secrets.settings_of(process))
    for process in all_processes():
        stack.restart(process)
    eventually(lambda: is_ready(f"{stack.base_url}/healthz"), "a stack that speaks TLS")

    with Load(admin, history) as load:
        secrets.show(first)
        restart(stack, load, *APPS)
        secrets.believe(first, second)
        restart(stack, load, *APPS, *CLIENTS)
        secrets.show(second)
        restart(stack, load, *APPS)
        secrets.believe(second)
        restart(stack, load, *APPS, *CLIENTS)
        load.acknowledges(50)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()
    hold()

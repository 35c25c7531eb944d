"""The password at the mail server is changed under load, as the runbook says: nobody is refused, no mail is lost."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import fresh_folder
from acceptance.program import free_port
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

READERS = ("auth-service", "auth-worker")


class MailServer:
    """Takes mails of whoever shows a password that is `known`; `folder` has the file by which Traceline finds it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: set[bytes] = set()
        self.refused = 0
        self.recipients: list[str] = []
        self.controller = Controller(self, "127.0.0.1", free_port(), authenticator=self._knows, auth_require_tls=False)

    def new_password(self, password: str) -> None:
        """Know one more, and have it be shown."""
        self.known.add(password.encode())
        address = f"{self.controller.hostname}:{self.controller.port}"
        (self.folder / "smtp_url").write_text(f"smtp://traceline:{password}@{address}")

    def _knows(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, shown: LoginPassword
    ) -> AuthResult:
        success = shown.password in self.known
        self.refused += not success
        return AuthResult(success=success)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.recipients += envelope.rcpt_tos
        return "250 OK"


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailServer]:
    server = MailServer(tmp_path_factory.mktemp("secrets"))
    server.new_password("first")
    server.controller.start()
    yield server
    server.controller.stop()


@pytest.fixture(scope="module")
def stack(mail: MailServer) -> Iterator[RunningStack]:
    reads = {"SECRETS_DIR": str(mail.folder), "PUBLIC_URL": "https://trace.example"}
    overrides = dict.fromkeys(READERS, reads)
    with fresh_folder() as place, RunningStack(place, overrides=overrides, FORWARDED_ALLOW_IPS="127.0.0.1") as running:
        yield running


@contextmanager
def forgetting(anyone: Traceline, addresses: list[str]) -> Iterator[list[httpx.Response]]:
    """Ask for new passwords over and over, each time from another network address; give the answers."""
    answers: list[httpx.Response] = []
    done = threading.Event()

    def ask() -> None:
        for number, address in enumerate(itertools.cycle(addresses)):
            if done.wait(0.5):
                return
            origin = {"X-Forwarded-For": f"10.1.{number // 250}.{number % 250 + 1}"}
            answers.append(anyone.post("/auth/forgot-password", json={"email": address}, headers=origin))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join()


@pytest.mark.long
def test_the_password_is_changed_and_no_mail_is_lost(
    stack: RunningStack, mail: MailServer, admin: Traceline, history: History, hold: Hold
) -> None:
    addresses = [admin.new_user().me()["email"] for _ in range(20)]
    with Load(admin, history) as load, forgetting(admin.with_token(None), addresses) as answers:
        eventually(lambda: len(mail.recipients) > 2, "mails by the first password")
        mail.new_password("second")
        for program in READERS:
            load.acknowledges(20)
            stack.restart(program)
            stack.wait_ready()
        mail.known.discard(b"first")
        before = len(mail.recipients)
        eventually(lambda: len(mail.recipients) > before + 2, "mails by the second password")
        load.acknowledges(50)
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404"}, history.summary()
    assert {answer.status_code for answer in answers} == {202}
    eventually(lambda: len(mail.recipients) == len(answers), "all that was asked for")
    assert mail.refused == 0
    hold()

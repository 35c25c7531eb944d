"""The key of data at rest is changed under load, as the runbook says: nobody is refused, and the old one is not needed.

Each service is one process here: requests wait at the gateway while it restarts, and nothing encrypts by the old key
that the runbook waits for.
"""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pyotp
import pytest

from acceptance.client import PASSWORD, Traceline, ok
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import fresh_folder
from acceptance.stack import RunningStack

OLD, NEW = secrets.token_hex(32), secrets.token_hex(32)
READERS = ("auth-service", "auth-worker")


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    overrides = {program: {"DATA_ENCRYPTION_KEY": OLD} for program in READERS}
    with fresh_folder() as place, RunningStack(place, overrides=overrides) as running:
        yield running


@contextmanager
def logging_in(user: Traceline, email: str) -> Iterator[list[httpx.Response]]:
    """Log somebody in over and over; give the answers."""
    answers: list[httpx.Response] = []
    done = threading.Event()

    def log_in() -> None:
        while not done.wait(0.3):
            answers.append(user.with_token(None).login(email))

    thread = threading.Thread(target=log_in)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join()


@pytest.mark.long
def test_the_key_is_changed_and_nobody_is_refused(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    plain, sure = admin.new_user("reviewer"), admin.new_user("reviewer")
    codes = pyotp.TOTP(ok(sure.post("/auth/second-factor", json={"password": PASSWORD}))["secret"])
    ok(sure.post("/auth/second-factor/confirm", json={"code": codes.now()}))
    enrolled_at = time.time()
    with Load(admin, history) as load, logging_in(plain, plain.me()["email"]) as logged_in:
        for keys in (f"{OLD}\n{NEW}", f"{NEW}\n{OLD}", NEW):
            for program in READERS:
                stack.override(program, DATA_ENCRYPTION_KEY=keys)
            for program in READERS:
                load.acknowledges(20)
                stack.restart(program)
                stack.wait_ready()
        load.acknowledges(50)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()
    assert {answer.status_code for answer in logged_in} == {200}
    time.sleep(max(0.0, enrolled_at + codes.interval - time.time()))  # a code counts once
    form = {"username": sure.me()["email"], "password": PASSWORD, "otp": codes.now()}
    ok(sure.with_token(None).post("/auth/login", data=form))
    hold()

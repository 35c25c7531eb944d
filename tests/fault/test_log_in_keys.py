"""The key that signs log-ins is changed under load, as the runbook says: nobody is refused."""

import jwt
import pytest

from acceptance.client import Traceline
from acceptance.faults import log_in_keys
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

PUBLISHED_FOR = 300
"""Seconds until a new key signs, by which all gateways know it."""


@pytest.mark.long
def test_the_key_of_log_ins_is_changed_and_nobody_is_refused(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    old = key_of(admin)

    def logs_in_by_another() -> bool:
        somebody = admin.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        assert somebody.get("/auth/me").status_code == 200
        assert somebody.get("/requirements").status_code == 200
        return key_of(somebody) != old

    with Load(admin, history, pace=0.5) as load:
        log_in_keys.rotate(stack)
        assert not logs_in_by_another(), "not before all gateways know it"
        eventually(logs_in_by_another, "a log-in by the new key", seconds=PUBLISHED_FOR + 60, every=0.2)
        load.acknowledges(100)
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404"}, history.summary()
    assert admin.get("/auth/me").status_code == 200, "a token of the old key is good until it ends"
    hold()


def key_of(somebody: Traceline) -> str:
    kid: str = jwt.get_unverified_header(somebody.token or "")["kid"]
    return kid

"""A signing key is replaced at once, as the runbook says: whoever held the old one is nobody from then on."""

from acceptance.client import Traceline
from acceptance.faults import log_in_keys
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually


def test_after_a_leak_no_token_of_the_old_key_is_taken(stack: RunningStack, admin: Traceline) -> None:
    assert admin.get("/auth/me").status_code == 200
    log_in_keys.rotate(stack, "--at-once")
    eventually(lambda: admin.get("/auth/me").status_code, "the end of the old key's tokens", equals=401)

    def logs_in() -> bool:
        return admin.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).get("/auth/me").status_code == 200

    # auth-service signs with the key that it has read for some seconds more; nobody takes those tokens either.
    eventually(logs_in, "a log-in by the new key")

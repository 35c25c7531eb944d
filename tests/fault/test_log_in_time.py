"""How long a log-in takes tells nobody whether there is such an account."""

import statistics
import time

import httpx
import pytest

from acceptance import texts
from acceptance.client import API, PASSWORD, Traceline, created
from acceptance.stack import RunningStack

TRIES = 200


@pytest.mark.long
def test_a_wrong_password_and_an_unknown_account_take_as_long(stack: RunningStack, admin: Traceline) -> None:
    """Asked of auth-service itself, in turn, and from an address of its own each: none of them is one too many."""
    emails = [texts.email() for _ in range(TRIES)]
    for email in emails:
        created(admin.register(email))
    seconds: dict[str, list[float]] = {"wrong password": [], "unknown account": []}
    with httpx.Client(base_url=stack.urls["auth-service"] + API, timeout=60) as client:
        for number, email in enumerate(emails):
            for kind, username in (("wrong password", email), ("unknown account", texts.email())):
                began = time.perf_counter()
                answer = client.post(
                    "/auth/login",
                    data={"username": username, "password": f"not {PASSWORD}"},
                    headers={"X-Forwarded-For": f"2001:db8:{number:x}:{len(kind)}::1"},
                )
                seconds[kind].append(time.perf_counter() - began)
                assert answer.status_code == 401, answer.text
    known, unknown = (statistics.median(times) for times in seconds.values())
    print(f"medians of {TRIES}: wrong password {known * 1000:.2f} ms, unknown account {unknown * 1000:.2f} ms")
    assert abs(known - unknown) < 0.05 * max(known, unknown)

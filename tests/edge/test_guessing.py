"""Guessing through the gateway: from where somebody guesses is where they connect from, not what they say."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from acceptance import texts
from acceptance.client import API, PASSWORD, Traceline, created, ok, problem

HEADERS = ["X-Forwarded-For", "X_Forwarded_For", "Forwarded", "X-Real-IP", "True-Client-IP"]


@contextmanager
def at(address: str, base_url: str) -> Iterator[Traceline]:
    """Somebody who connects from another address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=base_url + API, transport=transport, timeout=60) as http:
        yield Traceline(base_url, http=http)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 alone is an address of this machine")
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_gives_nobody_another_address_to_guess_from(base_url: str, anyone: Traceline, header: str) -> None:
    email = texts.email()
    created(anyone.register(email))
    with at(f"127.0.1.{HEADERS.index(header) + 1}", base_url) as guesser, at("127.0.2.1", base_url) as owner:
        answers = [
            guesser.post(
                "/auth/login",
                data={"username": email, "password": f"guess number {number}"},
                headers={header: f"for=198.51.100.{number}" if header == "Forwarded" else f"198.51.100.{number}"},
            )
            for number in range(12)
        ]
        for answer in answers[:10]:
            problem(answer, 401, "invalid_credentials")
        for answer in answers[10:]:
            problem(answer, 429)
            assert 0 < int(answer.headers["retry-after"]) <= 15 * 60
        problem(guesser.login(email, PASSWORD), 429)
        ok(owner.login(email, PASSWORD))

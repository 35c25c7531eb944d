"""Guessing through the gateway: from where somebody guesses is where they connect from, not what they say."""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from acceptance import texts
from acceptance.client import API, PASSWORD, Traceline, created, ok, problem
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from auth_service.throttle.service import ADDRESS_LIMIT, STRANGER_LIMIT

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


@pytest.mark.long
def test_ten_thousand_guesses_over_a_thousand_addresses_get_what_the_limits_allow_and_owners_get_in() -> None:
    """Behind a proxy, which says from where each comes."""
    chance = random.Random(7)

    def log_in(http: httpx.Client, email: str, password: str, address: str) -> int:
        form, headers = {"username": email, "password": password}, {"X-Forwarded-For": address}
        return http.post("/auth/login", data=form, headers=headers).status_code

    with (
        fresh_folder() as place,
        RunningTraceline(place, FORWARDED_ALLOW_IPS="127.0.0.1") as running,
        Traceline(running.base_url) as anyone,
        httpx.Client(base_url=running.base_url + API, timeout=120) as http,
    ):
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        owners = [admin.new_user("viewer").me()["email"] for _ in range(100)]
        homes = {email: f"203.0.113.{number}" for number, email in enumerate(owners, 1)}
        assert {log_in(http, email, PASSWORD, home) for email, home in homes.items()} == {200}
        # Most of them at a few accounts, which they close.
        guesses = [
            (chance.choice(owners[:20] if chance.random() < 0.8 else owners), f"198.18.{n % 1000 // 250}.{n % 250 + 1}")
            for n in range(10_000)
        ]
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda one: log_in(http, one[0], "guess number 1", one[1]), guesses))
        assert set(answers) <= {401, 429, 503}
        checked = [guess for guess, answer in zip(guesses, answers, strict=True) if answer == 401]
        assert max(Counter(email for email, _ in checked).values()) == STRANGER_LIMIT
        assert max(Counter(address for _, address in checked).values()) <= ADDRESS_LIMIT
        assert {log_in(http, email, PASSWORD, "198.18.9.9") for email in owners[:20]} == {429}
        assert {log_in(http, email, PASSWORD, home) for email, home in homes.items()} == {200}

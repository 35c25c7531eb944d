"""Guessing on a large scale: many passwords, many accounts, many addresses."""

import asyncio
from collections import Counter
from contextlib import ExitStack, suppress

import httpx

from auth_service.throttle.service import ACCOUNT_LIMIT, ADDRESS_LIMIT, NEWCOMER_LIMIT, STRANGER_LIMIT
from auth_service.users.passwords import OF_ADDRESS, OF_STRANGERS, PLACES
from chassis.core.problems import Unavailable
from testing.service import problem

from .conftest import Service, running

KIM = "kim@example.com"
HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"
MANY = 2 * max(ACCOUNT_LIMIT, ADDRESS_LIMIT, STRANGER_LIMIT)


async def guess(service: Service, guesses: list[tuple[str, str]]) -> list[httpx.Response]:
    """Try (account, address) after (account, address), a few at once as somebody in a hurry does."""
    at_once = asyncio.Semaphore(8)

    async def one(number: int, email: str, address: str) -> httpx.Response:
        async with at_once:
            return await service.log_in(email, f"guess number {number}", address=address)

    return await asyncio.gather(*(one(number, *aim) for number, aim in enumerate(guesses)))


def counted(answers: list[httpx.Response]) -> Counter[int]:
    for answer in answers:
        if answer.status_code == 429:
            assert 0 < int(answer.headers["retry-after"]) <= 900
    return Counter(answer.status_code for answer in answers)


async def test_any_number_of_passwords_from_one_address_are_ten_guesses(service: Service) -> None:
    await service.register(KIM)
    answers = await guess(service, [(KIM, ELSEWHERE)] * MANY)
    assert counted(answers) == {401: ACCOUNT_LIMIT, 429: MANY - ACCOUNT_LIMIT}
    assert (await service.log_in(KIM, address=HOME)).status_code == 200, "from where nobody guesses"


async def test_many_passwords_from_a_few_addresses_are_a_few_guesses_each(service: Service) -> None:
    await service.register(KIM)
    answers = await guess(service, [(KIM, f"198.51.100.{number % 20}") for number in range(200)])
    assert counted(answers)[401] <= ACCOUNT_LIMIT + 20 * NEWCOMER_LIMIT
    assert (await service.log_in(KIM, address=HOME)).status_code == 200


async def test_any_number_of_addresses_together_get_a_hundred_guesses_and_the_owner_gets_in(service: Service) -> None:
    await service.register(KIM)
    assert (await service.log_in(KIM, address=HOME)).status_code == 200
    answers = await guess(service, [(KIM, f"2001:db8:{number:x}::1") for number in range(MANY)])
    assert counted(answers) == {401: STRANGER_LIMIT, 429: MANY - STRANGER_LIMIT}
    problem(await service.log_in(KIM, address=ELSEWHERE), 429)
    assert (await service.log_in(KIM, address=HOME)).status_code == 200, "from where they have logged in before"
    problem(await service.log_in(KIM, "not this one", address=HOME), 401)


async def test_where_nobody_has_logged_in_for_long_is_not_known_any_more(service: Service) -> None:
    await service.register(KIM)
    await service.log_in(KIM, address=HOME)
    await service.log_in(KIM, address=ELSEWHERE)
    await service.rows("UPDATE known_networks SET at = at - interval '91 days' WHERE network = %s", ELSEWHERE)
    await service.rows(
        "INSERT INTO login_attempts (account, network, failed)"
        " SELECT %s, 'network ' || number, true FROM generate_series(1, %s) AS number",
        KIM,
        STRANGER_LIMIT,
    )
    assert (await service.log_in(KIM, address=HOME)).status_code == 200
    problem(await service.log_in(KIM, address=ELSEWHERE), 429)


async def test_any_number_of_accounts_from_one_address_are_fifty_guesses(service: Service) -> None:
    await service.register(KIM)
    answers = await guess(service, [(f"guess{number}@example.com", ELSEWHERE) for number in range(MANY)])
    assert counted(answers) == {401: ADDRESS_LIMIT, 429: MANY - ADDRESS_LIMIT}
    assert len(await service.rows("SELECT id FROM login_attempts")) == ADDRESS_LIMIT, "no refusal is kept"
    assert len(await service.events("auth.login.failed")) == ADDRESS_LIMIT
    problem(await service.log_in(KIM, address=ELSEWHERE), 429)
    assert (await service.log_in(KIM, address=HOME)).status_code == 200


async def test_what_was_guessed_is_known_to_every_replica_and_after_a_restart(service: Service) -> None:
    await service.register(KIM)
    await guess(service, [(KIM, ELSEWHERE)] * ACCOUNT_LIMIT)
    async with running(service.settings) as another:
        problem(await another.log_in(KIM, address=ELSEWHERE), 429)
        assert (await another.log_in(KIM, address=HOME)).status_code == 200


async def test_one_address_cannot_take_all_the_time_there_is_for_passwords(service: Service) -> None:
    await service.register(KIM)
    with ExitStack() as held:
        for _ in range(OF_ADDRESS):
            held.enter_context(service.passwords.place(ELSEWHERE))
        refused = await service.log_in(KIM, address=ELSEWHERE)
        problem(refused, 503)
        assert refused.headers["retry-after"] == "1"
        assert (await service.log_in(KIM, address=HOME)).status_code == 200
    assert (await service.log_in(KIM, address=ELSEWHERE)).status_code == 200
    assert await service.rows("SELECT id FROM login_attempts") == [], "no refusal is an attempt"


async def test_two_addresses_leave_time_for_a_third_that_nobody_knows(service: Service) -> None:
    await service.register(KIM)
    with ExitStack() as held:
        for address in (ELSEWHERE, "203.0.113.1"):
            with suppress(Unavailable):
                while True:
                    held.enter_context(service.passwords.place(address))
        assert (await service.log_in(KIM, address=HOME)).status_code == 200


async def test_strangers_without_number_leave_a_third_to_where_somebody_has_logged_in(service: Service) -> None:
    await service.register(KIM)
    await service.log_in(KIM, address=HOME)
    with ExitStack() as held:
        with suppress(Unavailable):
            for number in range(PLACES):
                held.enter_context(service.passwords.place(f"2001:db8:{number:x}::1"))
        problem(await service.log_in(KIM, address=ELSEWHERE), 503)
        problem(await service.register("robin@example.com"), 503)
        assert (await service.log_in(KIM, address=HOME)).status_code == 200
        for number in range(PLACES - OF_STRANGERS):
            held.enter_context(service.passwords.place(f"198.51.100.{number}", is_known=True))
        problem(await service.log_in(KIM, address=HOME), 503)

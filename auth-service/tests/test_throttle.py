"""Guessing is slowed down, and owners still get in."""

import asyncio

from auth_service.throttle import service as throttle
from chassis.core.addresses import network_of
from testing.service import problem

from .conftest import Service

HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"


async def fail(service: Service, times: int, email: str = "kim@example.com", address: str = HOME) -> None:
    for _ in range(times):
        problem(await service.log_in(email, "not this one", address=address), 401)


async def let_pass(service: Service, time: str) -> None:
    await service.rows(f"UPDATE login_attempts SET at = at - interval '{time}'")


async def test_after_ten_failures_even_the_right_password_has_to_wait(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 10)
    response = await service.log_in("kim@example.com")
    problem(response, 429)
    assert 0 < int(response.headers["retry-after"]) <= 900
    assert len(await service.rows("SELECT FROM login_attempts WHERE failed")) == 10, "a refusal is no failure"


async def test_who_is_not_the_gateway_has_one_address_whatever_they_name(service: Service) -> None:
    await service.register("kim@example.com")
    for number in range(10):
        form = {"username": "kim@example.com", "password": "not this one"}
        async with service.client() as client:
            headers = {"x-forwarded-for": f"192.0.2.{number}"}
            problem(await client.post("/auth/login", data=form, headers=headers), 401)
    async with service.client() as client:
        answered = await client.post("/auth/login", data=form, headers={"x-forwarded-for": "198.51.100.9"})
    problem(answered, 429)


async def counts(service: Service) -> list[int]:
    return [event["data"]["count"] for event in await service.events("auth.login.failed")]


async def test_failures_that_follow_one_another_are_told_together(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 4)
    await fail(service, 1, address="192.0.2.77")
    assert await counts(service) == [1, 1]
    await throttle.tell_deferred(service.database)
    assert await counts(service) == [1, 1], "others may follow"
    await let_pass(service, "16 minutes")
    for _ in range(2):
        await throttle.tell_deferred(service.database)
    assert await counts(service) == [1, 1, 3]
    (_, _, told) = await service.events("auth.login.failed")
    assert (told["data"]["email"], told["data"]["reason"]) == ("kim@example.com", "wrong_password")
    await fail(service, 1)
    assert await counts(service) == [1, 1, 3, 1]


async def test_failures_before_a_log_in_are_told_with_it(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 3)
    assert (await service.log_in("kim@example.com")).status_code == 200
    assert await counts(service) == [1, 2]


async def test_it_opens_when_the_first_failure_is_fifteen_minutes_old(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 1)
    await let_pass(service, "10 minutes")
    await fail(service, 9)
    response = await service.log_in("kim@example.com")
    problem(response, 429)
    assert 200 < int(response.headers["retry-after"]) <= 300
    await let_pass(service, "5 minutes")
    assert (await service.log_in("kim@example.com")).status_code == 200


async def test_each_full_window_makes_the_next_one_twice_as_long_until_a_day_has_passed(service: Service) -> None:
    await service.register("kim@example.com")
    for minutes in (15, 30, 60, 120):
        await fail(service, 10)
        response = await service.log_in("kim@example.com")
        problem(response, 429)
        assert (minutes - 1) * 60 < int(response.headers["retry-after"]) <= minutes * 60
        await let_pass(service, f"{minutes} minutes")
    await let_pass(service, "1 day")
    await fail(service, 10)
    assert int((await service.log_in("kim@example.com")).headers["retry-after"]) <= 900


async def test_a_right_password_makes_the_window_as_long_as_at_first(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 10)
    await let_pass(service, "15 minutes")
    assert (await service.log_in("kim@example.com")).status_code == 200
    await fail(service, 10)
    assert int((await service.log_in("kim@example.com")).headers["retry-after"]) <= 900


async def test_the_owner_gets_in_from_elsewhere_while_somebody_guesses(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 10)
    assert (await service.log_in("kim@example.com", address=ELSEWHERE)).status_code == 200
    problem(await service.log_in("kim@example.com", address=HOME), 429)


async def test_failures_from_many_addresses_are_counted_together(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 5, address=HOME)
    await fail(service, 5, address=ELSEWHERE)
    for address in (HOME, ELSEWHERE):
        problem(await service.log_in("kim@example.com", address=address), 429)
    await fail(service, 3, address="203.0.113.9")
    problem(await service.log_in("kim@example.com", address="203.0.113.9"), 429)


async def test_an_account_that_does_not_exist_is_closed_in_the_same_way(service: Service) -> None:
    await fail(service, 10, email="nobody@example.com")
    problem(await service.log_in("nobody@example.com"), 429)


async def test_another_account_is_not_concerned(service: Service) -> None:
    await service.register("robin@example.com")
    await fail(service, 10)
    assert (await service.log_in("robin@example.com")).status_code == 200


async def test_after_fifty_failures_an_address_is_closed_for_every_account(service: Service) -> None:
    await service.register("kim@example.com")
    for number in range(50):
        await fail(service, 1, email=f"guess{number}@example.com")
    response = await service.log_in("kim@example.com")
    problem(response, 429)
    assert 0 < int(response.headers["retry-after"]) <= 900
    assert (await service.log_in("kim@example.com", address=ELSEWHERE)).status_code == 200


async def test_a_success_clears_what_the_account_failed_from_there(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 9)
    assert (await service.log_in("kim@example.com")).status_code == 200
    await fail(service, 9)
    assert (await service.log_in("kim@example.com")).status_code == 200


async def test_a_success_of_ones_own_account_does_not_clear_the_guesses_at_others(service: Service) -> None:
    await service.register("robin@example.com")
    await fail(service, 9)
    assert (await service.log_in("robin@example.com")).status_code == 200
    await fail(service, 1)
    problem(await service.log_in("kim@example.com", "not this one"), 429)


async def test_parallel_guesses_do_not_pass_the_limit(service: Service) -> None:
    await service.register("kim@example.com")
    answers = await asyncio.gather(
        *(service.log_in("kim@example.com", f"guess number {number}") for number in range(40))
    )
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(401) == 10
    assert statuses.count(429) == 30


async def test_many_right_logins_at_once_all_succeed(service: Service) -> None:
    await service.register("kim@example.com")
    answers = await asyncio.gather(*(service.log_in("kim@example.com") for _ in range(25)))
    assert {answer.status_code for answer in answers} == {200}
    assert await service.rows("SELECT id FROM login_attempts") == []


async def test_an_attempt_whose_process_ended_counts_as_a_failure(service: Service) -> None:
    await service.register("kim@example.com")
    await fail(service, 9)
    await service.rows(
        "INSERT INTO login_attempts (account, network, at) VALUES ('kim@example.com', %s, now() - interval '1 minute')",
        HOME,
    )
    problem(await service.log_in("kim@example.com"), 429)


async def test_guessing_the_present_password_with_a_stolen_token_is_slowed_down_too(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    change = {"current_password": "not this one", "new_password": "another battery"}
    statuses = [
        (await service.call("POST", "/api/v1/auth/change-password", change, caller=kim)).status_code for _ in range(11)
    ]
    assert statuses == [401] * 10 + [429]


def test_an_address_is_what_one_party_holds() -> None:
    assert network_of("192.0.2.1") == "192.0.2.1"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::1") == "2001:db8:1:2::"
    assert network_of("2001:db8:1:3::1") != network_of("2001:db8:1:2::1")
    assert network_of("no address") == "no address"

"""Registering, and reading oneself."""

import asyncio
from hashlib import blake2b

import httpx
import pytest

from auth_service.registration.policy import Mode, RegistrationPolicy
from auth_service.users import passwords as passwords_module
from chassis.core.identity import ANONYMOUS, Identity, Role
from chassis.web.responses import encode
from testing.service import problem

from .conftest import HASHER, PASSWORD, Service, running, settings_of


async def test_whoever_registers_is_a_viewer_and_the_answer_says_where_they_are(service: Service) -> None:
    response = await service.register("Kim@Example.com", full_name="  Žofie Nováková ", role="admin", id=1)
    assert response.status_code == 201
    user = response.json()
    assert {**user, "id": 0, "created_at": ""} == {
        "id": 0,
        "email": "kim@example.com",
        "full_name": "Žofie Nováková",
        "role": "viewer",
        "is_active": True,
        "created_at": "",
    }
    assert isinstance(user["id"], int)
    assert user["created_at"].endswith("Z")
    assert response.headers["location"] == f"/api/v1/users/{user['id']}"
    read = await service.call("GET", response.headers["location"], caller=await service.admin())
    assert read.json() == user
    assert read.headers["etag"] == response.headers["etag"]


async def test_a_registration_and_its_event_are_there_together(service: Service) -> None:
    user = (await service.register("kim@example.com")).json()
    event = (await service.events("auth.user.created"))[-1]
    assert event["subject"] == str(user["id"])
    assert (event["actor"], event["actorid"]) == ("kim@example.com", user["id"])
    del user["created_at"]
    assert event["data"]["user"] == {**user, "tokens_not_before": None}
    problem(await service.register("kim@example.com"), 409)
    assert [e["subject"] for e in await service.events("auth.user.created")].count(str(user["id"])) == 1
    assert len(await service.events("auth.user.created")) == 2, "one for the default admin, one for Kim"


async def test_an_email_is_taken_in_whatever_case(service: Service) -> None:
    await service.register("kim@example.com")
    problem(await service.register("KIM@EXAMPLE.COM"), 409, "email_taken")


async def test_of_parallel_registrations_of_one_email_one_succeeds(service: Service) -> None:
    answers = await asyncio.gather(*(service.register("kim@example.com") for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"email_taken"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"email": "kim"}, "/email"),
        ({"email": None}, "/email"),
        ({"email": "k" * 300 + "@example.com"}, "/email"),
        ({"password": "7 chars"}, "/password"),
        ({"password": "x" * 129}, "/password"),
        ({"password": "eight\0chars"}, "/password"),
        ({"password": 12345678}, "/password"),
        ({"full_name": ""}, "/full_name"),
        ({"full_name": " \t\u3000"}, "/full_name"),
        ({"full_name": "n" * 201}, "/full_name"),
    ],
)
async def test_a_wrong_field_is_named(service: Service, fields: dict[str, object], field: str) -> None:
    body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"} | fields
    problem(await service.call("POST", "/api/v1/auth/register", body), 422, field=field)


async def test_the_limits_of_a_password_count_characters(service: Service) -> None:
    for number, password in enumerate(("v8#kQz!p", ("ñandú über dem Fjord " * 7)[:128], "🐘🦊🐙🦉🐝🐢🦁🐬")):
        assert (await service.register(f"kim{number}@example.com", password)).status_code == 201
        assert (await service.log_in(f"kim{number}@example.com", password)).status_code == 200


async def test_a_password_typed_on_another_keyboard_is_the_same(service: Service) -> None:
    await service.register("kim@example.com", "contraseña!")
    assert (await service.log_in("kim@example.com", "contrasen\u0303a!")).status_code == 200


async def test_a_password_is_kept_as_argon2id_only_and_never_shown(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords_module, "_HASHER", HASHER)
    response = await service.register("kim@example.com")
    (row,) = await service.rows("SELECT * FROM users WHERE email = 'kim@example.com'")
    assert row["password_hash"].startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    admin = await service.admin()
    me = Identity(response.json()["id"], "kim@example.com", Role.VIEWER)
    shown = [
        response,
        await service.call("GET", "/api/v1/users", caller=admin),
        await service.call("GET", response.headers["location"], caller=admin),
        await service.call("GET", "/api/v1/auth/me", caller=me),
    ]
    texts = [answer.text for answer in shown]
    texts += [str(event) for event in await service.events("auth.user.created")]
    texts += [str(row) for row in await service.rows("SELECT * FROM idempotency_keys")]
    for text in texts:
        assert "argon2" not in text
        assert "password" not in text
        assert PASSWORD not in text


async def test_a_registration_with_the_same_key_is_answered_once(service: Service) -> None:
    body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"}
    answers = await asyncio.gather(
        *(service.call("POST", "/api/v1/auth/register", body, idempotency_key="k1") for _ in range(4))
    )
    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.content for answer in answers}) == 1
    other = await service.call("POST", "/api/v1/auth/register", body | {"full_name": "Robin"}, idempotency_key="k1")
    problem(other, 422, "idempotency_key_reused")


async def test_two_people_may_choose_the_same_key(service: Service) -> None:
    for email in ("kim@example.com", "robin@example.com"):
        body = {"email": email, "password": PASSWORD, "full_name": "Kim"}
        answer = await service.call("POST", "/api/v1/auth/register", body, idempotency_key="1")
        assert (answer.status_code, answer.json()["email"]) == (201, email)


async def test_what_is_kept_of_a_body_with_a_password_cannot_be_computed_from_it(service: Service) -> None:
    body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"}
    await service.call("POST", "/api/v1/auth/register", body, idempotency_key="k1")
    (row,) = await service.rows("SELECT body_hash FROM idempotency_keys")
    assert bytes(row["body_hash"]) != blake2b(encode(body), digest_size=32).digest()


async def test_a_key_is_known_to_every_replica_and_after_a_restart(service: Service, url: str) -> None:
    body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"}
    first = await service.call("POST", "/api/v1/auth/register", body, idempotency_key="k1")
    async with running(settings_of(url)) as other:
        again = await other.call("POST", "/api/v1/auth/register", body, idempotency_key="k1")
    assert (again.status_code, again.content) == (201, first.content)


async def test_me_is_as_stored_now_and_not_as_the_token_said(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    assert (await service.call("GET", "/api/v1/auth/me", caller=kim)).json()["role"] == "viewer"
    await service.change(await service.admin(), kim.id or 0, {"role": "reviewer", "full_name": "Robin"})
    me = await service.call("GET", "/api/v1/auth/me", caller=kim)
    assert (me.json()["role"], me.json()["full_name"]) == ("reviewer", "Robin")
    assert set(me.json()) == {"id", "email", "full_name", "role", "is_active", "created_at"}
    not_modified = await service.call("GET", "/api/v1/auth/me", caller=kim, if_none_match=me.headers["etag"])
    assert not_modified.status_code == 304


async def test_many_at_once_each_read_themselves(service: Service) -> None:
    people = [await service.registered(f"kim{number}@example.com") for number in range(3)]
    answers = await asyncio.gather(*(service.call("GET", "/api/v1/auth/me", caller=person) for person in people * 10))
    assert [answer.json()["email"] for answer in answers] == [person.email for person in people] * 10


async def test_nobody_reads_themselves_without_an_identity_or_an_account(service: Service) -> None:
    problem(await service.call("GET", "/api/v1/auth/me"), 401)
    problem(await service.call("GET", "/api/v1/auth/me", caller=Identity(10**6, "x@example.com", Role.ADMIN)), 401)


@pytest.mark.parametrize("mode", ["invited", "closed"])
async def test_nobody_registers_where_accounts_are_made_by_others(url: str, mode: str) -> None:
    async with running(settings_of(url, registration=mode)) as service:
        problem(await service.register("kim@example.com"), 403, f"registration_{mode}")
        body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"}
        made = await service.call("POST", "/api/v1/users", body, caller=await service.admin())
        assert made.status_code == 201
        told = await service.call("GET", "/api/v1/auth/ways-in")
        assert told.json() == {"registration": mode, "domains": [], "sends_mail": False, "single_sign_on": "none"}


def test_in_production_accounts_are_made_by_invitation_unless_it_is_said() -> None:
    in_production = settings_of("postgresql://x", environment="production")
    assert in_production.registration_policy() == RegistrationPolicy(Mode.INVITED, 5)
    assert settings_of("postgresql://x").registration_policy() == RegistrationPolicy(Mode.OPEN, None)
    said = settings_of("postgresql://x", environment="production", registration="open", registrations_per_hour=9)
    assert said.registration_policy() == RegistrationPolicy(Mode.OPEN, 9)


async def test_so_many_register_from_an_address_within_an_hour(service: Service) -> None:
    async def register(number: int, address: str) -> httpx.Response:
        body = {"email": f"kim{number}@example.com", "password": PASSWORD, "full_name": "Kim"}
        return await service.call("POST", "/api/v1/auth/register", body, caller=ANONYMOUS, x_forwarded_for=address)

    answers = await asyncio.gather(*(register(number, "192.0.2.1") for number in range(7)))
    assert sorted(answer.status_code for answer in answers) == [201] * 5 + [429] * 2
    assert (await register(7, "198.51.100.7")).status_code == 201
    refused = await register(8, "192.0.2.1")
    assert 3500 < int(refused.headers["retry-after"]) <= 3600
    await service.rows("UPDATE counted_actions SET at = at - interval '1 hour'")
    assert (await register(9, "192.0.2.1")).status_code == 201


async def test_in_development_the_machine_itself_has_no_such_limit_unless_it_is_set(url: str) -> None:
    async with running(settings_of(url)) as service:
        statuses = [(await service.register(f"kim{number}@example.com")).status_code for number in range(7)]
    assert statuses == [201] * 7
    async with running(settings_of(url, registrations_per_hour=1)) as service:
        assert (await service.register("robin@example.com")).status_code == 201
        problem(await service.register("ana@example.com"), 429)


@pytest.mark.parametrize(
    "password",
    [
        *("password", "12345678", "aaaaaaaa", "traceline", " " * 8, "qwertyuiop1", "Passw0rd!"),
        *("traceline-admin", "Traceline2024!", "kim.berger@example.com", "kim.berger", "Kim Berger 1"),
    ],
)
async def test_passwords_that_are_guessed_first_are_refused_with_the_reason(service: Service, password: str) -> None:
    body = {"email": "kim.berger@example.com", "full_name": "Kim Berger", "password": password}
    for path, caller in (("auth/register", None), ("users", await service.admin())):
        refused = await service.call("POST", f"/api/v1/{path}", body, caller=caller)
        (error,) = problem(refused, 422, field="/password")["errors"]
        assert error["code"] == "password_too_weak"
        assert "Add another word or two" in error["message"]


async def test_a_password_that_is_guessed_first_is_not_changed_to(service: Service) -> None:
    kim = await service.registered("kim.berger@example.com")
    body = {"current_password": PASSWORD, "new_password": "kim.berger@example.com1"}
    problem(
        await service.call("POST", "/api/v1/auth/change-password", body, caller=kim),
        422,
        field="/new_password",
    )

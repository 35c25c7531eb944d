"""Logging in and out, and changing the password."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import argon2
import jwt
import pytest

from auth_service.app import create_app
from auth_service.users import passwords as passwords_module
from auth_service.users.passwords import Passwords
from chassis.core.identity import Identity, Role
from contracts.routes import AUTH
from contracts.tokens import REQUIRED_CLAIMS, TYPE
from testing.internal import verifier_of
from testing.service import problem

from .conftest import PASSWORD, POOL_SIZE, Service, running, settings_of


async def public_key(service: Service, token: str) -> jwt.PyJWK:
    keys = jwt.PyJWKSet.from_dict((await service.call("GET", "/api/v1/auth/jwks.json")).json())
    return keys[jwt.get_unverified_header(token)["kid"]]


async def claims_of(service: Service, token: str) -> dict[str, object]:
    return jwt.decode(
        token,
        await public_key(service, token),
        algorithms=["EdDSA"],
        audience="traceline-api",
        issuer="traceline",
        options={"require": list(REQUIRED_CLAIMS)},
        leeway=1,
    )


async def test_a_login_gives_a_token_that_the_public_keys_verify(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    response = await service.log_in(" Kim@Example.com")
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)
    assert jwt.get_unverified_header(body["access_token"])["typ"] == TYPE
    claims = await claims_of(service, body["access_token"])
    assert (claims["sub"], claims["email"], claims["role"]) == (str(kim.id), "kim@example.com", "viewer")
    assert claims["exp"] - claims["iat"] == 3600  # type: ignore[operator]
    other = await claims_of(service, (await service.log_in("kim@example.com")).json()["access_token"])
    assert other["jti"] != claims["jti"]


async def test_wrong_email_and_wrong_password_are_the_same_answer(service: Service) -> None:
    await service.register("kim@example.com")
    answers = []
    for email in ("kim@example.com", "nobody@example.com", "no address at all"):
        response = await service.log_in(email, "not this one")
        assert response.headers["www-authenticate"] == "Bearer"
        document = problem(response, 401, "invalid_credentials")
        del document["request_id"]
        answers.append(document)
    assert answers[0] == answers[1] == answers[2]


async def test_each_login_that_fails_verifies_one_hash_of_the_same_cost(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.register("kim@example.com")
    verified: list[str] = []
    costs = set()
    real = passwords_module._verify

    def recording(password: str, password_hash: str) -> bool:
        verified.append(password_hash)
        return real(password, password_hash)

    monkeypatch.setattr(passwords_module, "_verify", recording)
    robin = await service.registered("robin@example.com")
    await service.change(await service.admin(), robin.id or 0, {"is_active": False})
    for email in ("kim@example.com", "nobody@example.com", "no address at all", "robin@example.com"):
        for password in ("not this one", "x" * 128, "\u00e9" * 128, "e\u0301" * 64):
            verified.clear()
            problem(await service.log_in(email, password, address=email), 401, "invalid_credentials")
            (hash_,) = verified
            costs.add(str(argon2.extract_parameters(hash_)))
    assert len(costs) == 1


async def test_the_failure_of_nobody_is_written_as_that_of_somebody(service: Service) -> None:
    await service.register("kim@example.com")
    for email in ("kim@example.com", "nobody@example.com"):
        await service.log_in(email, "not this one", address="2001:db8::7")
    known, unknown = await service.events("auth.login.failed")
    assert known["data"] == {
        "email": "kim@example.com",
        "address": "2001:db8::7",
        "reason": "wrong_password",
        "typed": None,
        "count": 1,
    }
    assert unknown["data"]["reason"] == "unknown_account"
    assert known["actor"] == unknown["actor"] == "anonymous"


async def test_a_password_typed_into_the_email_field_is_kept_as_a_hash_that_nobody_can_compute(
    service: Service, url: str
) -> None:
    secret = "sup3rs3cret!typedhere"
    for typed, address in ((secret, "192.0.2.7"), (secret, "192.0.2.8"), ("another", "192.0.2.7")):
        await service.log_in(typed, address=address)
    async with running(settings_of(url)) as elsewhere:
        await elsewhere.log_in(secret, address="192.0.2.9")
    events = await service.events("auth.login.failed")
    assert secret not in str(events)
    assert {(event["subject"], event["data"]["email"]) for event in events} == {("unknown", "unknown")}
    first, again, other, keyed_otherwise = (event["data"]["typed"] for event in events)
    assert first == again
    assert len({first, other, keyed_otherwise}) == 3


async def test_an_inactive_account_is_told_so_with_the_right_password_only(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    await service.change(await service.admin(), kim.id or 0, {"is_active": False})
    problem(await service.log_in("kim@example.com"), 403, "account_inactive")
    problem(await service.log_in("kim@example.com", "not this one"), 401, "invalid_credentials")
    reasons = [event["data"]["reason"] for event in await service.events("auth.login.failed")]
    assert reasons == ["account_inactive", "wrong_password"]


def test_no_page_that_is_made_of_the_document_shows_a_password() -> None:
    app = create_app(settings_of("postgresql://nobody@localhost/nothing"), None, verifier_of(AUTH))  # type: ignore[arg-type]
    shown = {
        f"{name}.{field}": about.get("format")
        for name, schema in app.openapi()["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if "password" in field and field != "must_change_password"
    }
    assert len(shown) == 9
    assert set(shown.values()) == {"password"}, shown


async def test_a_form_has_no_more_than_it_asks_for(service: Service) -> None:
    problem(await service.log_in("kim@example.com", "x" * 20_000), 422, field="/password")
    problem(await service.log_in("kim@example.com", "x" * 30_000), 422, field="")


async def test_a_login_is_a_form_with_both_fields(service: Service) -> None:
    as_json = await service.call("POST", "/api/v1/auth/login", {"username": "kim@example.com", "password": PASSWORD})
    problem(as_json, 415)
    problem(await service.log_in("kim@example.com", ""), 422, field="/password")
    problem(await service.log_in("", PASSWORD), 422, field="/username")
    problem(await service.log_in("k\0m@example.com", PASSWORD), 422, field="/username")


async def test_a_hash_of_older_parameters_is_renewed_at_login(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    older = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    await service.rows("UPDATE users SET password_hash = %s WHERE id = %s", older, kim.id)
    assert (await service.log_in("kim@example.com")).status_code == 200
    (row,) = await service.rows("SELECT password_hash FROM users WHERE id = %s", kim.id)
    assert not Passwords.is_outdated(row["password_hash"])
    assert (await service.log_in("kim@example.com")).status_code == 200


async def test_no_connection_is_held_while_a_password_is_hashed(service: Service) -> None:
    await service.registered("kim@example.com")
    all_of_them: list[int] = []
    real = Passwords.matches

    async def watching(self: Passwords, password: str, password_hash: str | None) -> bool:
        async with AsyncExitStack() as stack, asyncio.timeout(120):
            for _ in range(POOL_SIZE):
                await stack.enter_async_context(service.database.connection())
            all_of_them.append(POOL_SIZE)
        return await real(self, password, password_hash)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Passwords, "matches", watching)
        await service.log_in("kim@example.com")
    assert all_of_them == [POOL_SIZE], "somebody holds a connection"


async def test_a_changed_password_ends_earlier_tokens_and_no_later_one(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    before = await claims_of(service, (await service.log_in("kim@example.com")).json()["access_token"])
    change = {"current_password": PASSWORD, "new_password": "another battery"}
    changed = await service.call("POST", "/api/v1/auth/change-password", change, caller=kim)
    assert changed.status_code == 204
    after = await claims_of(
        service, (await service.log_in("kim@example.com", "another battery")).json()["access_token"]
    )
    problem(await service.log_in("kim@example.com"), 401, "invalid_credentials")
    (event,) = await service.events("auth.user.password_changed")
    assert event["actorid"] == kim.id
    not_before = datetime.fromisoformat(event["data"]["user"]["tokens_not_before"]).timestamp()
    assert before["iat"] < not_before <= after["iat"]  # type: ignore[operator]


async def test_a_password_is_changed_by_whoever_knows_the_present_one(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    change = {"current_password": "not this one", "new_password": "another battery"}
    refused = await service.call("POST", "/api/v1/auth/change-password", change, caller=kim)
    problem(refused, 401, "invalid_credentials")
    assert refused.json()["detail"] == "The current password is wrong."
    change = {"current_password": PASSWORD, "new_password": "short"}
    refused = await service.call("POST", "/api/v1/auth/change-password", change, caller=kim)
    problem(refused, 422, field="/new_password")
    assert (await service.log_in("kim@example.com")).status_code == 200
    assert await service.events("auth.user.password_changed") == []
    (told,) = await service.events("auth.login.failed")
    assert (told["data"]["reason"], told["data"]["email"]) == ("wrong_current_password", "kim@example.com")


async def test_a_log_in_is_told_with_the_session_that_it_began(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    told_before = len(await service.events("auth.login.succeeded"))
    claims = await claims_of(service, (await service.log_in("kim@example.com")).json()["access_token"])
    event = (await service.events("auth.login.succeeded"))[told_before]
    assert (event["actorid"], event["data"]["user_id"], event["data"]["way"]) == (kim.id, kim.id, "password")
    assert event["data"]["session_id"] in claims.values()
    assert PASSWORD not in str(event)


async def test_of_two_changes_from_the_same_password_one_counts(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    answers = await asyncio.gather(
        *(
            service.call(
                "POST",
                "/api/v1/auth/change-password",
                {"current_password": PASSWORD, "new_password": f"battery number {number}"},
                caller=kim,
            )
            for number in range(4)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [204, 401, 401, 401]


async def test_a_login_that_verified_the_old_password_gets_no_token_after_the_change(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    kim = await service.registered("kim@example.com")
    real = Passwords.matches

    async def overtaken(self: Passwords, password: str, password_hash: str | None) -> bool:
        monkeypatch.setattr(Passwords, "matches", real)
        result = await self.matches(password, password_hash)
        change = {"current_password": PASSWORD, "new_password": "another battery"}
        changed = await service.call("POST", "/api/v1/auth/change-password", change, caller=kim)
        assert changed.status_code == 204
        return result

    monkeypatch.setattr(Passwords, "matches", overtaken)
    problem(await service.log_in("kim@example.com"), 401, "invalid_credentials")


async def test_a_logout_tells_once_which_token_ended(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    expires_at = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
    caller = Identity(kim.id, kim.email, Role.VIEWER, token_id="t1", token_expires_at=expires_at)
    for _ in range(2):
        assert (await service.call("POST", "/api/v1/auth/logout", caller=caller)).status_code == 204
    (event,) = await service.events("auth.token.ended")
    assert event["data"] == {"user_id": kim.id, "token_id": "t1", "expires_at": "2100-01-01T00:00:00Z"}
    problem(await service.call("POST", "/api/v1/auth/logout"), 401)

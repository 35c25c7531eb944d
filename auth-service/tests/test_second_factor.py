"""The second factor: beginning, showing it at the log-in, recovery codes, and losing it."""

import asyncio
import secrets
import time

import httpx
import jwt
import pyotp
import pytest

from auth_service.second_factor.service import encrypt_all
from chassis.core.identity import Identity
from testing.service import ok, problem

from .conftest import PASSWORD, Service, running, settings_of

EMAIL = "kim@example.com"
BASE = "/api/v1/auth/second-factor"


def code_of(secret: str, steps: int = 0) -> str:
    """The code that a phone shows so many half minutes from now."""
    return pyotp.TOTP(secret).at(int(time.time()) + steps * 30)


async def enrolled(service: Service, caller: Identity) -> tuple[str, list[str]]:
    """Have a second factor; return its secret and the recovery codes. The code of now is used: that of the
    step before is no good any more when the next step begins while it is on its way.
    """
    begun = ok(await service.call("POST", BASE, {"password": PASSWORD}, caller=caller))
    assert begun["uri"].startswith("otpauth://totp/Traceline:kim%40example.com?secret=" + begun["secret"])
    assert begun["qr"].startswith("data:image/svg+xml")
    confirmed = await service.call("POST", f"{BASE}/confirm", {"code": code_of(begun["secret"])}, caller=caller)
    return begun["secret"], ok(confirmed)["recovery_codes"]


async def log_in(service: Service, otp: str | None = None) -> httpx.Response:
    return await service.log_in(EMAIL, otp=otp)


def owes(answer: httpx.Response) -> bool:
    """Whether a token is good for having a second factor alone."""
    claims = jwt.decode(ok(answer)["access_token"], options={"verify_signature": False})
    return bool(claims.get("must_enrol", False))


async def test_a_log_in_takes_a_code_once_it_was_confirmed(service: Service) -> None:
    kim = await service.registered(EMAIL)
    ok(await service.call("POST", BASE, {"password": PASSWORD}, caller=kim))
    assert (await log_in(service)).status_code == 200, "what was only begun counts for nothing"
    secret, codes = await enrolled(service, kim)
    assert len(set(codes)) == 10
    state = ok(await service.call("GET", BASE, caller=kim))
    assert state == {"is_active": True, "is_required": False, "recovery_codes_left": 10}
    problem(await log_in(service), 401, "second_factor_required")
    problem(await log_in(service, "000000"), 401, "second_factor_invalid")
    code = code_of(secret, 1)
    assert (await log_in(service, code)).status_code == 200
    problem(await log_in(service, code), 401, "second_factor_used")
    problem(await log_in(service, code_of(secret)), 401, "second_factor_used")
    changed = (await service.events("auth.second_factor.changed"))[-1]
    assert changed["data"] == {"user_id": kim.id, "email": EMAIL, "is_active": True}


async def test_a_new_password_by_a_link_leaves_the_second_factor_as_it_is(service: Service) -> None:
    kim = await service.registered(EMAIL)
    secret, _ = await enrolled(service, kim)
    made = ok(await service.call("POST", f"/api/v1/users/{kim.id}/password-reset", caller=await service.admin()))
    body = {"token": made["link"].partition("#")[2], "new_password": "another long password"}
    assert (await service.call("POST", "/api/v1/auth/reset-password", body)).status_code == 204
    problem(await service.log_in(EMAIL, body["new_password"]), 401, "second_factor_required")
    assert (await service.log_in(EMAIL, body["new_password"], otp=code_of(secret, 1))).status_code == 200


async def test_a_recovery_code_works_once_however_it_is_typed(service: Service) -> None:
    kim = await service.registered(EMAIL)
    _, codes = await enrolled(service, kim)
    assert (await log_in(service, f" {codes[0].upper().replace('-', ' ')}\n")).status_code == 200
    problem(await log_in(service, codes[0]), 401, "second_factor_invalid")
    assert ok(await service.call("GET", BASE, caller=kim))["recovery_codes_left"] == 9
    used = (await service.events("auth.recovery_code.used"))[-1]
    assert used["data"] == {"user_id": kim.id, "email": EMAIL, "left": 9}
    assert codes[0] not in str(used)


async def test_codes_are_guessed_no_faster_than_passwords(service: Service) -> None:
    kim = await service.registered(EMAIL)
    secret, _ = await enrolled(service, kim)
    for _ in range(10):
        problem(await log_in(service, "000000"), 401, "second_factor_invalid")
        # The right password alone forgets no failure.
        answer = await log_in(service)
        assert answer.status_code in {401, 429}
    problem(await log_in(service, code_of(secret, 1)), 429)
    failed = await service.events("auth.login.failed")
    assert {event["data"]["reason"] for event in failed} == {"wrong_second_factor"}


async def test_it_is_removed_with_the_password_and_a_code(service: Service) -> None:
    kim = await service.registered(EMAIL)
    secret, codes = await enrolled(service, kim)
    problem(await service.call("POST", BASE, {"password": PASSWORD}, caller=kim), 409, "second_factor_active")
    wrong = {"password": "not the password", "code": codes[0]}
    problem(await service.call("POST", f"{BASE}/remove", wrong, caller=kim), 401, "invalid_credentials")
    wrong = {"password": PASSWORD, "code": "000000"}
    problem(await service.call("POST", f"{BASE}/remove", wrong, caller=kim), 401, "second_factor_invalid")
    proof = {"password": PASSWORD, "code": codes[0]}
    renewed = ok(await service.call("POST", f"{BASE}/recovery-codes", proof, caller=kim))["recovery_codes"]
    assert not set(renewed) & set(codes)
    failed = [event["data"]["reason"] for event in await service.events("auth.login.failed")]
    assert failed == ["wrong_current_password", "wrong_current_second_factor"]
    proof = {"password": PASSWORD, "code": code_of(secret, 1)}
    assert (await service.call("POST", f"{BASE}/remove", proof, caller=kim)).status_code == 204
    assert (await log_in(service)).status_code == 200
    problem(await service.call("POST", f"{BASE}/remove", proof, caller=kim), 409, "no_second_factor")
    problem(
        await service.call("POST", f"{BASE}/confirm", {"code": "000000"}, caller=kim), 409, "second_factor_not_begun"
    )


async def test_a_wrong_first_code_is_said_at_its_field(service: Service) -> None:
    kim = await service.registered(EMAIL)
    ok(await service.call("POST", BASE, {"password": PASSWORD}, caller=kim))
    refused = problem(await service.call("POST", f"{BASE}/confirm", {"code": "000000"}, caller=kim), 422)
    assert refused["errors"][0]["pointer"] == "/code"


async def test_an_admin_removes_that_of_a_lost_phone_which_ends_the_sessions(service: Service) -> None:
    kim, admin = await service.registered(EMAIL), await service.admin()
    secret, _ = await enrolled(service, kim)
    assert (await log_in(service, code_of(secret, 1))).status_code == 200
    path = f"/api/v1/users/{kim.id}/second-factor"
    problem(await service.call("DELETE", path, caller=kim), 403)
    assert (await service.call("DELETE", path, caller=admin)).status_code == 204
    assert (await service.call("DELETE", path, caller=admin)).status_code == 204
    assert (await service.events("auth.sessions.ended"))[-1]["data"]["user_id"] == kim.id
    assert (await log_in(service)).status_code == 200
    problem(await service.call("DELETE", "/api/v1/users/999999/second-factor", caller=admin), 404)


async def test_secrets_of_before_are_encrypted_at_start_and_work_as_they_did(service: Service, url: str) -> None:
    kim = await service.registered(EMAIL)
    secret, (recovery_code, *_) = await enrolled(service, kim)
    key = secrets.token_hex(32)
    async with running(settings_of(url, data_encryption_key=key)) as replica:
        (row,) = await service.rows("SELECT secret FROM second_factors")
        assert secret not in row["secret"]
        assert (await log_in(replica, code_of(secret, 1))).status_code == 200
        lee = await replica.registered("lee@example.com")
        begun = ok(await replica.call("POST", BASE, {"password": PASSWORD}, caller=lee))
        assert not await service.rows("SELECT FROM second_factors WHERE secret = %s", begun["secret"])
        ok(await replica.call("POST", f"{BASE}/confirm", {"code": code_of(begun["secret"])}, caller=lee))
        async with asyncio.timeout(120), service.database.transaction() as connection:
            await connection.execute("SELECT FROM second_factors FOR UPDATE")
            await encrypt_all(replica.database, replica.settings.cipher)  # as each ten minutes: it waits for no log-in
    later = secrets.token_hex(32)
    async with running(settings_of(url, data_encryption_key=f"{later} {key}")):
        pass  # which encrypts anew
    await service.rows("UPDATE second_factors SET last_step = 0")  # or this would have to wait for the next code
    async with running(settings_of(url, data_encryption_key=later)) as replica:
        assert (await log_in(replica, code_of(secret, 1))).status_code == 200
    await service.rows("DELETE FROM signing_keys")
    async with running(settings_of(url, data_encryption_key=secrets.token_hex(32))) as elsewhere:
        problem(await log_in(elsewhere, code_of(secret, 1)), 401, "second_factor_invalid")
        assert (await log_in(elsewhere, recovery_code)).status_code == 200


@pytest.mark.parametrize(("required", "owed"), [("all", True), ("admins", False)])
async def test_where_it_is_required_a_log_in_is_good_for_having_one(url: str, required: str, owed: bool) -> None:
    async with running(settings_of(url, require_second_factor=required)) as service:
        kim = await service.registered(EMAIL)
        assert owes(await log_in(service)) is owed
        secret, _ = await enrolled(service, kim)
        assert not owes(await log_in(service, code_of(secret, 1)))

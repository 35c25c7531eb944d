"""Registering, logging in and out, and the password."""

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Traceline, created, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-USER-1")


def test_whoever_registers_logs_in_as_a_viewer(anyone: Traceline, admin: Traceline) -> None:
    address = texts.email()
    response = anyone.register(address, full_name="Žofie Nováková", role="admin", id=1)
    user = created(response)
    assert (user["email"], user["full_name"], user["role"]) == (address, "Žofie Nováková", "viewer")
    assert "password" not in response.text
    assert admin.read(response.headers["location"].removeprefix("/api/v1")) == user
    assert anyone.logged_in(address.upper()).me() == user
    problem(anyone.register(address.title()), 409, "email_taken")
    refused = anyone.login(address, "not this one")
    problem(refused, 401, "invalid_credentials")
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_a_changed_password_ends_the_tokens_issued_before(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    old = anyone.logged_in(address)
    change = {"current_password": PASSWORD, "new_password": "another battery"}
    assert old.post("/auth/change-password", json=change).status_code == 204
    new = anyone.logged_in(address, "another battery")
    assert new.me()["email"] == address, "a token issued right after the change must work"
    eventually(lambda: old.get("/requirements").status_code, "the end of the old token", equals=401)
    problem(old.get("/requirements"), 401)
    problem(old.get("/auth/me"), 401)
    ok(new.get("/requirements"))
    problem(anyone.login(address), 401, "invalid_credentials")


def test_a_logout_ends_this_token_and_no_other(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    here, elsewhere = anyone.logged_in(address), anyone.logged_in(address)
    assert here.post("/auth/logout").status_code == 204
    eventually(lambda: here.get("/requirements").status_code, "the end of the token", equals=401)
    problem(here.get("/auth/me"), 401)
    ok(elsewhere.get("/requirements"))

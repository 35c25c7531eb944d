"""Registering, logging in and out, and the password."""

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Traceline, created, ok, problem
from acceptance.waiting import eventually


def test_whoever_registers_becomes_a_viewer(anyone: Traceline) -> None:
    address = texts.email()
    response = anyone.register(address, full_name="Žofie Nováková")
    user = created(response)
    assert isinstance(user["id"], int)
    assert user["email"] == address
    assert user["full_name"] == "Žofie Nováková"
    assert user["role"] == "viewer"
    assert user["is_active"] is True
    assert user["created_at"].endswith("Z")
    assert "password" not in response.text


def test_the_answer_to_a_registration_says_where_the_user_is(anyone: Traceline, admin: Traceline) -> None:
    response = anyone.register(texts.email())
    path = response.headers["location"].removeprefix("/api/v1")
    assert admin.read(path)["id"] == created(response)["id"]


def test_a_role_in_a_registration_changes_nothing(anyone: Traceline, admin: Traceline) -> None:
    address = texts.email()
    claim = {"role": "admin", "is_active": False, "id": 1, "is_admin": True, "created_at": "1999-01-01T00:00:00Z"}
    user = created(anyone.register(address, **claim))
    assert (user["role"], user["is_active"]) == ("viewer", True)
    assert user["id"] != 1
    assert not user["created_at"].startswith("1999")
    assert "is_admin" not in user
    assert admin.read(f"/users/{user['id']}")["role"] == "viewer"
    assert anyone.logged_in(address).me()["role"] == "viewer"


def test_an_address_is_kept_in_lower_case_and_taken_in_any_case(anyone: Traceline) -> None:
    address = texts.email()
    assert created(anyone.register(address.upper()))["email"] == address
    problem(anyone.register(address), 409, "email_taken")
    problem(anyone.register(address.title()), 409, "email_taken")


def test_an_address_is_known_in_any_case_at_login(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    assert anyone.logged_in(address.upper()).me()["email"] == address


@pytest.mark.parametrize("domain", ["intranet.local", "people.test", "example.com", "mail.localhost"])
def test_addresses_of_intranets_and_special_use_domains_are_valid(anyone: Traceline, domain: str) -> None:
    created(anyone.register(f"{texts.word()}@{domain}"))


def test_a_password_may_have_8_to_128_characters(anyone: Traceline) -> None:
    for password in ("8 chars!", "ñ" * 128):
        address = texts.email()
        created(anyone.register(address, password))
        assert anyone.logged_in(address, password).me()["email"] == address
    for password in ("7 chars", "x" * 129):
        problem(anyone.register(texts.email(), password), 422, field="password")


def test_a_name_has_1_to_200_characters(anyone: Traceline) -> None:
    created(anyone.register(texts.email(), full_name="n" * 200))
    for name in ("", "n" * 201):
        problem(anyone.register(texts.email(), full_name=name), 422, field="full_name")


def test_a_login_gives_a_bearer_token_and_its_lifetime(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    answer = ok(anyone.login(address))
    assert answer["token_type"] == "bearer"
    assert isinstance(answer["expires_in"], int)
    assert answer["expires_in"] > 0
    assert anyone.with_token(answer["access_token"]).me()["email"] == address


def test_a_login_is_a_form_and_not_json(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    problem(anyone.post("/auth/login", json={"username": address, "password": PASSWORD}), 415)


def test_a_login_without_one_of_its_fields_is_told_which(anyone: Traceline) -> None:
    problem(anyone.post("/auth/login", data={"username": texts.email()}), 422, field="password")
    problem(anyone.post("/auth/login", data={"password": PASSWORD}), 422, field="username")


def test_a_wrong_address_and_a_wrong_password_get_the_same_answer(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    answers = []
    for response in (anyone.login(address, "not this one"), anyone.login(texts.email())):
        answer = problem(response, 401, "invalid_credentials")
        assert response.headers["www-authenticate"].startswith("Bearer")
        answers.append({name: answer[name] for name in answer if name not in ("request_id", "instance")})
    assert answers[0] == answers[1]


def test_an_inactive_account_is_told_so_only_with_the_right_password(admin: Traceline) -> None:
    address = texts.email()
    user = created(admin.register(address))
    ok(admin.patch(f"/users/{user['id']}", json={"is_active": False}))
    problem(admin.login(address), 403, "account_inactive")
    problem(admin.login(address, "not this one"), 401, "invalid_credentials")


def test_after_ten_failures_an_account_has_to_wait(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    for number in range(10):
        spelling = address.upper() if number % 2 else address
        problem(anyone.login(spelling, "not this one"), 401, "invalid_credentials")
    response = anyone.login(address)
    problem(response, 429)
    assert 0 < int(response.headers["retry-after"]) <= 15 * 60


def test_me_is_who_the_token_says(viewer: Traceline, reviewer: Traceline) -> None:
    assert viewer.me()["role"] == "viewer"
    assert reviewer.me()["role"] == "reviewer"
    assert viewer.me()["id"] != reviewer.me()["id"]


def test_me_shows_the_role_of_now_and_not_of_the_token(admin: Traceline) -> None:
    user = admin.new_user("viewer")
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "reviewer"}))
    assert user.me()["role"] == "reviewer"


def test_a_changed_password_ends_the_tokens_issued_before(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    old = anyone.logged_in(address)
    change = {"current_password": PASSWORD, "new_password": "another battery"}
    assert old.post("/auth/change-password", json=change).status_code == 204
    new = anyone.logged_in(address, "another battery")
    assert new.me()["email"] == address, "a token issued right after the change must work"
    eventually(lambda: old.get("/requirements").status_code == 401, "the end of the old token", seconds=2)
    problem(old.get("/requirements"), 401)
    problem(old.get("/auth/me"), 401)
    ok(new.get("/requirements"))
    problem(anyone.login(address), 401, "invalid_credentials")


def test_a_password_is_not_changed_without_the_present_one(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    user = anyone.logged_in(address)
    change = {"current_password": "not this one", "new_password": "another battery"}
    problem(user.post("/auth/change-password", json=change), {400, 401, 403, 422})
    change = {"current_password": PASSWORD, "new_password": "short"}
    problem(user.post("/auth/change-password", json=change), 422, field="new_password")
    ok(anyone.login(address))


def test_a_logout_ends_this_token_and_no_other(anyone: Traceline) -> None:
    address = texts.email()
    created(anyone.register(address))
    here, elsewhere = anyone.logged_in(address), anyone.logged_in(address)
    assert here.post("/auth/logout").status_code == 204
    eventually(lambda: here.get("/requirements").status_code == 401, "the end of the token", seconds=2)
    problem(here.get("/auth/me"), 401)
    ok(elsewhere.get("/requirements"))

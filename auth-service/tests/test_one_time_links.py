"""Links that are good once: invitations, and passwords that were forgotten."""

import asyncio
from hashlib import sha256

import httpx
import jwt
import pytest

from auth_service.reset_password import reset
from auth_service.startup import admin_has
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import ADMIN, PASSWORD, Service, running, settings_of

KIM = "kim@example.com"
OTHER = "another battery"


async def invite(service: Service, **fields: object) -> Json:
    body = {"email": KIM, **fields}
    response = await service.call("POST", "/api/v1/users/invitations", body, caller=await service.admin())
    assert response.status_code == 201, response.text
    assert response.headers["cache-control"] == "no-store"
    made: Json = response.json()
    return made


async def accept(service: Service, link: str, password: str = PASSWORD) -> httpx.Response:
    body = {"token": link.partition("#")[2], "password": password, "full_name": "Kim Person"}
    return await service.call("POST", "/api/v1/auth/accept-invitation", body)


async def reset_by(service: Service, link: str, password: str = OTHER) -> httpx.Response:
    body = {"token": link.partition("#")[2], "new_password": password}
    return await service.call("POST", "/api/v1/auth/reset-password", body)


async def test_whoever_is_invited_makes_an_account_with_a_password_of_their_own(url: str) -> None:
    async with running(settings_of(url, registration="closed", public_url="https://trace.example")) as service:
        made = await invite(service, role="reviewer")
        assert made["link"].startswith("https://trace.example/accept-invitation#")
        user = await accept(service, made["link"])
        assert user.status_code == 201
        assert (user.json()["email"], user.json()["role"]) == (KIM, "reviewer")
        assert (await service.log_in(KIM)).status_code == 200
        problem(await accept(service, made["link"]), 410, "link_invalid")
        (told,) = await service.events("auth.invitation.accepted")
        assert told["data"]["user_id"] == user.json()["id"]


async def test_of_those_who_use_a_link_at_once_one_gets_the_account(service: Service) -> None:
    link = (await invite(service))["link"]
    answers = await asyncio.gather(*(accept(service, link) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 410, 410, 410]


async def test_an_invitation_to_a_project_makes_a_member_of_it(service: Service) -> None:
    body = {"key": "DOOR", "name": "Door", "visibility": "members"}
    assert (await service.call("POST", "/api/v1/projects", body, caller=await service.admin())).status_code == 201
    user = (await accept(service, (await invite(service, role="reviewer", project="DOOR"))["link"])).json()
    assert user["role"] == "viewer", "the role is the one in the project"
    (member,) = await service.rows("SELECT role FROM project_members WHERE user_id = %s", user["id"])
    assert member["role"] == "reviewer"
    assert (await service.events("auth.member.changed"))[-1]["actor"] == ADMIN
    missing = {"email": "ana@example.com", "project": "NONE"}
    refused = await service.call("POST", "/api/v1/users/invitations", missing, caller=await service.admin())
    problem(refused, 404, "project_not_found")


@pytest.mark.parametrize("is_deleted", [False, True], ids=["archived", "deleted"])
async def test_an_invitation_to_a_project_that_is_no_more_open_makes_an_account_alone(
    service: Service, is_deleted: bool
) -> None:
    admin = await service.admin()
    ok(await service.call("POST", "/api/v1/projects", {"key": "DOOR", "name": "Door"}, caller=admin), 201)
    link = (await invite(service, project="DOOR"))["link"]
    ok(await service.call("PATCH", "/api/v1/projects/DOOR", {"archived": True}, caller=admin))
    if is_deleted:
        ok(await service.call("DELETE", "/api/v1/projects/DOOR?confirm=DOOR", caller=admin), 202)
    else:
        late = {"email": "ana@example.com", "project": "DOOR"}
        refused = await service.call("POST", "/api/v1/users/invitations", late, caller=admin)
        problem(refused, 409, "project_archived")
    assert ok(await accept(service, link), 201)["role"] == "viewer"
    assert await service.rows("SELECT FROM project_members") == []


async def test_an_invitation_ends_when_it_is_revoked_or_too_old(service: Service) -> None:
    admin = await service.admin()
    made = await invite(service)
    path = f"/api/v1/users/invitations/{made['id']}"
    (listed,) = (await service.call("GET", "/api/v1/users/invitations", caller=admin)).json()["items"]
    assert listed == {name: value for name, value in made.items() if name != "link"}
    assert (await service.call("DELETE", path, caller=admin)).status_code == 204
    problem(await service.call("DELETE", path, caller=admin), 404, "invitation_not_found")
    problem(await accept(service, made["link"]), 410, "link_invalid")
    late = await invite(service)
    await service.rows("UPDATE invitations SET expires_at = expires_at - interval '7 days'")
    problem(await accept(service, late["link"]), 410, "link_invalid")


async def test_invitations_are_for_admins_and_for_those_without_an_account(service: Service) -> None:
    kim = await service.registered(KIM, Role.REVIEWER)
    body = {"email": KIM}
    problem(await service.call("POST", "/api/v1/users/invitations", body, caller=kim), 403)
    problem(await service.call("GET", "/api/v1/users/invitations", caller=kim), 403)
    taken = await service.call("POST", "/api/v1/users/invitations", body, caller=await service.admin())
    problem(taken, 409, "email_taken")


async def test_a_repeated_invitation_is_one_and_its_link_is_shown_once(service: Service) -> None:
    admin = await service.admin()
    first, again = [
        await service.call("POST", "/api/v1/users/invitations", {"email": KIM}, caller=admin, idempotency_key="1")
        for _ in range(2)
    ]
    assert first.json()["id"] == again.json()["id"]
    assert (bool(first.json()["link"]), again.json()["link"]) == (True, "")
    assert first.headers["location"] == again.headers["location"]


async def test_of_links_only_hashes_are_stored(service: Service) -> None:
    kim = await service.registered(KIM)
    token = (await offered(service, kim)).partition("#")[2]
    invited = (await invite(service, email="ana@example.com"))["link"].partition("#")[2]
    for table, secret in (("password_resets", token), ("invitations", invited)):
        rows = await service.rows(f"SELECT * FROM {table}")
        assert rows[0]["token_hash"] == sha256(secret.encode()).hexdigest()
        assert secret not in str(rows)
    stored = str(await service.rows("SELECT * FROM outbox"))
    assert token not in stored
    assert invited not in stored


async def offered(service: Service, user: Identity) -> str:
    path = f"/api/v1/users/{user.id}/password-reset"
    response = await service.call("POST", path, caller=await service.admin())
    assert response.status_code == 200, response.text
    link: str = response.json()["link"]
    return link


async def test_a_forgotten_password_is_replaced_by_a_link_which_ends_all_tokens(service: Service) -> None:
    kim = await service.registered(KIM)
    link = await offered(service, kim)
    assert (await service.log_in(KIM)).status_code == 200, "until the link is used"
    assert (await reset_by(service, link)).status_code == 204
    problem(await service.log_in(KIM), 401)
    assert (await service.log_in(KIM, OTHER)).status_code == 200
    problem(await reset_by(service, link, "yet another battery"), 410, "link_invalid")
    (event,) = await service.events("auth.user.password_reset")
    assert event["data"]["user"]["tokens_not_before"] is not None
    assert (event["actor"], event["data"]["way"]) == (KIM, "link")


async def test_a_link_for_a_password_works_no_more_when_there_is_a_newer_one_or_an_hour_has_passed(
    service: Service,
) -> None:
    kim = await service.registered(KIM)
    first, second = await offered(service, kim), await offered(service, kim)
    problem(await reset_by(service, first), 410, "link_invalid")
    problem(await reset_by(service, second, "kim@example.com1"), 422, field="/new_password")
    await service.rows("UPDATE password_resets SET expires_at = expires_at - interval '1 hour'")
    problem(await reset_by(service, second), 410, "link_invalid")
    problem(await reset_by(service, "#" + "A" * 22), 410, "link_invalid")


@pytest.mark.parametrize("by", ["themselves", "an operator"])
async def test_a_link_for_a_password_works_no_more_when_the_password_was_changed(service: Service, by: str) -> None:
    kim = await service.registered(KIM)
    link = await offered(service, kim)
    if by == "themselves":
        body = {"current_password": PASSWORD, "new_password": "their own battery"}
        assert (await service.call("POST", "/api/v1/auth/change-password", body, caller=kim)).status_code == 204
    else:
        assert await reset(service.settings, KIM)
    problem(await reset_by(service, link), 410, "link_invalid")


async def test_a_link_for_a_password_works_no_more_when_the_account_was_inactive(service: Service) -> None:
    kim, admin = await service.registered(KIM), await service.admin()
    link = await offered(service, kim)
    for is_active in (False, True):
        await service.change(admin, kim.id or 0, {"is_active": is_active})
    problem(await reset_by(service, link), 410, "link_invalid")


async def test_nobody_but_an_admin_makes_such_a_link(service: Service) -> None:
    kim = await service.registered(KIM, Role.REVIEWER)
    problem(await service.call("POST", "/api/v1/users/1/password-reset", caller=kim), 403)
    problem(await service.call("POST", "/api/v1/users/4711/password-reset", caller=await service.admin()), 404)
    await service.change(await service.admin(), kim.id or 0, {"is_active": False})
    path = f"/api/v1/users/{kim.id}/password-reset"
    problem(await service.call("POST", path, caller=await service.admin()), 409, "account_inactive")


async def test_a_service_account_gets_no_password(service: Service) -> None:
    body = {"name": "pipeline"}
    path = "/api/v1/projects/MAIN/service-accounts"
    made = await service.call("POST", path, body, caller=await service.admin())
    assert made.status_code == 201, made.text
    (row,) = await service.rows("SELECT id, email FROM users WHERE id IN (SELECT user_id FROM service_accounts)")
    refused = await service.call("POST", f"/api/v1/users/{row['id']}/password-reset", caller=await service.admin())
    problem(refused, 404, "user_not_found")


async def test_an_operator_gives_the_last_admin_a_new_password(service: Service) -> None:
    password = await reset(service.settings, ADMIN.upper())
    assert password is not None
    assert await admin_has(service.settings, service.database, password)
    token = (await service.log_in(ADMIN, password)).json()["access_token"]
    assert jwt.decode(token, options={"verify_signature": False})["must_change_password"] is True
    (event,) = await service.events("auth.user.password_reset")
    assert (event["actor"], event["data"]["way"]) == ("system", "operator")
    assert await reset(service.settings, "nobody@example.com") is None

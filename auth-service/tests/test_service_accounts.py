"""Service accounts: owners of tokens that are no people, for admins of their project."""

from typing import Any

import httpx

from auth_service.projects.service import finish_deletions
from auth_service.startup import prepare
from chassis.core.identity import Identity, Role
from testing.postgres import as_owner
from testing.service import Json, ok, problem

from .conftest import Service

PROJECTS = "/api/v1/projects"
PATH = f"{PROJECTS}/DOOR/service-accounts"


async def door(service: Service) -> tuple[Identity, Identity]:
    """Make the project DOOR; return its admin, and one of its viewers."""
    admin = await service.admin()
    ok(await service.call("POST", PROJECTS, {"key": "DOOR", "name": "Doors"}, caller=admin), 201)
    kim, lee = await service.registered("kim@example.com"), await service.registered("lee@example.com")
    for person, role in ((kim, "admin"), (lee, "viewer")):
        where = f"{PROJECTS}/DOOR/members/{person.id}"
        ok(await service.call("PUT", where, {"role": role}, caller=admin), 201)
    return kim, lee


async def make(service: Service, caller: Identity, **fields: Any) -> httpx.Response:
    return await service.call("POST", PATH, {"name": "ci", **fields}, caller=caller)


async def listed(service: Service, caller: Identity, path: str = PATH) -> list[Json]:
    rows: list[Json] = ok(await service.call("GET", path, caller=caller))["items"]
    return rows


async def test_a_service_account_is_a_member_of_its_project_and_no_person(service: Service) -> None:
    kim, _ = await door(service)
    made = ok(await make(service, kim, role="reviewer"), 201)
    assert (made["name"], made["role"], made["created_by"]) == ("ci", "reviewer", kim.id)
    assert made["email"].endswith("@door.service-account.invalid")
    assert await listed(service, kim) == [made]
    members = {member["user_id"]: member["role"] for member in await listed(service, kim, f"{PROJECTS}/DOOR/members")}
    assert members[made["id"]] == "reviewer"
    people = await listed(service, await service.admin(), "/api/v1/users")
    assert made["id"] not in [person["id"] for person in people]
    problem(await service.log_in(made["email"]), 401, "invalid_credentials")


async def test_it_has_no_role_but_that_of_a_viewer_or_reviewer_in_its_project(service: Service) -> None:
    kim, _ = await door(service)
    admin = await service.admin()
    ok(await service.call("POST", PROJECTS, {"key": "GATE", "name": "Gates"}, caller=admin), 201)
    account = ok(await make(service, kim, role="reviewer"), 201)["id"]
    mine = f"{PROJECTS}/DOOR/members/{account}"
    for path, role in ((mine, "admin"), (f"{PROJECTS}/GATE/members/{account}", "viewer")):
        problem(await service.call("PUT", path, {"role": role}, caller=admin), 409, "service_account")
    problem(
        await service.call("PATCH", f"/api/v1/users/{account}", {"role": "admin"}, caller=admin), 409, "service_account"
    )
    assert ok(await service.call("PUT", mine, {"role": "viewer"}, caller=kim))["role"] == "viewer"


async def test_its_tokens_are_for_its_project_alone(service: Service) -> None:
    kim, _ = await door(service)
    account = ok(await make(service, kim), 201)
    where = f"{PATH}/{account['id']}/tokens"
    body = {"name": "nightly", "scopes": ["write"], "projects": ["OTHER"]}
    token = ok(await service.call("POST", where, body, caller=kim), 201)
    assert token["token"].startswith("tlp_")
    assert token["projects"] == ["DOOR"]
    del token["token"], token["warnings"]
    assert await listed(service, kim, where) == [token]
    (event,) = await service.events("auth.api_token.created")
    assert (event["actorid"], event["data"]["owner"]["id"]) == (kim.id, account["id"])
    assert (await service.call("DELETE", f"{where}/{token['id']}", caller=kim)).status_code == 204
    assert await listed(service, kim, where) == []
    (event,) = await service.events("auth.api_token.revoked")
    assert event["actorid"] == kim.id


async def test_only_admins_of_the_project_may(service: Service) -> None:
    kim, lee = await door(service)
    account = ok(await make(service, kim), 201)
    one = f"{PATH}/{account['id']}"
    token = {"name": "nightly", "scopes": ["write"]}
    calls: tuple[tuple[str, str, Json | None], ...] = (
        ("POST", PATH, {"name": "other"}),
        ("GET", PATH, None),
        ("POST", f"{one}/tokens", token),
        ("GET", f"{one}/tokens", None),
        ("DELETE", f"{one}/tokens/1", None),
        ("DELETE", one, None),
    )
    for method, path, body in calls:
        problem(await service.call(method, path, body, caller=lee), 403, "role_too_low")
        elsewhere = path.replace("DOOR", "NONE")
        problem(await service.call(method, elsewhere, body, caller=kim), 404, "project_not_found")
    for method, path, body in calls[2:]:
        other = path.replace(one, f"{PATH}/{lee.id}")
        problem(await service.call(method, other, body, caller=kim), 404, "service_account_not_found")


async def test_a_name_is_taken_until_its_account_is_deleted(service: Service) -> None:
    kim, _ = await door(service)
    first = ok(await make(service, kim), 201)
    problem(await make(service, kim), 409, "name_taken")
    assert len(await service.rows("SELECT FROM users WHERE email LIKE '%%service-account.invalid'")) == 1
    for wrong in ("CI", "", "-", "a b", "x" * 41):
        problem(await make(service, kim, name=wrong), 422, field="/name")
    problem(await make(service, kim, name="other", role=Role.ADMIN), 422, field="/role")
    assert (await service.call("DELETE", f"{PATH}/{first['id']}", caller=kim)).status_code == 204
    ok(await make(service, kim), 201)


async def test_a_deleted_account_ends_with_its_tokens(service: Service) -> None:
    kim, _ = await door(service)
    account = ok(await make(service, kim), 201)
    where = f"{PATH}/{account['id']}"
    ok(await service.call("POST", f"{where}/tokens", {"name": "nightly", "scopes": ["read"]}, caller=kim), 201)
    assert (await service.call("DELETE", where, caller=kim)).status_code == 204
    assert await listed(service, kim) == []
    problem(await service.call("DELETE", where, caller=kim), 404, "service_account_not_found")
    (event,) = [one for one in await service.events("auth.user.updated") if one["subject"] == str(account["id"])]
    assert event["data"]["user"]["is_active"] is False
    assert event["data"]["user"]["tokens_not_before"] is not None
    members = [member["user_id"] for member in await listed(service, kim, f"{PROJECTS}/DOOR/members")]
    assert account["id"] not in members


async def test_accounts_end_with_their_project(service: Service) -> None:
    kim, _ = await door(service)
    admin = await service.admin()
    ok(await service.call("POST", PROJECTS, {"key": "GATE", "name": "Gates"}, caller=admin), 201)
    first, second = [ok(await make(service, kim, name=name), 201) for name in ("ci", "nightly")]
    ok(await service.call("POST", f"{PROJECTS}/GATE/service-accounts", {"name": "ci"}, caller=admin), 201)
    # Although it is no member any more.
    assert (await service.call("DELETE", f"{PROJECTS}/DOOR/members/{second['id']}", caller=kim)).status_code == 204
    ok(await service.call("PATCH", f"{PROJECTS}/DOOR", {"archived": True}, caller=kim))
    ok(await service.call("DELETE", f"{PROJECTS}/DOOR?confirm=DOOR", caller=admin), 202)
    await prepare(service.settings, service.database, on_loopback=True)
    assert await service.events("auth.user.updated") == [], "the project may be restored"
    async with as_owner(service.database) as connection:
        await connection.execute("UPDATE projects SET restorable_until = now() WHERE key = 'DOOR'")
    await finish_deletions(service.database)
    ended = await service.rows("SELECT id FROM users WHERE NOT is_active AND tokens_not_before IS NOT NULL ORDER BY id")
    assert [row["id"] for row in ended] == [first["id"], second["id"]], "neither a person nor one of another project"
    told = await service.events("auth.user.updated")
    assert [(event["data"]["user"]["id"], event["actor"]) for event in told] == [
        (account["id"], "system") for account in (first, second)
    ]


async def test_accounts_of_projects_that_were_deleted_without_them_end_at_the_next_start(service: Service) -> None:
    kim, _ = await door(service)
    admin = await service.admin()
    ok(await service.call("POST", PROJECTS, {"key": "GATE", "name": "Gates"}, caller=admin), 201)
    left = ok(await make(service, kim), 201)
    ok(await service.call("POST", f"{PROJECTS}/GATE/service-accounts", {"name": "ci"}, caller=admin), 201)
    async with as_owner(service.database) as connection:
        await connection.execute("UPDATE projects SET deleted_at = now() WHERE key = 'DOOR'")
    for _ in range(2):
        await prepare(service.settings, service.database, on_loopback=True)
    ended = await service.rows("SELECT id FROM users WHERE NOT is_active AND tokens_not_before IS NOT NULL")
    assert [row["id"] for row in ended] == [left["id"]]
    (told,) = await service.events("auth.user.updated")
    assert (told["data"]["user"]["id"], told["actor"]) == (left["id"], "system")


async def test_a_service_account_is_not_erased_as_a_person(service: Service) -> None:
    kim, _ = await door(service)
    account = ok(await make(service, kim), 201)
    refused = await service.call("DELETE", f"/api/v1/users/{account['id']}?erase=true", caller=await service.admin())
    assert "/service-accounts/" in problem(refused, 409, "service_account")["detail"]
    assert await listed(service, kim) == [account]

"""API tokens: made, listed, revoked."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from auth_service.api_tokens import service as api_token_service
from chassis.core.identity import Identity, Role
from contracts import api_tokens
from testing.service import Json, ok, problem

from .conftest import Service

GATEWAY = Identity(None, "gateway", None)
PATH = "/api/v1/auth/tokens"


async def make(service: Service, caller: Identity, **fields: Any) -> httpx.Response:
    headers = fields.pop("headers", {})
    return await service.call(
        "POST", PATH, {"name": "pipeline", "scopes": ["write"], **fields}, caller=caller, **headers
    )


async def listed(service: Service, caller: Identity) -> list[Json]:
    rows: list[Json] = ok(await service.call("GET", PATH, caller=caller))["items"]
    return rows


async def test_a_token_is_shown_once_and_kept_as_a_hash(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    response = await make(service, kim, scopes=["write", "propose", "write"], projects=["MAIN"])
    made = ok(response, 201)
    token = made.pop("token")
    assert len(made.pop("warnings")) == 2, "a viewer neither writes nor proposes"
    assert api_tokens.is_whole(token)
    assert response.headers["cache-control"] == "no-store"
    assert (made["name"], made["scopes"], made["projects"]) == ("pipeline", ["propose", "write"], ["MAIN"])
    assert made["last_used_at"] is None
    lifetime = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert lifetime.days in (89, 90)
    assert await listed(service, kim) == [made]
    assert ok(await service.call("GET", response.headers["location"], caller=kim)) == made
    (row,) = await service.rows("SELECT * FROM api_tokens")
    assert row["token_hash"] == api_tokens.digest(token)
    (event,) = await service.events("auth.api_token.created")
    assert (event["actor"], event["data"]["owner"]["id"]) == ("kim@example.com", kim.id)
    assert event["data"]["token_hash"] == row["token_hash"]
    assert token not in str(row) + str(event)


async def test_a_repeated_request_makes_no_other_and_does_not_show_it_again(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    key = {"headers": {"idempotency_key": "once"}}
    first, again = ok(await make(service, kim, **key), 201), ok(await make(service, kim, **key), 201)
    assert again == {**first, "token": None}
    assert len(await listed(service, kim)) == 1
    assert first["token"] not in str(await service.rows("SELECT * FROM idempotency_keys"))


async def test_what_is_no_token_to_make_is_refused(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    now = datetime.now(UTC)
    for field, value in (
        ("name", " "),
        ("scopes", []),
        ("scopes", ["everything"]),
        ("projects", []),
        ("projects", ["main"]),
        ("expires_at", (now - timedelta(seconds=1)).isoformat()),
        ("expires_at", (now + timedelta(days=367)).isoformat()),
        ("expires_at", "2030-01-01T00:00:00"),
    ):
        problem(await make(service, kim, **{field: value}), 422, field=f"/{field}")
    a_year = (now + timedelta(days=365)).isoformat()
    assert ok(await make(service, kim, expires_at=a_year), 201)["projects"] is None


async def test_a_token_is_for_projects_that_its_owner_sees(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    admin = await service.admin()
    for key in ("DOOR", "GONE"):
        body = {"key": key, "name": key, "visibility": "members"}
        ok(await service.call("POST", "/api/v1/projects", body, caller=admin), 201)
    ok(await service.call("PATCH", "/api/v1/projects/GONE", {"archived": True}, caller=admin))
    ok(await make(service, admin, projects=["GONE"]), 201)
    ok(await service.call("DELETE", "/api/v1/projects/GONE?confirm=GONE", caller=admin), 202)
    told = set()
    for caller, key in ((kim, "DOOR"), (kim, "GONE"), (kim, "NEVER"), (admin, "GONE"), (admin, "NEVER")):
        refused = problem(await make(service, caller, projects=["MAIN", key]), 404, "project_not_found")
        told.add(refused["detail"].replace(key, "KEY"))
    assert told == {"There is no project with the key KEY, or you have no access to it."}
    ok(await make(service, admin, projects=["MAIN", "DOOR"]), 201)
    ok(await service.call("PUT", f"/api/v1/projects/DOOR/members/{kim.id}", {"role": "viewer"}, caller=admin), 201)
    ok(await make(service, kim, projects=["DOOR"]), 201)


async def test_nobody_has_any_number_of_tokens(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    made = ok(await make(service, kim), 201)
    await service.rows(
        "INSERT INTO api_tokens (user_id, name, token_hash, scopes, created_at, expires_at)"
        " SELECT user_id, name, n::text, scopes, created_at, expires_at FROM api_tokens, generate_series(2, %s) AS n",
        api_token_service.MOST,
    )
    problem(await make(service, kim), 409, "too_many_tokens")
    await service.call("DELETE", f"{PATH}/{made['id']}", caller=kim)
    ok(await make(service, kim), 201)


async def test_a_revoked_token_is_gone_and_the_event_tells_of_it(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    made = ok(await make(service, kim), 201)
    assert (await service.call("DELETE", f"{PATH}/{made['id']}", caller=kim)).status_code == 204
    assert await listed(service, kim) == []
    problem(await service.call("DELETE", f"{PATH}/{made['id']}", caller=kim), 404, "token_not_found")
    (event,) = await service.events("auth.api_token.revoked")
    assert event["data"]["token"]["id"] == made["id"]


async def test_others_do_not_see_a_token_and_admins_may_revoke_it(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    lee = await service.registered("lee@example.com", Role.REVIEWER)
    admin = await service.admin()
    where = f"{PATH}/{ok(await make(service, kim), 201)['id']}"
    for other in (lee, admin):
        assert await listed(service, other) == []
        problem(await service.call("GET", where, caller=other), 404, "token_not_found")
    problem(await service.call("DELETE", where, caller=lee), 404, "token_not_found")
    assert (await service.call("DELETE", where, caller=admin)).status_code == 204
    (event,) = await service.events("auth.api_token.revoked")
    assert event["actorid"] == admin.id


async def test_a_gateway_that_starts_reads_tokens_and_their_owners(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    alive, revoked, expired = [ok(await make(service, kim), 201) for _ in range(3)]
    await service.call("DELETE", f"{PATH}/{revoked['id']}", caller=kim)
    await service.rows("UPDATE api_tokens SET expires_at = now() WHERE id = %s", expired["id"])
    document = ok(await service.call("GET", "/internal/access-changes", caller=GATEWAY))
    tokens = {token["id"]: token for token in document["api_tokens"]}
    assert {id_: token["is_revoked"] for id_, token in tokens.items()} == {alive["id"]: False, revoked["id"]: True}
    assert tokens[alive["id"]]["token_hash"] == api_tokens.digest(alive["token"])
    (owner,) = document["users"]
    assert (owner["id"], owner["email"], owner["role"]) == (kim.id, "kim@example.com", "viewer")


async def test_the_last_use_only_moves_on(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    made = ok(await make(service, kim), 201)
    for hour in ("2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"):
        body = {"api_tokens": {str(made["id"]): hour, "999": hour}}
        response = await service.call("PUT", "/internal/access-use", body, caller=GATEWAY)
        assert response.status_code == 204, response.text
        assert (await listed(service, kim))[0]["last_used_at"] == "2026-03-01T12:00:00Z"
    problem(await service.call("PUT", "/internal/access-use", body, caller=kim), 403)


async def test_what_expired_long_ago_is_forgotten(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    made = [ok(await make(service, kim), 201) for _ in range(2)]
    await service.rows("UPDATE api_tokens SET expires_at = now() - interval '29 days'")
    await service.rows("UPDATE api_tokens SET expires_at = now() - interval '31 days' WHERE id = %s", made[0]["id"])
    await api_token_service.forget_old(service.database)
    assert [token["id"] for token in await listed(service, kim)] == [made[1]["id"]]


async def test_who_makes_a_token_is_told_which_scopes_come_to_nothing(service: Service) -> None:
    admin, kim = await service.admin(), await service.registered("kim@example.com")
    for key in ("DOOR", "GATE"):
        ok(await service.call("POST", "/api/v1/projects", {"key": key, "name": key}, caller=admin), 201)
    member = {"role": "reviewer"}
    ok(await service.call("PUT", f"/api/v1/projects/DOOR/members/{kim.id}", member, caller=admin), 201)
    ok(await service.call("PUT", f"/api/v1/projects/GATE/members/{kim.id}", {"role": "viewer"}, caller=admin), 201)

    async def without_use(caller: Identity, *scopes: str, projects: list[str] | None = None) -> list[str]:
        body = {"name": "n", "scopes": scopes, "projects": projects}
        warnings = ok(await service.call("POST", "/api/v1/auth/tokens", body, caller=caller), 201)["warnings"]
        return [warning.split("'")[1] for warning in warnings]

    every = [scope.value for scope in api_tokens.Scope]
    assert await without_use(admin, *every) == []
    assert await without_use(kim, *every) == ["admin"], "a reviewer of DOOR"
    assert await without_use(kim, *every, projects=["DOOR"]) == ["admin"]
    assert await without_use(kim, *every, projects=["GATE"]) == sorted(set(every) - {"read", "badge"})
    assert await without_use(kim, "read", projects=["GATE", "MAIN"]) == []
    account = ok(
        await service.call("POST", "/api/v1/projects/DOOR/service-accounts", {"name": "ci"}, caller=admin), 201
    )
    where = f"/api/v1/projects/DOOR/service-accounts/{account['id']}/tokens"
    made = ok(await service.call("POST", where, {"name": "n", "scopes": ["read", "results"]}, caller=admin), 201)
    (warning,) = made["warnings"]
    assert "'results'" in warning
    assert "role reviewer" in warning


async def test_no_api_token_erases_a_person(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    program = replace(await service.admin(), token_id=f"{api_tokens.PREFIX}1")
    where = f"/api/v1/users/{kim.id}"
    problem(await service.call("DELETE", f"{where}?erase=true", caller=program), 403, "session_needed")
    assert (await service.call("DELETE", where, caller=program)).status_code == 204
    assert await service.rows("SELECT email, is_active FROM users WHERE id = %s", kim.id) == [
        {"email": "kim@example.com", "is_active": False}
    ]


async def test_no_api_token_makes_anybody_who_stays_when_it_is_revoked(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    admin = await service.admin()
    program = replace(admin, token_id=f"{api_tokens.PREFIX}1")
    account = {"email": "stays@example.com", "password": "correct horse battery", "full_name": "Stays", "role": "admin"}
    kims, members = f"/api/v1/users/{kim.id}", f"/api/v1/projects/MAIN/members/{kim.id}"
    assert (await service.change(program, kim.id or 0, {"is_active": False})).status_code == 200
    for method, path, body in (
        ("POST", "/api/v1/users", account),
        ("PATCH", kims, {"role": "admin"}),
        ("PATCH", kims, {"full_name": "Kim", "role": "viewer"}),
        ("PATCH", kims, {"is_active": True}),
        ("PUT", members, {"role": "admin"}),
    ):
        problem(await service.call(method, path, body, caller=program), 403, "session_needed")
    user = ok(await service.call("GET", kims, caller=admin))
    assert (user["role"], user["is_active"], user["full_name"]) == ("viewer", False, "Kim Person")
    assert ok(await service.call("GET", "/api/v1/users?q=stays", caller=admin))["total"] == 0
    assert ok(await service.call("GET", "/api/v1/projects/MAIN/members", caller=admin))["total"] == 0
    assert ok(await service.change(program, kim.id or 0, {"full_name": "Kim"}))["full_name"] == "Kim"
    assert ok(await service.call("PUT", members, {"role": "reviewer"}, caller=program), 201)["role"] == "reviewer"

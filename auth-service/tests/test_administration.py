"""Users, for admins."""

import asyncio
from datetime import datetime

import httpx
import jwt
import pytest

from chassis.core.identity import Identity, Role
from testing.service import Json, problem

from .conftest import PASSWORD, Service, running, settings_of

CALLS = [
    ("GET", "/api/v1/users", None),
    ("POST", "/api/v1/users", {"email": "x@example.com", "password": PASSWORD, "full_name": "X"}),
    ("GET", "/api/v1/users/1", None),
    ("PATCH", "/api/v1/users/1", {"role": "admin"}),
    ("DELETE", "/api/v1/users/1", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_users_are_for_admins(service: Service, method: str, path: str, body: dict[str, object] | None) -> None:
    problem(await service.call(method, path, body), 401)
    for role in (Role.VIEWER, Role.REVIEWER):
        problem(await service.call(method, path, body, caller=Identity(9, "r@example.com", role)), 403)


async def test_an_admin_makes_users_of_any_role(service: Service) -> None:
    admin = await service.admin()
    for role in ("viewer", "reviewer", "admin"):
        body = {"email": f"{role}@example.com", "password": PASSWORD, "full_name": "Kim", "role": role}
        response = await service.call("POST", "/api/v1/users", body, caller=admin)
        assert response.status_code == 201
        assert response.json()["role"] == role
        event = (await service.events("auth.user.created"))[-1]
        assert event["actorid"] == admin.id
        assert (await service.log_in(f"{role}@example.com")).status_code == 200
    body = {"email": "VIEWER@example.com", "password": PASSWORD, "full_name": "Kim"}
    problem(await service.call("POST", "/api/v1/users", body, caller=admin), 409, "email_taken")
    body = {"email": "e@example.com", "password": PASSWORD, "full_name": "Kim", "role": "emperor"}
    problem(await service.call("POST", "/api/v1/users", body, caller=admin), 422, field="/role")


async def test_a_user_made_with_the_same_key_is_made_once(service: Service) -> None:
    admin = await service.admin()
    body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"}
    first, second = [
        await service.call("POST", "/api/v1/users", body, caller=admin, idempotency_key="k") for _ in range(2)
    ]
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert first.headers["location"] == second.headers["location"]
    assert first.json()["role"] == "viewer"


async def test_the_list_is_newest_first_filtered_and_paged(service: Service) -> None:
    admin = await service.admin()
    names = ["Ana 100%", "Ben_Ode", "Žofie", "Dan"]
    people = []
    for number, name in enumerate(names):
        user = (await service.register(f"p{number}@people.test", full_name=name)).json()
        people.append(user["id"])
    await service.change(admin, people[0], {"role": "reviewer"})
    await service.change(admin, people[1], {"is_active": False})

    async def found(query: str) -> list[int]:
        response = await service.call("GET", f"/api/v1/users?{query}", caller=admin)
        assert response.status_code == 200, response.text
        page = response.json()
        assert page["total"] == len(page["items"])
        return [user["id"] for user in page["items"]]

    newest_first = [*reversed(people), admin.id]
    assert await found("") == newest_first
    assert await found("role=reviewer") == [people[0]]
    assert await found("role=reviewer,admin") == [people[0], admin.id]
    assert await found("role=!viewer") == [people[0], admin.id]
    assert await found("is_active=false") == [people[1]]
    assert await found("is_active=true&role=viewer") == [people[3], people[2]]
    assert await found("q=PEOPLE.test") == people[::-1]
    assert await found("q=%C5%BEofie") == [people[2]]
    assert await found("q=%25") == [people[0]]
    assert await found("q=_") == [people[1]]
    assert await found("q=%5C") == []
    first = await service.call("GET", "/api/v1/users?limit=2&q=people", caller=admin)
    assert [user["id"] for user in first.json()["items"]] == people[:1:-1]
    assert first.json()["total"] == 4
    assert 'rel="next"' in first.headers["link"]
    beyond = await service.call("GET", "/api/v1/users?skip=100", caller=admin)
    assert (beyond.json()["items"], beyond.json()["total"]) == ([], 5)

    assert (await service.call("DELETE", f"/api/v1/users/{people[3]}?erase=true", caller=admin)).status_code == 204
    assert await found("is_erased=true") == [people[3]]
    assert await found("is_erased=false") == [people[2], people[1], people[0], admin.id]
    assert await found("") == newest_first


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("role=emperor", "/query/role"),
        ("is_active=perhaps", "/query/is_active"),
        ("skip=-1", "/query/skip"),
        ("limit=501", "/query/limit"),
        ("q=%00", "/query/q"),
    ],
)
async def test_a_wrong_filter_is_named(service: Service, query: str, field: str) -> None:
    response = await service.call("GET", f"/api/v1/users?{query}", caller=await service.admin())
    problem(response, 422, field=field)


async def test_the_list_is_sorted_as_asked(service: Service) -> None:
    admin = await service.admin()
    for email, name in (("c@example.com", "ana"), ("a@example.com", "Ben"), ("b@example.com", "Ana")):
        await service.register(email, full_name=name)

    async def listed(query: str) -> list[str]:
        page = (await service.call("GET", f"/api/v1/users?role=viewer&{query}", caller=admin)).json()
        return [user["email"][0] for user in page["items"]]

    assert await listed("sort=email") == ["a", "b", "c"]
    assert await listed("sort=email:desc&limit=2&skip=1") == ["b", "a"]
    assert await listed("sort=full_name:asc") == ["c", "b", "a"], "capitals do not count, then the older first"
    assert await listed("sort=created_at:asc") == ["c", "a", "b"]
    assert await listed("sort=created_at:desc") == await listed("") == ["b", "a", "c"]
    for wrong in ("sort=password_hash", "sort=email:up", "sort="):
        problem(await service.call("GET", f"/api/v1/users?{wrong}", caller=admin), 422, field="/query/sort")


async def test_a_change_is_told_with_before_and_after(service: Service) -> None:
    admin = await service.admin()
    kim = await service.registered("kim@example.com")
    response = await service.change(admin, kim.id or 0, {"role": "reviewer", "full_name": "  Robin "})
    assert response.status_code == 200
    user = response.json()
    assert (user["role"], user["full_name"]) == ("reviewer", "Robin")
    read = await service.call("GET", f"/api/v1/users/{kim.id}", caller=admin)
    assert (read.json(), read.headers["etag"]) == (user, response.headers["etag"])
    (event,) = await service.events("auth.user.updated")
    assert event["actor"] == admin.email
    assert event["data"]["changes"] == {
        "role": {"before": "viewer", "after": "reviewer"},
        "full_name": {"before": "Kim Person", "after": "Robin"},
    }
    assert event["data"]["user"]["role"] == "reviewer"
    assert event["data"]["user"]["tokens_not_before"] is None


async def test_a_change_to_what_is_there_already_is_none(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    for body in ({"role": "viewer"}, {"is_active": True}, {}):
        assert (await service.change(await service.admin(), kim.id or 0, body)).status_code == 200
    assert await service.events("auth.user.updated") == []


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"rule": "admin"}, "/rule", "unknown_field"),
        ({"email": "other@example.com"}, "/email", "unknown_field"),
        ({"role": "emperor"}, "/role", "invalid_request"),
        ({"role": None}, "/role", "invalid_request"),
        ({"is_active": "false"}, "/is_active", "invalid_request"),
        ({"full_name": "  "}, "/full_name", "invalid_request"),
        ({"full_name": None}, "/full_name", "invalid_request"),
    ],
)
async def test_a_wrong_change_is_refused(service: Service, body: dict[str, object], field: str, code: str) -> None:
    kim = await service.registered("kim@example.com")
    problem(await service.change(await service.admin(), kim.id or 0, body), 422, code, field)


_NO_KEY = "is no key of a project: that has 2 to 10 of A-Z and 0-9, and begins with a letter, such as DOOR."
_NO_NAME = "is no name of a service account: that has at most 40 of a-z, 0-9 and hyphens, and begins with a letter."


@pytest.mark.parametrize(
    ("path", "body", "field", "told"),
    [
        ("users", {"must_change_password": "x"}, "/must_change_password", "This must be true or false, not a text."),
        ("users/invitations", {"project": "door"}, "/project", f"'door' {_NO_KEY}"),
        ("auth/tokens", {"projects": ["door"]}, "/projects/0", f"'door' {_NO_KEY}"),
        ("projects/MAIN/service-accounts", {"name": "CI"}, "/name", f"'CI' {_NO_NAME}"),
    ],
)
async def test_a_wrong_value_is_refused_where_it_stands_and_in_words(
    service: Service, path: str, body: dict[str, object], field: str, told: str
) -> None:
    right = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim"} if path == "users" else {}
    right |= {"email": "kim@example.com"} if path.endswith("invitations") else {}
    right |= {"name": "nightly", "scopes": ["read"]} if path.startswith("auth") else {}
    answer = await service.call("POST", f"/api/v1/{path}", {**right, **body}, caller=await service.admin())
    (error,) = problem(answer, 422)["errors"]
    assert (error["pointer"], error["message"]) == (field, told)


async def test_a_change_of_a_stale_reading_is_refused(service: Service) -> None:
    admin = await service.admin()
    kim = await service.registered("kim@example.com")
    path = f"/api/v1/users/{kim.id}"
    etag = (await service.call("GET", path, caller=admin)).headers["etag"]
    answers = await asyncio.gather(
        *(service.change(admin, kim.id or 0, {"full_name": f"Kim {n}"}, if_match=etag) for n in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 5
    problem(await service.call("DELETE", path, caller=admin, if_match=etag), 412)
    assert (await service.call("GET", path, caller=admin)).json()["is_active"] is True


async def test_a_deleted_user_is_deactivated_and_their_tokens_stay_ended(service: Service) -> None:
    admin = await service.admin()
    kim = await service.registered("kim@example.com")
    for _ in range(2):
        deleted = await service.call("DELETE", f"/api/v1/users/{kim.id}", caller=admin)
        assert (deleted.status_code, deleted.content) == (204, b"")
    (event,) = await service.events("auth.user.updated")
    assert event["data"]["changes"] == {"is_active": {"before": True, "after": False}}
    ended = datetime.fromisoformat(event["data"]["user"]["tokens_not_before"])
    await service.change(admin, kim.id or 0, {"is_active": True})
    (row,) = await service.rows("SELECT is_active, tokens_not_before FROM users WHERE id = %s", kim.id)
    assert row == {"is_active": True, "tokens_not_before": ended}
    assert (await service.log_in("kim@example.com")).status_code == 200


async def test_users_that_do_not_exist_are_not_found(service: Service) -> None:
    admin = await service.admin()
    problem(await service.call("GET", "/api/v1/users/999999", caller=admin), 404, "user_not_found")
    problem(await service.change(admin, 999999, {"role": "viewer"}), 404, "user_not_found")
    problem(await service.call("DELETE", "/api/v1/users/999999", caller=admin), 404, "user_not_found")
    problem(await service.call("GET", "/api/v1/users/99999999999", caller=admin), 422, field="/path/user_id")


async def test_the_last_active_admin_stays(service: Service) -> None:
    admin = await service.admin()
    other = await service.registered("other@example.com", Role.ADMIN)
    assert (await service.change(admin, other.id or 0, {"is_active": False})).status_code == 200
    for body in ({"role": "viewer"}, {"is_active": False}, {"role": "reviewer", "is_active": True}):
        problem(await service.change(admin, admin.id or 0, body), 409, "last_admin")
    problem(await service.call("DELETE", f"/api/v1/users/{admin.id}", caller=admin), 409, "last_admin")
    assert (await service.change(admin, admin.id or 0, {"full_name": "Me"})).status_code == 200
    assert (await service.change(admin, other.id or 0, {"role": "viewer"})).status_code == 200


async def test_admins_who_demote_one_another_leave_one(service: Service) -> None:
    first = await service.admin()
    for turn in range(5):
        second = await service.registered(f"other{turn}@example.com", Role.ADMIN)
        answers = await asyncio.gather(
            service.change(first, second.id or 0, {"role": "viewer"}),
            service.call("DELETE", f"/api/v1/users/{first.id}", caller=second),
        )
        assert sorted(answer.status_code for answer in answers) in ([200, 409], [204, 409])
        (left,) = await service.rows("SELECT id FROM users WHERE role = 'admin' AND is_active")
        assert left["id"] in (first.id, second.id)
        if left["id"] == second.id:
            await service.change(second, first.id or 0, {"is_active": True})
            await service.change(first, second.id or 0, {"role": "viewer"})


async def test_a_password_that_an_admin_chose_is_marked_until_its_user_chooses_another(url: str) -> None:
    async with running(
        settings_of(url, environment="production", default_admin_password="chosen by the operator")
    ) as at:
        admin = await at.admin()
        for email, asked, marked in (("a@x.test", {}, True), ("b@x.test", {"must_change_password": False}, False)):
            body = {"email": email, "password": PASSWORD, "full_name": "Robin", **asked}
            made = await at.call("POST", "/api/v1/users", body, caller=admin)
            assert made.status_code == 201
            assert claims(await at.log_in(email)).get("must_change_password", False) is marked
        kim = Identity(made.json()["id"] - 1, "a@x.test", Role.VIEWER)
        same = {"current_password": PASSWORD, "new_password": PASSWORD}
        path = "/api/v1/auth/change-password"
        problem(await at.call("POST", path, same, caller=kim), 422, field="/new_password")
        other = {"current_password": PASSWORD, "new_password": "another battery"}
        assert (await at.call("POST", path, other, caller=kim)).status_code == 204
        assert "must_change_password" not in claims(await at.log_in("a@x.test", "another battery"))


async def test_in_development_it_is_marked_when_the_admin_says_so(service: Service) -> None:
    for email, asked in (("a@x.test", {}), ("b@x.test", {"must_change_password": True})):
        body = {"email": email, "password": PASSWORD, "full_name": "Robin", **asked}
        await service.call("POST", "/api/v1/users", body, caller=await service.admin())
        assert ("must_change_password" in claims(await service.log_in(email))) is bool(asked)


def claims(logged_in: httpx.Response) -> Json:
    return jwt.decode(logged_in.json()["access_token"], options={"verify_signature": False})

"""What each role may do, and how soon a changed role or a deactivation counts."""

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, created, ok, problem, requirement, test_case
from acceptance.waiting import eventually

NOBODY = "00000000-0000-4000-8000-000000000000"

READS = [
    "/requirements",
    "/test-cases",
    "/links",
    "/suggestions",
    "/suggestions/runs",
    "/notifications",
    "/notifications/unread-count",
    "/activity",
    "/reports/traceability-matrix",
    "/reports/coverage-by-module",
    "/reports/gaps",
    "/analytics/suggestion-performance",
    "/search?q=anything",
    "/auth/me",
]

WRITES = [
    ("POST", "/requirements", requirement()),
    ("PUT", f"/requirements/{NOBODY}", requirement()),
    ("PATCH", f"/requirements/{NOBODY}", {"title": "x"}),
    ("DELETE", f"/requirements/{NOBODY}", None),
    ("POST", "/test-cases", test_case()),
    ("PUT", f"/test-cases/{NOBODY}", test_case()),
    ("PATCH", f"/test-cases/{NOBODY}", {"title": "x"}),
    ("DELETE", f"/test-cases/{NOBODY}", None),
    ("POST", "/links", {"requirement_id": NOBODY, "test_case_id": NOBODY}),
    ("PATCH", f"/links/{NOBODY}", {"notes": "x"}),
    ("DELETE", f"/links/{NOBODY}", None),
    ("POST", f"/links/{NOBODY}/confirm", None),
    ("POST", "/suggestions/generate", None),
    ("POST", f"/suggestions/{NOBODY}/accept", {}),
    ("POST", f"/suggestions/{NOBODY}/reject", {}),
    ("POST", "/suggestions/bulk-review", {"action": "reject", "ids": []}),
    ("POST", f"/suggestions/runs/{NOBODY}/cancel", None),
]

ADMINISTRATION = [
    ("GET", "/users", None),
    ("POST", "/users", {"email": "x@people.test", "password": PASSWORD, "full_name": "X"}),
    ("GET", "/users/1", None),
    ("PATCH", "/users/1", {"role": "admin"}),
    ("DELETE", "/users/1", None),
    ("GET", "/audit-log", None),
]


@pytest.mark.parametrize("path", READS)
def test_a_viewer_may_read(viewer: Traceline, path: str) -> None:
    ok(viewer.get(path))


@pytest.mark.parametrize("path", [*READS, "/users", "/audit-log"])
def test_nobody_reads_without_a_token(anyone: Traceline, path: str) -> None:
    response = anyone.get(path)
    problem(response, 401)
    assert response.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_viewer_may_not_write(viewer: Traceline, method: str, path: str, body: object) -> None:
    problem(viewer.request(method, path, json=body), 403)


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_nobody_writes_without_a_token(anyone: Traceline, method: str, path: str, body: object) -> None:
    problem(anyone.request(method, path, json=body), 401)


@pytest.mark.parametrize(("method", "path", "body"), ADMINISTRATION)
@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_users_and_the_audit_log_are_for_admins(
    viewer: Traceline, reviewer: Traceline, role: str, method: str, path: str, body: object
) -> None:
    user = {"viewer": viewer, "reviewer": reviewer}[role]
    problem(user.request(method, path, json=body), 403)


def test_an_admin_may_do_what_a_reviewer_may(admin: Traceline) -> None:
    suggestion = admin.suggested_pair()
    accepted = ok(admin.post(f"/suggestions/{suggestion['id']}/accept"))
    assert admin.delete(f"/links/{accepted['link_id']}").status_code == 204


def test_an_admin_makes_users_of_any_role(admin: Traceline) -> None:
    for role in ("viewer", "reviewer", "admin"):
        body = {"email": texts.email(), "password": PASSWORD, "full_name": "Kim", "role": role}
        response = admin.post("/users", json=body)
        user = created(response)
        assert user["role"] == role
        assert response.headers["location"].endswith(f"/users/{user['id']}")
        assert admin.logged_in(body["email"]).me()["role"] == role
        assert admin.delete(f"/users/{user['id']}").status_code == 204


def test_a_user_made_without_a_role_is_a_viewer(admin: Traceline) -> None:
    body = {"email": texts.email(), "password": PASSWORD, "full_name": "Kim"}
    assert created(admin.post("/users", json=body))["role"] == "viewer"
    problem(admin.post("/users", json=body), 409, "email_taken")


def test_the_list_of_users_is_filtered(admin: Traceline) -> None:
    name = texts.word()
    users = [created(admin.register(texts.email(), full_name=f"{name} {number}"))["id"] for number in range(3)]
    ok(admin.patch(f"/users/{users[0]}", json={"role": "reviewer"}))
    ok(admin.patch(f"/users/{users[1]}", json={"is_active": False}))

    def found(**filters: object) -> set[int]:
        return {user["id"] for user in admin.items("/users", q=name, **filters)}

    assert found() == set(users)
    assert found(role="reviewer") == {users[0]}
    assert found(is_active="false") == {users[1]}
    assert found(is_active="true", role="viewer") == {users[2]}
    problem(admin.get("/users", params={"role": "emperor"}), 422, field="role")


def test_an_admin_changes_a_user(admin: Traceline) -> None:
    user = created(admin.register(texts.email()))
    changed = ok(admin.patch(f"/users/{user['id']}", json={"full_name": "Robin", "role": "reviewer"}))
    assert (changed["full_name"], changed["role"]) == ("Robin", "reviewer")
    assert ok(admin.get(f"/users/{user['id']}")) == changed
    problem(admin.patch(f"/users/{user['id']}", json={"role": "emperor"}), 422, field="role")
    problem(admin.patch(f"/users/{user['id']}", json={"rule": "admin"}), 422, "unknown_field", field="rule")


def test_users_that_do_not_exist_are_not_found(admin: Traceline) -> None:
    problem(admin.get("/users/999999999"), 404)
    problem(admin.patch("/users/999999999", json={"role": "viewer"}), 404)
    problem(admin.delete("/users/999999999"), 404)


def test_deleting_a_user_deactivates(admin: Traceline) -> None:
    user = created(admin.register(texts.email()))
    assert admin.delete(f"/users/{user['id']}").status_code == 204
    assert admin.read(f"/users/{user['id']}")["is_active"] is False


def test_the_old_token_of_a_promoted_viewer_may_write_within_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("viewer")
    problem(user.post("/requirements", json=requirement()), 403)
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "reviewer"}))

    def written() -> Json | None:
        answer = user.post("/requirements", json=requirement())
        return created(answer) if answer.status_code == 201 else None

    made = eventually(written, "a write with the old token", seconds=2)
    assert made["created_by"] == user.me()["email"]


def test_the_old_token_of_a_demoted_reviewer_may_not_write_after_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    user.create_requirement()
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "viewer"}))
    eventually(
        lambda: user.post("/requirements", json=requirement()).status_code == 403,
        "the end of the old role",
        seconds=2,
    )
    ok(user.get("/requirements"))


def test_a_deactivated_user_may_not_even_read_after_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    ok(user.get("/requirements"))
    ok(admin.patch(f"/users/{user.me()['id']}", json={"is_active": False}))
    eventually(lambda: user.get("/requirements").status_code in {401, 403}, "the end of the reading", seconds=2)
    problem(user.get("/auth/me"), {401, 403})
    problem(user.post("/requirements", json=requirement()), {401, 403})


def test_a_reactivated_user_can_log_in_and_work_again(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    me = user.me()
    ok(admin.patch(f"/users/{me['id']}", json={"is_active": False}))
    eventually(lambda: user.get("/requirements").status_code != 200, "the deactivation", seconds=2)
    ok(admin.patch(f"/users/{me['id']}", json={"is_active": True}))
    back = admin.logged_in(me["email"])
    eventually(lambda: back.get("/requirements").status_code == 200, "the return", seconds=2)
    back.create_requirement()

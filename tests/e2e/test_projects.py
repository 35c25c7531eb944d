"""Projects over the real thing: who gets in, how soon a change counts, and what addresses below them look like."""

import re

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem, requirement
from acceptance.waiting import eventually

READING = {"name": "nightly", "scopes": ["read"]}


def member(admin: Traceline, key: str, user: Traceline, role: str) -> None:
    response = admin.put(f"/projects/{key}/members/{user.me()['id']}", json={"role": role})
    assert response.status_code in {200, 201}, response.text


def reaches(user: Traceline, key: str, status: int, method: str = "GET") -> None:
    path = f"/projects/{key}/requirements"
    body = {"json": requirement()} if method == "POST" else {}
    eventually(lambda: user.request(method, path, **body).status_code, f"{status} of {path}", equals=status)


@pytest.fixture(scope="module")
def door(admin: Traceline) -> str:
    """A project that its members alone see."""
    key = admin.new_project()
    reaches(admin, key, 200)
    return key


def test_a_membership_lets_somebody_in_with_its_role_and_its_end_out(admin: Traceline, door: str) -> None:
    kim = admin.new_user("reviewer")
    assert door not in [project["key"] for project in kim.items("/projects")]
    reaches(kim, door, 404)
    member(admin, door, kim, "viewer")
    reaches(kim, door, 200)
    assert ok(kim.get(f"/projects/{door}"))["role"] == "viewer"
    problem(kim.post(f"/projects/{door}/requirements", json=requirement()), 403, "role_too_low")
    member(admin, door, kim, "reviewer")
    reaches(kim, door, 201, "POST")
    assert admin.delete(f"/projects/{door}/members/{kim.me()['id']}").status_code == 204
    reaches(kim, door, 404)


def test_without_access_nothing_tells_that_a_project_is_there(admin: Traceline, door: str) -> None:
    kim = admin.new_user("reviewer")
    nowhere = texts.project_key()
    for path in ("", "/members", "/requirements", "/audit-log", "/suggestions", "/notifications", "/reports/gaps"):
        hidden, missing = [
            problem(kim.get(f"/projects/{key}{path}"), 404, "project_not_found") for key in (door, nowhere)
        ]
        for document in (hidden, missing):
            for name in ("request_id", "instance"):
                del document[name]
        assert hidden == missing


def test_answers_name_the_project_as_the_caller_did(admin: Traceline, door: str) -> None:
    admin = admin.within(None)
    for beginning in (f"/projects/{door}", "/projects/MAIN", ""):
        admin = admin.new_user("admin")
        made = admin.post(f"{beginning}/requirements", json=requirement())
        id_ = created(made)["id"]
        assert made.headers["location"] == f"/api/v1{beginning}/requirements/{id_}"
        created(admin.post(f"{beginning}/requirements", json=requirement()))
        listed = admin.get(f"{beginning}/requirements", params={"limit": 1})
        assert listed.links["next"]["url"].startswith(f"/api/v1{beginning}/requirements?")
        missing = admin.get(f"{beginning}/requirements/00000000-0000-4000-8000-000000000000")
        told = problem(missing, 404, "requirement_not_found")
        assert told["instance"] == missing.url.path
        run = admin.post(f"{beginning}/suggestions/generate", json={}, headers={"Prefer": "respond-async"})
        assert ok(run, 202)["id"]
        assert run.headers["location"].startswith(f"/api/v1{beginning}/suggestions/runs/")


def test_addresses_inside_of_answers_are_those_of_the_project(admin: Traceline, door: str) -> None:
    inside, outside = admin.within(door), admin.within(None)
    suggestion = inside.suggested_pair()
    bulk = {"action": "reject", "ids": [suggestion["id"]]}
    told = ok(inside.post("/suggestions/bulk-review", json=bulk))["message"]
    (undo,) = re.findall(r"POST /api/v1(\S+)", told)
    assert ok(outside.post(undo))["reopened"] == 1

    def named(rule: str) -> list[Json]:
        (judged,) = ok(inside.get("/reports/gate", params={rule: 0}))["rules"]
        return [ok(outside.get(item["url"].removeprefix("/api/v1"))) for item in judged["items"]]

    assert suggestion["requirement_id"] in [item["id"] for item in named("max_uncovered")]

    def waiting() -> list[str]:
        return [one["id"] for found in named("max_pending_suggestions") for one in found["items"]]

    eventually(lambda: suggestion["id"] in waiting(), "the gate to name the pair that waits for a review")


def test_a_project_that_is_archived_is_read_only_until_it_is_deleted(admin: Traceline) -> None:
    key = admin.new_project()
    reaches(admin, key, 201, "POST")
    problem(admin.delete(f"/projects/{key}", params={"confirm": key}), 409, "not_archived")
    ok(admin.patch(f"/projects/{key}", json={"archived": True}))
    reaches(admin, key, 409, "POST")
    problem(admin.post(f"/projects/{key}/requirements", json=requirement()), 409, "project_archived")
    ok(admin.get(f"/projects/{key}/requirements"))
    problem(admin.delete(f"/projects/{key}"), 422, field="confirm")
    ok(admin.delete(f"/projects/{key}", params={"confirm": key}), 202)
    reaches(admin, key, 404)
    problem(admin.post("/projects", json={"key": key, "name": "Again"}), 409, "key_used")


def test_a_deleted_project_comes_back_with_all_of_it_members_and_tokens(admin: Traceline) -> None:
    admin = admin.within(None)
    key = admin.new_project()
    inside = admin.within(key)
    requirement_, test_case = inside.create_pair()
    kim = admin.new_user("reviewer")
    member(admin, key, kim, "reviewer")
    reaches(kim, key, 200)
    account = created(admin.post(f"/projects/{key}/service-accounts", json={"name": "ci"}))
    made = created(admin.post(f"/projects/{key}/service-accounts/{account['id']}/tokens", json=READING))
    ci = admin.with_token(made["token"])
    reaches(ci, key, 200)
    ok(admin.patch(f"/projects/{key}", json={"archived": True}))
    token = created(admin.post("/auth/tokens", json={"name": "all", "scopes": ["admin"]}))["token"]
    program = admin.with_token(token)
    eventually(lambda: program.get(f"/projects/{key}").status_code, "the token to be known", equals=200)
    refused = problem(program.delete(f"/projects/{key}", params={"confirm": key}), 403, "session_needed")
    assert "log in" in refused["detail"]
    until = ok(admin.delete(f"/projects/{key}", params={"confirm": key}), 202)["restorable_until"]
    for caller in (admin, kim, ci):
        reaches(caller, key, 404)
    for caller in (admin, kim):
        assert key not in [project["key"] for project in caller.items("/projects")]
    assert {project["key"]: project["restorable_until"] for project in admin.items("/projects", deleted="true")}[
        key
    ] == until
    problem(kim.get("/projects", params={"deleted": "true"}), 403, "role_too_low")
    problem(program.post(f"/projects/{key}/restore"), 403, "session_needed")
    problem(kim.post(f"/projects/{key}/restore"), 403, "role_too_low")
    ok(admin.post(f"/projects/{key}/restore"))
    for caller in (admin, kim, ci):
        reaches(caller, key, 200)
    assert ok(kim.get(f"/projects/{key}"))["role"] == "reviewer"
    for item, path in ((requirement_, "requirements"), (test_case, "test-cases")):
        assert ok(inside.get(f"/{path}/{item['id']}"))["id"] == item["id"]
    ok(admin.patch(f"/projects/{key}", json={"archived": False}))
    eventually(lambda: inside.read("/suggestions")["total"], "suggestions to go on", equals=1)


def test_what_is_done_to_projects_is_in_the_audit_log_and_not_in_activity(admin: Traceline) -> None:
    admin = admin.within(None)
    key = admin.new_project()
    kim = admin.new_user()
    member(admin, key, kim, "reviewer")
    ok(admin.patch(f"/projects/{key}", json={"archived": True}))
    ok(admin.delete(f"/projects/{key}", params={"confirm": key}), 202)
    ok(admin.post(f"/projects/{key}/restore"))

    def actions() -> list[str]:
        return [entry["action"] for entry in admin.items("/audit-log", resource_type="project", resource_id=key)]

    expected = ["restored", "deletion_planned", "archived", "member_changed", "created"]
    eventually(lambda: actions() == [f"project.{done}" for done in expected], "the audit log")
    assert "project" not in {entry["resource_type"] for entry in admin.items("/activity")}

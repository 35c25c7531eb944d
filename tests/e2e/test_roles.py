"""What each role may do, and how soon a changed role or a deactivation counts."""

import re

import httpx
import pytest

from acceptance.callers import in_one_process
from acceptance.cases import check_each
from acceptance.client import API, Json, Traceline, created, ok, problem, requirement, said
from acceptance.waiting import eventually
from contracts.routes import SERVICES

pytestmark = [in_one_process, pytest.mark.requirement("TL-USER-3")]

NOBODY = "00000000-0000-4000-8000-000000000000"

READS = [
    "/requirements",
    "/test-cases",
    "/links",
    "/relations",
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

FOR_ANY_USER = {
    ("POST", "/auth/change-password"),
    ("POST", "/auth/second-factor"),
    ("POST", "/auth/second-factor/confirm"),
    ("POST", "/auth/second-factor/recovery-codes"),
    ("POST", "/auth/second-factor/remove"),
    ("POST", "/auth/logout"),
    ("POST", "/auth/renew"),
    ("DELETE", "/auth/sessions"),
    ("DELETE", "/auth/sessions/{session_id}"),
    ("POST", "/auth/tokens"),
    ("DELETE", "/auth/tokens/{token_id}"),
    ("POST", "/notifications/{notification_id}/read"),
    ("PATCH", "/notifications/{notification_id}/read"),
    ("POST", "/notifications/mark-all-read"),
    ("DELETE", "/notifications/{notification_id}"),
}
"""The writes that concern nobody but the caller."""

Operation = tuple[str, str]
"""The method and the path, as the API's description has it."""


@pytest.fixture(scope="module")
def operations(anyone: Traceline) -> list[Operation]:
    """Every operation that needs a token, as the API describes itself: one that is new is tried too."""
    found = [
        (method.upper(), path.removeprefix(API))
        for path, operations in anyone.read("/openapi.json")["paths"].items()
        for method, operation in operations.items()
        if path.startswith(API) and operation.get("security") != []
    ]
    assert set(found) >= FOR_ANY_USER
    return found


def tried(user: Traceline, operation: Operation) -> httpx.Response:
    method, path = operation
    known = {"user_id": "1", "notification_id": "1", "token_id": "1", "key": "MAIN"}
    address = re.sub(r"{(\w+)}", lambda name: known.get(name[1], NOBODY), path)
    body: Json = {"role": "viewer"} if path.endswith("/members/{user_id}") else {}
    if "/service-accounts" in path:
        body = {"name": "ci"} | ({"scopes": ["read"]} if path.endswith("/tokens") else {})
    return user.request(method, address, **({} if method in {"GET", "DELETE"} else {"json": body}))


def is_for_admins(operation: Operation) -> bool:
    method, path = operation
    is_of_projects = path.startswith("/projects") and (
        method != "GET" or "/members" in path or "/service-accounts" in path
    )
    is_policy = path.startswith("/reports/gate/policies") and method != "GET"
    is_fields = operation in {("PUT", "/fields"), ("PUT", "/levels")}
    is_run = operation == ("DELETE", "/test-runs/{run_id}")
    return path.startswith(("/users", "/audit-log")) or is_of_projects or is_policy or is_fields or is_run


def test_a_viewer_may_read(viewer: Traceline) -> None:
    check_each(lambda path: ok(viewer.get(path)), [(path,) for path in READS])


def test_nobody_does_anything_without_a_token(anyone: Traceline, operations: list[Operation]) -> None:
    for operation in operations:
        response = tried(anyone, operation)
        if operation[1].startswith("/badges/"):
            problem(response, 404)  # whether there is one, only its token is told
            continue
        problem(response, 401)
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_a_viewer_may_write_nothing(viewer: Traceline, operations: list[Operation]) -> None:
    reading = {(method, f"/{path}") for service in SERVICES for method, path in service.reading}
    anybodys = FOR_ANY_USER | (reading - {("POST", "/imports/inspect")})
    writes = [operation for operation in operations if operation[0] != "GET" and operation not in anybodys]
    assert len(writes) >= 20
    for operation in writes:
        problem(tried(viewer, operation), 403, "role_too_low")


def test_users_and_the_audit_log_are_for_admins(
    viewer: Traceline, reviewer: Traceline, operations: list[Operation]
) -> None:
    for user in (viewer, reviewer):
        for operation in filter(is_for_admins, operations):
            problem(tried(user, operation), 403, "role_too_low")
        problem(user.patch(f"/users/{user.me()['id']}", json={"role": "admin"}), 403, "role_too_low")


def test_a_reviewer_is_refused_nothing_else(reviewer: Traceline, operations: list[Operation]) -> None:
    lasting = {("POST", "/auth/logout"), ("POST", "/suggestions/generate"), ("GET", "/events")}
    for operation in operations:
        if not is_for_admins(operation) and operation not in lasting:
            response = tried(reviewer, operation)
            assert response.status_code in {200, 204, 404, 415, 422}, said(response)


def test_an_admin_may_do_what_a_reviewer_may(admin: Traceline) -> None:
    suggestion = admin.suggested_pair()
    accepted = ok(admin.post(f"/suggestions/{suggestion['id']}/accept"))
    assert admin.delete(f"/links/{accepted['link_id']}").status_code == 204


def test_the_old_token_of_a_promoted_viewer_may_write_within_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("viewer")
    problem(user.post("/requirements", json=requirement()), 403)
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "reviewer"}))

    def written() -> Json | None:
        answer = user.post("/requirements", json=requirement())
        return created(answer) if answer.status_code == 201 else None

    made = eventually(written, "a write with the old token")
    assert made["created_by"] == user.me()["email"]


def test_the_old_token_of_a_demoted_reviewer_may_not_write_after_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    user.create_requirement()
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "viewer"}))
    eventually(
        lambda: user.post("/requirements", json=requirement()).status_code,
        "the end of the old role",
        equals=403,
    )
    ok(user.get("/requirements"))


def test_a_deactivated_user_may_not_even_read_after_2_seconds(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    ok(user.get("/requirements"))
    ok(admin.patch(f"/users/{user.me()['id']}", json={"is_active": False}))
    eventually(lambda: user.get("/requirements").status_code in {401, 403}, "the end of the reading")
    problem(user.get("/auth/me"), {401, 403})
    problem(user.post("/requirements", json=requirement()), {401, 403})


def test_a_reactivated_user_can_log_in_and_work_again(admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    me = user.me()
    ok(admin.patch(f"/users/{me['id']}", json={"is_active": False}))
    eventually(lambda: user.get("/requirements").status_code != 200, "the deactivation")
    ok(admin.patch(f"/users/{me['id']}", json={"is_active": True}))
    back = admin.logged_in(me["email"])
    eventually(lambda: back.get("/requirements").status_code, "the return", equals=200)
    back.create_requirement()

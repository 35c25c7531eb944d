"""Addresses below a project: who gets in with which role, what reaches the service, and how answers look."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from stand_ins import MAIN_PROJECT, Running, identity_of, running_gateway
from test_api_tokens import made

from chassis.core.identity import Identity
from chassis.messaging.events import Actor
from contracts.auth import (
    MemberChanged,
    MemberRemoved,
    ProjectArchived,
    ProjectCreated,
    ProjectDeleted,
    ProjectDeletionPlanned,
    ProjectRestored,
    ProjectUpdated,
    UserUpdated,
)
from contracts.projects import ProjectSettings, ProjectState, Visibility
from contracts.routes import AUTH
from embedded import openapi
from gateway.routing import streams
from testing.factories import user as user_state
from testing.service import problem
from testing.streams import following

DOOR = "/api/v1/projects/DOOR"
CHANGING_NOTHING_OF_A_PROJECT = {
    ("POST", "imports/inspect"),
    ("POST", "reports/gate"),
    ("POST", "automated-tests/try-patterns"),
    # These are of the person.
    ("POST", "notifications/mark-all-read"),
    ("POST", "notifications/{notification_id}/read"),
    ("PATCH", "notifications/{notification_id}/read"),
    ("DELETE", "notifications/{notification_id}"),
}
"""What an archived project does not refuse."""


def state(key: str = "DOOR", **changed: Any) -> ProjectState:
    fields = {
        "key": key,
        "name": key,
        "description": "",
        "visibility": Visibility.MEMBERS,
        "archived": False,
        "settings": ProjectSettings(),
    }
    return ProjectState.model_validate(fields | changed)


def member(role: str, project: str = "DOOR", user_id: int = 7) -> MemberChanged:
    return MemberChanged(project=project, user_id=user_id, email="u7@traceline.test", role=role, before=None)


async def told(running: Running, *events: Any) -> None:
    for event in events:
        running.issuer.tell(event)
    await running.verifier.revocations.refresh()


def caller_of(running: Running, response: httpx.Response) -> Identity:
    assert response.status_code == 200, response.text
    internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
    return identity_of(internal)


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def running(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    async with running_gateway(deployed=request.param) as running:
        yield running


async def test_the_service_gets_the_plain_address_and_the_project_with_the_callers_role_there(
    running: Running,
) -> None:
    await told(running, ProjectCreated(project=state()), member("admin"))
    token = running.issuer.token(role="viewer")
    response = await running.get(f"{DOOR}/requirements/by-external-id/A%2FB?q=1", token)
    assert response.json()["path"] == "/api/v1/requirements/by-external-id/A/B"
    caller = caller_of(running, response)
    assert (caller.project, caller.role) == ("DOOR", "admin")
    plain = caller_of(running, await running.get("/api/v1/requirements", token))
    assert (plain.project, plain.role) == ("MAIN", "viewer")
    named = caller_of(running, await running.get("/api/v1/projects/MAIN/requirements", token))
    assert (named.project, named.role) == ("MAIN", "viewer")


@pytest.mark.parametrize(
    ("visibility", "account", "membership", "effective"),
    [
        ("open", "viewer", None, "viewer"),
        ("open", "reviewer", "viewer", "reviewer"),
        ("open", "viewer", "reviewer", "reviewer"),
        ("open", "admin", "viewer", "admin"),
        ("members", "viewer", None, None),
        ("members", "reviewer", None, None),
        ("members", "reviewer", "viewer", "viewer"),
        ("members", "viewer", "admin", "admin"),
        ("members", "admin", None, "admin"),
        ("members", "admin", "viewer", "admin"),
    ],
)
async def test_the_role_in_a_project(
    embedded: Running, visibility: str, account: str, membership: str | None, effective: str | None
) -> None:
    await told(embedded, ProjectCreated(project=state(visibility=visibility)))
    if membership is not None:
        await told(embedded, member(membership))
    response = await embedded.get(f"{DOOR}/requirements", embedded.issuer.token(role=account))
    if effective is None:
        problem(response, 404, "project_not_found")
    else:
        assert caller_of(embedded, response).role == effective


async def test_without_access_a_project_is_one_that_is_not_there(embedded: Running) -> None:
    await told(embedded, ProjectCreated(project=state()))
    token = embedded.issuer.token()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        for path in ("requirements", "requirements/7", "notifications", "events", "audit-log", "imports/inspect"):
            hidden, missing = [
                problem(await embedded.get(f"/api/v1/projects/{key}/{path}", token, method=method), 404)
                for key in ("DOOR", "NOWHERE")
            ]
            told_of = ("type", "title", "status", "detail", "code")
            assert [hidden[name] for name in told_of] == [missing[name] for name in told_of]
            assert hidden["instance"].replace("DOOR", "NOWHERE") == missing["instance"]
    problem(await embedded.get(f"{DOOR}/requirements"), 401)


@pytest.mark.parametrize(
    "path",
    ["users", "auth/me", "auth/login", "projects", "projects/MAIN", "version", "healthz", "openapi.json", "docs", "x"],
)
async def test_what_is_of_the_installation_is_not_below_a_project(embedded: Running, path: str) -> None:
    problem(
        await embedded.get(f"/api/v1/projects/MAIN/{path}", embedded.issuer.token(role="admin")), 404, "route_not_found"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/projects/DO%2FOR/requirements",
        "/api/v1/projects/DOOR/..%2frequirements",
        "/api/v1/projects//requirements",
        "/api/v1/projects/DOOR//requirements",
        "/api/v1/projects/%2e%2e/requirements",
        "/api/v1/projects/DOOR%00/requirements",
        "/api/v1/projects/DOOR/requirements/by-external-id/a%2F..%2Fb",
    ],
)
async def test_an_address_means_one_thing(embedded: Running, path: str) -> None:
    await told(embedded, ProjectCreated(project=state(visibility="open")))
    url = httpx.URL("http://localhost").copy_with(raw_path=path.encode())
    response = await embedded.client.get(url, headers={"Authorization": f"Bearer {embedded.issuer.token()}"})
    problem(response, 400, "malformed_path")


@pytest.mark.parametrize("path", ["", "/members", "/members/7"])
async def test_a_project_itself_is_of_the_installation(embedded: Running, path: str) -> None:
    response = await embedded.get(f"{DOOR}{path}", embedded.issuer.token(role="admin"))
    assert response.status_code == 404, "auth-service answers, which has no such route here"
    assert response.json() == {"detail": "Not Found"}


async def test_what_belongs_to_a_person_is_of_no_project_unless_one_is_named(embedded: Running) -> None:
    token = embedded.issuer.token()
    everywhere = caller_of(embedded, await embedded.get("/api/v1/notifications", token))
    assert (everywhere.project, everywhere.role) == ("", "reviewer")
    there = caller_of(embedded, await embedded.get("/api/v1/projects/MAIN/notifications", token))
    assert there.project == "MAIN"


async def test_links_keep_what_the_caller_wrote(running: Running) -> None:
    await told(running, ProjectCreated(project=state()), member("reviewer"))
    token = running.issuer.token()
    for beginning in (DOOR, "/api/v1"):
        made = await running.get(f"{beginning}/links/made", token, method="POST")
        assert made.headers["location"] == f"{beginning}/links/7"
        assert made.headers["link"] == (
            f'<{beginning}/links?after=x>; rel="next", <{beginning}/links?skip=0>; rel="prev"'
        )


async def test_a_project_that_is_archived_is_read_and_not_written(embedded: Running) -> None:
    """By every address of the services' documents; what the gateway refuses reaches none of them."""
    # First: it takes seconds, and what the gateway knows of projects must not be old by then.
    writing = [
        (method.upper(), path.removeprefix("/api/v1/"))
        for service, app in (await openapi.apps()).items()
        if service != AUTH.context
        for path, item in app.openapi()["paths"].items()
        for method in item.keys() & {"post", "put", "patch", "delete"}
    ]
    assert len(writing) > 40
    await told(embedded, ProjectArchived(project=state(archived=True), changes={}), member("admin"))
    token = embedded.issuer.token()
    embedded.endless.set()
    for path in ("requirements", "exports"):
        assert (await embedded.get(f"{DOOR}/{path}", token)).status_code == 200
    passed = set()
    for method, path in writing:
        response = await embedded.get(f"{DOOR}/{re.sub(r'{[^}]*}', '7', path)}", token, method=method)
        if response.status_code == 200:
            passed.add((method, path))
        else:
            problem(response, 409, "project_archived")
    assert passed == CHANGING_NOTHING_OF_A_PROJECT
    await told(embedded, ProjectUpdated(project=state(), changes={}))
    assert (await embedded.get(f"{DOOR}/requirements", token, method="POST")).status_code == 200


async def test_looking_at_a_file_changes_nothing_of_an_archived_project(running: Running) -> None:
    await told(running, ProjectArchived(project=state(archived=True), changes={}), member("admin"))
    running.endless.set()
    response = await running.get(f"{DOOR}/imports/inspect", running.issuer.token(), method="POST", content=b"abc")
    assert response.json() == {"body_length": 3}


async def test_each_event_counts_at_once(embedded: Running) -> None:
    token = embedded.issuer.token(role="viewer")

    async def status() -> int:
        return (await embedded.get(f"{DOOR}/requirements", token)).status_code

    assert await status() == 404
    await told(embedded, ProjectCreated(project=state()))
    assert await status() == 404
    await told(embedded, member("viewer"))
    assert await status() == 200
    await told(embedded, MemberRemoved(project="DOOR", user_id=7, email="u7@traceline.test", before="viewer"))
    assert await status() == 404
    await told(embedded, ProjectUpdated(project=state(visibility="open"), changes={}))
    assert await status() == 200
    await told(embedded, ProjectDeletionPlanned(project=state(visibility="open"), until=datetime.now(UTC)))
    assert await status() == 404
    await told(embedded, ProjectRestored(project=state(), members={8: "viewer"}))
    assert await status() == 404
    await told(embedded, ProjectDeletionPlanned(project=state(), until=datetime.now(UTC)))
    await told(embedded, ProjectRestored(project=state(), members={7: "viewer"}))
    assert await status() == 200, "as a member, as before"
    await told(embedded, ProjectDeleted(project=state()))
    assert await status() == 404
    await told(embedded, member("admin"))
    assert await status() == 404, "of a project that is gone"
    await told(embedded, UserUpdated(user=user_state(Actor(7, "u7@traceline.test"), "admin"), changes={}))
    assert await status() == 404


async def test_whoever_makes_a_project_is_in_it_at_once(running: Running) -> None:
    token = running.issuer.token(role="admin")
    running.issuer.next_event = ProjectCreated(project=state())
    assert (await running.get("/api/v1/projects", token, method="POST")).status_code == 200
    assert (await running.get(f"{DOOR}/requirements", token)).status_code == 200


async def test_what_was_before_the_start_is_known() -> None:
    there = {"key": "DOOR", "visibility": "members", "archived": True, "members": {"7": "admin"}}
    async with running_gateway(projects=[MAIN_PROJECT, there]) as running:
        token = running.issuer.token(role="viewer")
        assert caller_of(running, await running.get(f"{DOOR}/requirements", token)).role == "admin"
        problem(await running.get(f"{DOOR}/requirements", token, method="POST"), 409, "project_archived")


async def test_an_api_token_for_some_projects_is_in_no_other(embedded: Running) -> None:
    token = await made(embedded, "write", projects=("DOOR",))
    await told(embedded, *(ProjectCreated(project=state(key, visibility="open")) for key in ("DOOR", "GATE")))
    assert caller_of(embedded, await embedded.get(f"{DOOR}/requirements", token)).project == "DOOR"
    for path in ("/api/v1/projects/GATE/requirements", "/api/v1/requirements", "/api/v1/notifications"):
        problem(await embedded.get(path, token), 404, "project_not_found")


async def test_an_api_token_for_some_projects_neither_sees_nor_changes_other_projects_and_people(
    embedded: Running,
) -> None:
    token = await made(embedded, "admin", projects=("DOOR",), role="admin")
    await told(embedded, *(ProjectCreated(project=state(key, visibility="open")) for key in ("DOOR", "GATE")))
    for path in (DOOR, f"{DOOR}/members"):
        assert "code" not in (await embedded.get(path, token)).json(), "auth-service is asked"
    gate = "/api/v1/projects/GATE"
    for method, path in (
        ("GET", gate),
        ("PATCH", gate),
        ("GET", f"{gate}/members"),
        ("PUT", f"{gate}/members/7"),
        ("DELETE", f"{gate}/members/7"),
    ):
        problem(await embedded.get(path, token, method=method), 404, "project_not_found")
    for method, path in (("GET", "projects"), ("POST", "projects"), ("GET", "users"), ("DELETE", "users/7/sessions")):
        problem(await embedded.get(f"/api/v1/{path}", token, method=method), 403, "token_of_projects")
    assert "code" not in (await embedded.get("/api/v1/auth/me", token)).json()


async def test_the_stream_of_a_project_ends_with_access_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "POLL", 0.05)
    async with running_gateway() as running:
        await told(running, ProjectCreated(project=state()), member("viewer"))
        headers = {"authorization": f"Bearer {running.issuer.token()}"}
        async with (
            following(running.gateway, f"{DOOR}/events", headers) as of_door,
            following(running.gateway, "/api/v1/events", headers) as of_main,
        ):
            await of_door.events(1)
            await told(running, MemberRemoved(project="DOOR", user_id=7, email="u7@traceline.test", before="viewer"))
            while await of_door.next() is not None:
                pass
            await of_main.events(3)

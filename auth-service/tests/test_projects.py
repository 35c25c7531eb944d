"""Projects, who is a member of which, and what each sees of them."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from auth_service.projects.service import finish_deletions
from chassis.core.identity import Identity, Role
from testing.postgres import as_owner
from testing.service import Json, ok, problem

from .conftest import Service, running, settings_of

DOOR = {"key": "DOOR", "name": "Door control"}
PROJECTS = "/api/v1/projects"


class Caller:
    """Somebody who calls the service."""

    def __init__(self, service: Service, identity: Identity) -> None:
        self.identity = identity
        self._service = service

    async def __call__(self, method: str, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        return await self._service.call(method, f"{PROJECTS}{path}", body, caller=self.identity, **headers)

    async def keys(self, query: str = "") -> list[str]:
        return [project["key"] for project in ok(await self("GET", query))["items"]]


@pytest.fixture
async def admin(service: Service) -> Caller:
    return Caller(service, await service.admin())


@pytest.fixture
async def kim(service: Service) -> Caller:
    return Caller(service, await service.registered("kim@example.com"))


async def test_main_is_there_from_the_start_and_open(kim: Caller, service: Service) -> None:
    (main,) = ok(await kim("GET", ""))["items"]
    assert (main["key"], main["visibility"], main["archived"], main["role"]) == ("MAIN", "open", False, "viewer")
    assert set(main["settings"].values()) == {None}
    assert main["created_by"] is None


async def test_an_admin_makes_a_project_that_its_members_alone_see(
    admin: Caller, kim: Caller, service: Service
) -> None:
    made = await admin("POST", "", {**DOOR, "settings": {"threshold": 0.5}})
    project = ok(made, 201)
    assert made.headers["location"] == f"{PROJECTS}/DOOR"
    assert (project["visibility"], project["role"], project["created_by"]) == ("members", "admin", admin.identity.id)
    assert project["settings"]["threshold"] == 0.5
    read = await admin("GET", "/DOOR")
    assert (read.json(), read.headers["etag"]) == (project, made.headers["etag"])
    (event,) = await service.events("auth.project.created")
    assert (event["subject"], event["actorid"], event["data"]["project"]["key"]) == ("DOOR", admin.identity.id, "DOOR")
    assert await admin.keys() == ["DOOR", "MAIN"]
    assert await kim.keys() == ["MAIN"]


async def test_only_admins_make_and_delete_projects(kim: Caller, service: Service) -> None:
    problem(await kim("POST", "", DOOR), 403, "role_too_low")
    problem(await kim("DELETE", "/MAIN"), 403, "role_too_low")
    problem(await service.call("GET", PROJECTS), 401)


@pytest.mark.parametrize(
    "key",
    ["D", "ELEVENCHARS", "main", "Door", "1DOOR", "DO-OR", "DOOR ", "DÖOR", "🚪🚪", "", "DOOR\n", "../AB", None, 7],
)
async def test_what_is_no_key_is_refused(admin: Caller, key: Any) -> None:
    refused = problem(await admin("POST", "", {**DOOR, "key": key}), 422, field="/key")
    if isinstance(key, str):
        assert "2 to 10 of A-Z and 0-9" in refused["detail"]


async def test_a_key_is_given_once_and_for_ever(admin: Caller) -> None:
    problem(await admin("POST", "", {**DOOR, "key": "MAIN"}), 409, "key_taken")
    ok(await admin("POST", "", DOOR), 201)
    problem(await admin("POST", "", DOOR), 409, "key_taken")
    ok(await admin("PATCH", "/DOOR", {"archived": True}))
    ok(await admin("DELETE", "/DOOR?confirm=DOOR"), 202)
    problem(await admin("POST", "", DOOR), 409, "key_used")


async def test_the_same_idempotency_key_makes_one_project(admin: Caller) -> None:
    first, second = [await admin("POST", "", DOOR, idempotency_key="k") for _ in range(2)]
    assert (first.status_code, first.content) == (second.status_code, second.content) == (201, first.content)


async def test_members_see_a_project_with_their_role_of_it_alone(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    member = f"/DOOR/members/{kim.identity.id}"
    made = await admin("PUT", member, {"role": "reviewer"})
    assert ok(made, 201)["email"] == "kim@example.com"
    assert made.headers["location"] == f"{PROJECTS}{member}"
    assert ok(await kim("GET", "/DOOR"))["role"] == "reviewer"
    assert await kim.keys() == ["DOOR", "MAIN"]
    ok(await admin("PUT", member, {"role": "viewer"}))
    ok(await admin("PUT", member, {"role": "viewer"}))
    assert ok(await kim("GET", "/DOOR"))["role"] == "viewer"
    assert (await admin("DELETE", member)).status_code == 204
    problem(await admin("DELETE", member), 404, "member_not_found")
    problem(await kim("GET", "/DOOR"), 404, "project_not_found")
    told = [event["data"] for event in await service.events() if ".member." in event["type"]]
    of_kim = {"project": "DOOR", "user_id": kim.identity.id, "email": "kim@example.com"}
    assert told == [
        {**of_kim, "role": "reviewer", "before": None},
        {**of_kim, "role": "viewer", "before": "reviewer"},
        {**of_kim, "before": "viewer"},
    ]


async def test_without_access_everything_is_answered_as_where_there_is_no_project(admin: Caller, kim: Caller) -> None:
    ok(await admin("POST", "", DOOR), 201)
    calls: list[tuple[str, str, Json | None]] = [
        ("GET", "", None),
        ("PATCH", "", {"name": "Mine"}),
        ("GET", "/members", None),
        ("PUT", "/members/1", {"role": "admin"}),
        ("DELETE", "/members/1", None),
    ]
    for method, path, body in calls:
        hidden, missing = [problem(await kim(method, f"/{key}{path}", body), 404) for key in ("DOOR", "NOWHERE")]
        told = ("type", "title", "status", "detail", "code")
        assert [hidden[name] for name in told] == [missing[name] for name in told]
        assert hidden["code"] == "project_not_found"


async def test_a_membership_raises_the_role_in_an_open_project_and_never_lowers_it(
    admin: Caller, service: Service
) -> None:
    rita = Caller(service, await service.registered("rita@example.com", Role.REVIEWER))
    for role, effective in (("viewer", "reviewer"), ("admin", "admin")):
        await admin("PUT", f"/MAIN/members/{rita.identity.id}", {"role": role})
        assert ok(await rita("GET", "/MAIN"))["role"] == effective
    ok(await rita("PATCH", "/MAIN", {"name": "Ours"}))


async def test_a_projects_admin_changes_it_and_others_do_not(admin: Caller, kim: Caller) -> None:
    ok(await admin("POST", "", DOOR), 201)
    for role in ("viewer", "reviewer"):
        await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": role})
        problem(await kim("PATCH", "/DOOR", {"name": "Mine"}), 403, "role_too_low")
        problem(await kim("GET", "/DOOR/members"), 403, "role_too_low")
        problem(await kim("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "admin"}), 403, "role_too_low")
    await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "admin"})
    assert ok(await kim("PATCH", "/DOOR", {"name": " Mine "}))["name"] == "Mine"
    problem(await kim("PATCH", "/DOOR", {"name": "\u202e"}), 422, field="/name")
    problem(await kim("DELETE", "/DOOR?confirm=DOOR"), 403, "role_too_low")


async def test_the_last_admin_of_a_project_stays_one(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    kims = f"/DOOR/members/{kim.identity.id}"
    await admin("PUT", kims, {"role": "admin"})
    problem(await kim("PUT", kims, {"role": "viewer"}), 409, "last_project_admin")
    problem(await kim("DELETE", kims), 409, "last_project_admin")
    rita = Caller(service, await service.registered("rita@example.com"))
    ok(await kim("PUT", f"/DOOR/members/{rita.identity.id}", {"role": "admin"}), 201)
    # Both at once: one of them is the last by then.
    left = await asyncio.gather(kim("DELETE", kims), rita("DELETE", f"/DOOR/members/{rita.identity.id}"))
    assert sorted(answer.status_code for answer in left) == [204, 409]
    last = next(c for c, answer in zip((kim, rita), left, strict=True) if answer.status_code == 409)
    assert (await admin("DELETE", f"/DOOR/members/{last.identity.id}")).status_code == 204, "an admin of all may"


async def test_members_are_listed_by_name_and_found(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    people = [kim.identity.id, (await service.registered("zoe@example.com")).id]
    for person, role in zip(people, ("reviewer", "viewer"), strict=True):
        ok(await admin("PUT", f"/DOOR/members/{person}", {"role": role}), 201)
    listed = ok(await admin("GET", "/DOOR/members?sort=email"))
    assert [(row["email"], row["role"]) for row in listed["items"]] == [
        ("kim@example.com", "reviewer"),
        ("zoe@example.com", "viewer"),
    ]
    assert [row["user_id"] for row in ok(await admin("GET", "/DOOR/members?role=viewer"))["items"]] == people[1:]
    assert [row["user_id"] for row in ok(await admin("GET", "/DOOR/members?q=zoe"))["items"]] == people[1:]
    first = ok(await admin("GET", "/DOOR/members?limit=1"))
    second = ok(await admin("GET", f"/DOOR/members?limit=1&after={first['next_after']}"))
    assert {row["user_id"] for page in (first, second) for row in page["items"]} == set(people)
    problem(await admin("PUT", "/DOOR/members/4711", {"role": "viewer"}), 404, "user_not_found")


async def test_projects_are_listed_filtered_and_paged(admin: Caller) -> None:
    for key, visibility in (("ALPHA", "open"), ("BETA", "members"), ("GAMMA", "open")):
        ok(await admin("POST", "", {"key": key, "name": f"The {key.lower()}", "visibility": visibility}), 201)
    await admin("PATCH", "/GAMMA", {"archived": True})
    assert await admin.keys("?visibility=open") == ["ALPHA", "GAMMA", "MAIN"]
    assert await admin.keys("?archived=true") == ["GAMMA"]
    assert await admin.keys("?q=beta") == ["BETA"]
    assert await admin.keys("?sort=key:desc") == ["MAIN", "GAMMA", "BETA", "ALPHA"]
    for sort in ("key", "name:desc", "created_at"):
        seen: list[str] = []
        after = ""
        while len(seen) < 4:
            answered = ok(await admin("GET", f"?sort={sort}&limit=1{after}"))
            seen += [project["key"] for project in answered["items"]]
            after = f"&after={answered['next_after']}"
        assert seen == await admin.keys(f"?sort={sort}")


async def test_settings_change_one_by_one_and_null_is_the_default_again(admin: Caller, service: Service) -> None:
    gate = [{"rule": "max_failed", "limit": 0.0, "where": {"priority": ["critical"]}, "accepted": "allow"}]
    patterns = [{"name": "tc{number}", "external_id": "TC-{number}"}]
    properties = {"test_cases": ["test_case", "Ticket"], "requirements": None}
    lanes = [{"branch": "release/*", "lanes": ["ci/unit", "ci/e2e"]}]
    first = {
        "algorithm": "hybrid",
        "threshold": 0.0,
        "language": "de",
        "gate": gate,
        "name_patterns": patterns,
        "expected_lanes": lanes,
        "result_properties": properties,
    }
    await admin("PATCH", "/MAIN", {"settings": first})
    changed = ok(await admin("PATCH", "/MAIN", {"settings": {"algorithm": None, "automatic_suggestions": False}}))
    assert changed["settings"] == {
        "automatic_suggestions": False,
        "algorithm": None,
        "threshold": 0.0,
        "language": "de",
        "coverage_threshold": None,
        "gate": gate,
        "name_patterns": patterns,
        "expected_lanes": lanes,
        "result_properties": properties,
    }
    last = (await service.events("auth.project.updated"))[-1]["data"]
    assert last["project"]["settings"] == changed["settings"]
    assert last["changes"]["settings"]["before"]["algorithm"] == "hybrid"
    for settings in (
        {"threshold": 2},
        {"algorithm": "guess"},
        {"language": "xx"},
        {"colour": 1},
        {"gate": [{"rule": "No!"}]},
    ):
        problem(await admin("PATCH", "/MAIN", {"settings": settings}), 422, field="/settings")


@pytest.mark.parametrize(
    ("field", "pattern", "at"),
    [
        *[("name", pattern, at) for pattern, at in (("tc", 1), ("tc{nr}", 3), ("{number", 1), ("x}", 2))],
        *[("name", pattern, at) for pattern, at in (("{id}-{number}", 5), ("{number}{id}", 9), ("{letters}x", 10))],
        *[("name", pattern, at) for pattern, at in (("{id} {id}", 6), ("*t*c{number}", 3), ("(a+)+$", 1))],
        *[("external_id", made, at) for made, at in (("TC", 1), ("TC-{id}", 4), ("{number}{", 9))],
    ],
)
async def test_a_pattern_of_names_is_refused_with_its_place(admin: Caller, field: str, pattern: str, at: int) -> None:
    patterns = [{"name": "tc{number}", "external_id": "TC-{number}", field: pattern}]
    refused = await admin("PATCH", "/MAIN", {"settings": {"name_patterns": patterns}})
    found = problem(refused, 422, field=f"/settings/name_patterns/0/{field}")
    assert f"(character {at} of {field})" in str(found["errors"]), found["errors"]


async def test_fields_of_a_project_are_said_to_be_elsewhere(admin: Caller) -> None:
    refused = await admin("PATCH", "/MAIN", {"settings": {"fields": []}})
    assert "PUT /api/v1/projects/KEY/fields" in str(problem(refused, 422, field="/settings")["errors"])


@pytest.mark.parametrize(
    ("expected", "field", "said"),
    [
        ([{"branch": "main", "lanes": []}], "/0/lanes", "at least 1"),
        ([{"branch": " ", "lanes": ["ci"]}], "/0/branch", ""),
        ([{"branch": "main", "lanes": ["ci", "ci"]}], "/0/lanes", "the lane ci stands here twice"),
        ([{"branch": "main", "lanes": ["manual"]}], "/0/lanes", "what people execute"),
        ([{"branch": "main", "lanes": ["ci"]}] * 2, "", "the branch main stands here twice"),
        ([{"branch": "main", "lanes": ["ci"], "job": "x"}], "/0/job", ""),
    ],
)
async def test_expected_lanes_are_refused_with_the_reason(
    admin: Caller, expected: list[dict[str, Any]], field: str, said: str
) -> None:
    refused = await admin("PATCH", "/MAIN", {"settings": {"expected_lanes": expected}})
    assert said in str(problem(refused, 422, field=f"/settings/expected_lanes{field}")["errors"])


@pytest.mark.parametrize(
    ("names", "field", "said"),
    [
        (["jira", "Jira"], "", "stands here twice"),
        ([" "], "/0", ""),
        (["a:b"], "", "has a character"),
        (["x" * 101], "/0", ""),
        ([f"name {number}" for number in range(51)], "", "50"),
        ("jira", "", ""),
    ],
)
async def test_names_of_properties_are_refused_with_the_reason(
    admin: Caller, names: Any, field: str, said: str
) -> None:
    refused = await admin("PATCH", "/MAIN", {"settings": {"result_properties": {"requirements": names}}})
    found = problem(refused, 422, field=f"/settings/result_properties/requirements{field}")
    assert said in str(found["errors"])


async def test_a_change_asks_for_the_state_that_was_read(admin: Caller) -> None:
    read = await admin("GET", "/MAIN")
    changed = await admin("PATCH", "/MAIN", {"name": "Ours"}, if_match=read.headers["etag"])
    ok(changed)
    problem(await admin("PATCH", "/MAIN", {"name": "Mine"}, if_match=read.headers["etag"]), 412)
    assert (await admin("GET", "/MAIN", if_none_match=changed.headers["etag"])).status_code == 304
    member = f"/MAIN/members/{admin.identity.id}"
    problem(await admin("PUT", member, {"role": "viewer"}, if_match="*"), 412)
    made = await admin("PUT", member, {"role": "viewer"}, if_none_match="*")
    ok(made, 201)
    problem(await admin("PUT", member, {"role": "admin"}, if_none_match="*"), 412)
    ok(await admin("PUT", member, {"role": "reviewer"}, if_match=made.headers["etag"]))
    problem(await admin("DELETE", member, if_match=made.headers["etag"]), 412)


async def test_nothing_changes_in_the_archive_until_it_is_left(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    ok(await admin("PATCH", "/DOOR", {"archived": True, "name": "Old door"}))
    (event,) = await service.events("auth.project.archived")
    assert event["data"]["project"]["archived"]
    assert event["data"]["changes"].keys() == {"archived", "name"}
    ok(await admin("GET", "/DOOR/members"))
    ok(await admin("PATCH", "/DOOR", {"archived": False, "name": "New door"}))
    assert len(await service.events("auth.project.updated")) == 1


async def test_every_change_of_what_is_archived_is_refused(admin: Caller, kim: Caller, service: Service) -> None:
    """By every address of the document that changes a project; what ends a token, or the project, is none."""
    ok(await admin("POST", "", DOOR), 201)
    ok(await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "viewer"}), 201)
    account = ok(await admin("POST", "/DOOR/service-accounts", {"name": "ci"}), 201)
    ok(await admin("PATCH", "/DOOR", {"archived": True}))
    before = await service.events()
    bodies: dict[tuple[str, str], Json | None] = {
        ("patch", "/{key}"): {"name": "New door"},
        ("put", "/{key}/members/{user_id}"): {"role": "admin"},
        ("delete", "/{key}/members/{user_id}"): None,
        ("post", "/{key}/service-accounts"): {"name": "other"},
        ("delete", "/{key}/service-accounts/{user_id}"): None,
        ("post", "/{key}/service-accounts/{user_id}/tokens"): {"name": "nightly", "scopes": ["read"]},
    }
    passing = {
        ("delete", "/{key}"),
        ("post", "/{key}/restore"),
        ("delete", "/{key}/service-accounts/{user_id}/tokens/{token_id}"),
    }
    documented = {
        (method, path.removeprefix(PROJECTS))
        for path, item in service.app.openapi()["paths"].items()
        for method in item.keys() & {"post", "put", "patch", "delete"}
        if path.startswith(f"{PROJECTS}/{{key}}")
    }
    assert documented == bodies.keys() | passing
    for (method, path), body in bodies.items():
        user = account["id"] if "service-accounts" in path else kim.identity.id
        filled = path.format(key="DOOR", user_id=user)
        problem(await admin(method.upper(), filled, body), 409, "project_archived")
    assert await service.events() == before


async def test_only_what_is_archived_and_confirmed_is_deleted(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "admin"})
    problem(await admin("DELETE", "/DOOR?confirm=DOOR"), 409, "not_archived")
    await admin("PATCH", "/DOOR", {"archived": True})
    for query in ("", "?confirm=door", "?confirm="):
        problem(await admin("DELETE", f"/DOOR{query}"), 422, field="/query/confirm")
    problem(await admin("POST", "/DOOR/restore"), 409, "not_deleted")
    deleted = ok(await admin("DELETE", "/DOOR?confirm=DOOR"), 202)
    until = datetime.fromisoformat(deleted["restorable_until"])
    assert timedelta(days=7) - timedelta(minutes=1) < until - datetime.now(UTC) <= timedelta(days=7)
    (event,) = await service.events("auth.project.deletion_planned")
    assert (event["data"]["project"]["key"], event["actorid"]) == ("DOOR", admin.identity.id)
    assert event["data"]["until"] == deleted["restorable_until"]
    for caller in (admin, kim):
        problem(await caller("GET", "/DOOR"), 404, "project_not_found")
    problem(await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "viewer"}), 404, "project_not_found")
    problem(await admin("DELETE", "/DOOR?confirm=DOOR"), 404, "project_not_found")
    assert await admin.keys() == ["MAIN"]
    assert await service.events("auth.project.deleted") == []


async def deleted_door(admin: Caller, kim: Caller) -> None:
    """Delete the project DOOR, of which Kim is a member."""
    ok(await admin("POST", "", {**DOOR, "settings": {"threshold": 0.5}}), 201)
    ok(await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "reviewer"}), 201)
    ok(await admin("PATCH", "/DOOR", {"archived": True}))
    ok(await admin("DELETE", "/DOOR?confirm=DOOR"), 202)


async def test_a_deleted_project_is_listed_and_restored_by_admins_alone(
    admin: Caller, kim: Caller, service: Service
) -> None:
    await deleted_door(admin, kim)
    (listed,) = ok(await admin("GET", "?deleted=true"))["items"]
    assert (listed["key"], listed["name"], listed["restorable_until"] is None) == ("DOOR", "Door control", False)
    assert await admin.keys("?deleted=true&q=gate") == []
    problem(await kim("GET", "?deleted=true"), 403, "role_too_low")
    problem(await kim("POST", "/DOOR/restore"), 403, "role_too_low")
    problem(await admin("POST", "/NOWHERE/restore"), 404, "project_not_found")
    answered = await admin("POST", "/DOOR/restore")
    project = ok(answered)
    assert (project["archived"], project["restorable_until"], project["settings"]["threshold"]) == (True, None, 0.5)
    read = await admin("GET", "/DOOR")
    assert (read.json(), read.headers["etag"]) == (project, answered.headers["etag"])
    assert ok(await kim("GET", "/DOOR"))["role"] == "reviewer"
    assert await admin.keys("?deleted=true") == []
    (event,) = await service.events("auth.project.restored")
    assert event["actorid"] == admin.identity.id
    assert event["data"]["members"] == {str(kim.identity.id): "reviewer"}
    assert event["data"]["project"]["settings"]["threshold"] == 0.5
    problem(await admin("POST", "/DOOR/restore"), 409, "not_deleted")


async def test_a_deleted_project_is_gone_once_it_can_be_restored_no_more(
    admin: Caller, kim: Caller, service: Service
) -> None:
    await deleted_door(admin, kim)
    await finish_deletions(service.database)
    assert await admin.keys("?deleted=true") == ["DOOR"], "too early"
    async with as_owner(service.database) as connection:
        await connection.execute("UPDATE projects SET restorable_until = now() WHERE key = 'DOOR'")
    problem(await admin("POST", "/DOOR/restore"), 404, "project_not_found")
    for _ in range(2):
        await finish_deletions(service.database)
    (event,) = await service.events("auth.project.deleted")
    assert (event["data"]["project"]["name"], event["actor"]) == ("Door control", "system")
    assert await admin.keys("?deleted=true") == []
    problem(await admin("POST", "/DOOR/restore"), 404, "project_not_found")
    problem(await admin("POST", "", DOOR), 409, "key_used")
    assert await service.rows("SELECT name FROM projects WHERE key = 'DOOR'") == [{"name": ""}]
    assert await service.rows("SELECT FROM project_members WHERE project_key = 'DOOR'") == []


async def test_a_setting_says_for_how_long_a_project_can_be_restored(url: str) -> None:
    async with running(settings_of(url, project_restore_days=0)) as service:
        admin = Caller(service, await service.admin())
        await deleted_door(admin, Caller(service, await service.registered("kim@example.com")))
        problem(await admin("POST", "/DOOR/restore"), 404, "project_not_found")
        await finish_deletions(service.database)
        assert len(await service.events("auth.project.deleted")) == 1


async def test_one_restore_and_one_end_at_once_are_one_of_the_two(admin: Caller, kim: Caller, service: Service) -> None:
    await deleted_door(admin, kim)
    answers = await asyncio.gather(
        *(admin("POST", "/DOOR/restore") for _ in range(5)), finish_deletions(service.database)
    )
    assert sorted(answer.status_code for answer in answers if answer is not None) == [200, 409, 409, 409, 409]
    assert len(await service.events("auth.project.restored")) == 1


async def test_the_demo_is_removed_by_one_call(admin: Caller) -> None:
    ok(await admin("POST", "", {"key": "DEMO", "name": "Demo"}), 201)
    ok(await admin("DELETE", "/DEMO?confirm=DEMO"), 202)


async def test_main_cannot_be_deleted(admin: Caller) -> None:
    await admin("PATCH", "/MAIN", {"archived": True})
    problem(await admin("DELETE", "/MAIN?confirm=MAIN"), 409, "main_project")


async def test_the_gateway_reads_who_may_enter_which_project(admin: Caller, kim: Caller, service: Service) -> None:
    ok(await admin("POST", "", DOOR), 201)
    await admin("PUT", f"/DOOR/members/{kim.identity.id}", {"role": "reviewer"})
    ok(await admin("POST", "", {**DOOR, "key": "GONE"}), 201)
    await admin("PATCH", "/GONE", {"archived": True})
    await admin("DELETE", "/GONE?confirm=GONE")
    told = ok(await service.call("GET", "/internal/projects", caller=Identity(None, "gateway", None)))
    assert sorted(told["projects"], key=lambda project: str(project["key"])) == [
        {"key": "DOOR", "visibility": "members", "archived": False, "members": {str(kim.identity.id): "reviewer"}},
        {"key": "MAIN", "visibility": "open", "archived": False, "members": {}},
    ]
    problem(await service.call("GET", "/internal/projects", caller=admin.identity), 403)

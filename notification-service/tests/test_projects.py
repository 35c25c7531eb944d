"""Projects: nothing crosses from one into another, and people are told of those alone that they may see."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from chassis.core import projects
from chassis.core.identity import Identity, Role
from chassis.core.projects import MAIN, NONE
from chassis.messaging.events import Actor
from chassis.messaging.payloads import Payload
from contracts import auth, catalog, suggestion
from contracts.projects import ProjectSettings, ProjectState
from notification_service.notifications import remove_deleted_projects
from testing import factories
from testing.service import Json, ServiceClient, ok, problem

if TYPE_CHECKING:
    from conftest import World

CLEO = Actor(3, "cleo@example.com")


def project(key: str, visibility: str = "open") -> ProjectState:
    return ProjectState(
        key=key,
        name=key.title(),
        description="",
        visibility=visibility,
        archived=False,
        settings=ProjectSettings(),
    )


class Projects:
    """Tells what happens in projects, and asks in one of them, or in none."""

    def __init__(self, world: "World") -> None:
        self.world = world

    async def tell(self, key: str, *payloads: Payload, by: Actor | None = None, **how: Any) -> None:
        with projects.within(key):
            events = [self.world.envelope(payload, by or self.world.ana, **how) for payload in payloads]
        await self.world.inbox.receive(events)
        assert await self.world.rows("SELECT error FROM inbox_failures") == []

    def of(self, key: str, who: Actor | None = None, role: Role = Role.ADMIN) -> ServiceClient:
        caller = who or self.world.ana
        return self.world.client(Identity(caller.id, caller.email, role, project=key))

    async def requirement(self, key: str, **how: Any) -> catalog.RequirementState:
        made = factories.requirement()
        await self.tell(key, catalog.RequirementCreated(requirement=made), **how)
        return made


@pytest.fixture
async def two(world_of_projects: "World") -> Projects:
    """MAIN, and the open project DOOR."""
    told = Projects(world_of_projects)
    await told.tell(NONE, auth.ProjectCreated(project=project("DOOR")), by=told.world.system)
    return told


async def test_a_project_sees_its_own_activity_and_audit_log(two: Projects) -> None:
    here, there = await two.requirement(MAIN), await two.requirement("DOOR")
    for path in ("/activity", "/audit-log"):
        for key, own, other in ((MAIN, here, there), ("DOOR", there, here)):
            client = two.of(key)
            entries = (await client.read(path, resource_type="requirement"))["items"]
            assert [entry["resource_id"] for entry in entries] == [str(own.id)]
            found = await client.read(path, resource_id=str(other.id))
            assert (found["items"], found["total"]) == ([], 0)
            [entry] = entries
            elsewhere = two.of("DOOR" if key == MAIN else MAIN)
            assert (await elsewhere.read(path, ids=str(entry["id"])))["items"] == []
    assert (await two.of("DOOR").read("/audit-log"))["total"] == 1


async def test_what_is_of_the_installation_is_for_its_admins_alone(two: Projects) -> None:
    here = await two.requirement(MAIN)
    member = {"user_id": 3, "email": CLEO.email, "role": "reviewer", "before": None}
    await two.tell(NONE, auth.TokenEnded(user_id=1, token_id="t1", expires_at=datetime.now(UTC)), by=CLEO)
    await two.tell(NONE, auth.MemberChanged(project="DOOR", **member), auth.MemberChanged(project=MAIN, **member))
    ana = two.world.ana
    everything = {"project.created", "requirement.created", "user.logged_out", "project.member_changed"}
    for account, seen in ((Role.ADMIN, everything), (Role.REVIEWER, {"requirement.created", "project.member_changed"})):
        client = two.world.client(Identity(ana.id, ana.email, Role.ADMIN, project=MAIN, account_role=account))
        found = await client.read("/audit-log")
        assert {entry["action"] for entry in found["items"]} == seen
        assert found["total"] == len(found["items"])
    assert [entry["resource_id"] for entry in found["items"]] == [MAIN, str(here.id)]
    id_ = (await two.of(MAIN).read("/audit-log", action="user.logged_out"))["items"][0]["id"]
    assert (await client.read("/audit-log", ids=str(id_)))["items"] == []


async def test_notifications_are_over_all_projects_unless_one_is_named(two: Projects) -> None:
    await two.requirement(MAIN)
    await two.requirement("DOOR")
    everywhere = two.of(NONE)
    listed = await everywhere.read("/notifications")
    assert ([one["project"] for one in listed["items"]], listed["unread_count"]) == (["DOOR", MAIN], 2)
    assert (await everywhere.read("/notifications/unread-count"))["unread_count"] == 2
    for key in (MAIN, "DOOR"):
        client = two.of(key)
        listed = await client.read("/notifications")
        assert ([one["project"] for one in listed["items"]], listed["total"], listed["unread_count"]) == ([key], 1, 1)
        assert (await client.read("/notifications/unread-count"))["unread_count"] == 1
    assert ok(await two.of("DOOR").post("/notifications/mark-all-read"))["marked"] == 1
    assert (await everywhere.read("/notifications/unread-count"))["unread_count"] == 1
    assert ok(await everywhere.post("/notifications/mark-all-read"))["marked"] == 1


async def test_a_notification_of_another_project_is_none(two: Projects) -> None:
    await two.requirement(MAIN)
    [mine] = (await two.of(MAIN).read("/notifications"))["items"]
    elsewhere, path = two.of("DOOR"), f"/notifications/{mine['id']}"
    for answer in (
        await elsewhere.get(path),
        await elsewhere.post(f"{path}/read"),
        await elsewhere.delete(path),
    ):
        problem(answer, 404, "notification_not_found")
    assert (await elsewhere.read("/notifications", ids=str(mine["id"])))["items"] == []
    assert (await two.of(NONE).read(path))["read"] is False
    assert ok(await two.of(NONE).post(f"{path}/read"))["read"] is True
    assert (await two.of(NONE).delete(path)).status_code == 204
    problem(await two.of(MAIN).get(path), 404, "notification_not_found")


async def everything_of(client: ServiceClient) -> list[Json]:
    items: list[Json] = (await client.read("/notifications"))["items"]
    return items


async def test_who_is_no_member_any_more_is_not_told_of_the_project(two: Projects) -> None:
    ana = two.world.ana
    await two.world.tell_users([factories.user(ana, "viewer")])
    await two.tell(NONE, auth.ProjectUpdated(project=project("DOOR", "members"), changes={}))
    member = {"project": "DOOR", "user_id": ana.id, "email": ana.email}
    await two.tell(NONE, auth.MemberChanged(**member, role="reviewer", before=None))
    await two.requirement("DOOR")
    [seen] = await everything_of(two.of(NONE))
    await two.tell(NONE, auth.MemberRemoved(**member, before="reviewer"))
    assert await everything_of(two.of(NONE)) == []
    assert (await two.of(NONE).read("/notifications/unread-count"))["unread_count"] == 0
    problem(await two.of(NONE).get(f"/notifications/{seen['id']}"), 404)
    problem(await two.of(NONE).post(f"/notifications/{seen['id']}/read"), 404)
    assert ok(await two.of(NONE).post("/notifications/mark-all-read"))["marked"] == 0
    problem(await two.of(NONE).delete(f"/notifications/{seen['id']}"), 404)
    await two.world.tell(auth.UserUpdated(user=factories.user(ana, "admin"), changes={}))
    assert len(await everything_of(two.of(NONE))) == 1


async def test_reviewers_are_those_of_the_project(two: Projects) -> None:
    ana, ben = two.world.ana, two.world.ben
    users = [factories.user(ana, "admin"), factories.user(ben, "reviewer"), factories.user(CLEO, "viewer")]
    await two.world.tell_users(users)
    await two.tell(NONE, auth.ProjectCreated(project=project("VAULT", "members")))
    member = auth.MemberChanged(project="VAULT", user_id=3, email=CLEO.email, role="reviewer", before=None)
    await two.tell(NONE, member)
    for key in ("DOOR", "VAULT", "NOWHERE"):
        await two.tell(key, factories.coverage_dropped(), by=two.world.system)
    told = await two.world.rows("SELECT project_id, user_id FROM notifications ORDER BY project_id, user_id")
    assert [tuple(row.values()) for row in told] == [("DOOR", 1), ("DOOR", 2), ("VAULT", 1), ("VAULT", 3)]


async def test_one_request_id_in_two_projects_is_two_requests(two: Projects) -> None:
    for key in (MAIN, "DOOR"):
        await two.tell(key, factories.item_suggestions_generated(), request_id="same")
    assert [one["project"] for one in await everything_of(two.of(NONE))] == ["DOOR", MAIN]
    assert len(await two.world.rows("SELECT DISTINCT event_id FROM notifications")) == 2


async def test_of_a_deleted_project_nobody_sees_anything_until_it_is_restored(two: Projects) -> None:
    everywhere = two.of(NONE)
    await two.requirement("DOOR")
    until = datetime(2026, 12, 4, 8, 15, 30, tzinfo=UTC)
    planned = auth.ProjectDeletionPlanned(project=project("DOOR"), until=until)
    await two.tell(NONE, planned)
    await two.requirement("DOOR")  # was on its way
    assert await everything_of(everywhere) == []
    assert (await everywhere.read("/notifications/unread-count"))["unread_count"] == 0
    await remove_deleted_projects(two.world.database)
    await two.tell(NONE, auth.ProjectRestored(project=project("DOOR"), members={}))
    assert [one["project"] for one in await everything_of(everywhere)] == ["DOOR", "DOOR"]
    told = {
        entry["action"]: entry for entry in (await two.of(MAIN).read("/audit-log", resource_type="project"))["items"]
    }
    deleted, restored = told["project.deletion_planned"], told["project.restored"]
    assert deleted["changes"] == {"restorable_until": {"before": None, "after": "2026-12-04T08:15:30Z"}}
    assert restored["changes"] == {}
    assert deleted["summary"].endswith(
        "deleted the project DOOR, “Door”; it can be restored until 2026-12-04 08:15 UTC."
    )
    assert restored["summary"].endswith("restored the project DOOR, “Door”.")


async def test_a_project_that_is_deleted_leaves_who_did_so_and_nothing_else(two: Projects) -> None:
    await two.requirement(MAIN)
    await two.requirement("DOOR")
    await two.tell(NONE, auth.ProjectDeleted(project=project("DOOR")))
    # By another feed: it comes when it likes.
    await two.requirement("DOOR")
    assert [one["project"] for one in await everything_of(two.of(NONE))] == [MAIN]
    await remove_deleted_projects(two.world.database)
    for table in ("notifications", "notification_counts", "audit_entries", "audit_entry_counts", "stream_events"):
        assert await two.world.rows(f"SELECT project_id FROM {table} WHERE project_id <> 'MAIN'") == []
    [entry] = (await two.of(MAIN).read("/audit-log", action="project.deleted"))["items"]
    assert (entry["resource_id"], entry["actor"]) == ("DOOR", two.world.ana.email)
    await two.tell(NONE, auth.ProjectUpdated(project=project("DOOR"), changes={}))
    await two.requirement("DOOR")
    assert [one["project"] for one in await everything_of(two.of(NONE))] == [MAIN]


async def test_who_follows_a_project_is_told_of_nothing_else(two: Projects) -> None:
    stream = two.world.app.state.stream
    here = stream.follow(two.world.ana.id, MAIN, None)
    there = stream.follow(two.world.ana.id, "DOOR", None)
    begins = [await anext(here), await anext(there)]
    assert all(b'"unread_count":0' in text for text in begins)
    made = await two.requirement("DOOR")
    run = factories.run_finished()
    await two.tell(MAIN, run, by=two.world.system)
    told = {"here": b"", "there": b""}
    while str(run.run_id).encode() not in told["here"]:
        told["here"] += await anext(here)
    while str(made.id).encode() not in told["there"]:
        told["there"] += await anext(there)
    assert str(made.id).encode() not in told["here"]
    assert str(run.run_id).encode() not in told["there"]
    # From before what the process keeps: from the table.
    again = stream.follow(two.world.ana.id, "DOOR", 1)
    assert isinstance(run, suggestion.RunFinished)
    assert str(run.run_id).encode() not in await anext(again)
    for following in (here, there, again):
        await following.aclose()


async def test_a_stream_counts_over_all_projects_or_in_one(two: Projects) -> None:
    await two.requirement(MAIN)
    await two.requirement("DOOR")
    stream, ana = two.world.app.state.stream, two.world.ana.id
    everywhere, in_door = stream.follow(ana, "DOOR", None), stream.follow(ana, "DOOR", None, "DOOR")
    assert b'"unread_count":2' in await anext(everywhere)
    assert b'"unread_count":1' in await anext(in_door)
    await two.requirement(MAIN)
    told = b""
    while b'"unread_count":3' not in told:
        told += await anext(everywhere)
    ok(await two.of("DOOR").post("/notifications/mark-all-read"))
    told = b""
    while b'"unread_count":0' not in told:
        told += await anext(in_door)
    assert b'"unread_count":3' not in told
    for following in (everywhere, in_door):
        await following.aclose()


async def test_who_is_in_no_project_sees_no_activity(two: Projects) -> None:
    await two.requirement(MAIN)
    assert (await two.of(NONE).read("/activity"))["items"] == []
    assert (await two.of(NONE).read("/audit-log"))["total"] == 0

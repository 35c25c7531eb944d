"""Imports of a project that is archived while they are under way."""

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from catalog_service.handlers import HANDLERS
from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE, within
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts import auth
from contracts.projects import ProjectSettings, ProjectState
from testing.service import ok, problem

from .conftest import Imports

ROOT = Identity(id=1, email="root@example.test", role=Role.ADMIN)


_places = itertools.count(1)


class Project:
    """A project with its imports, which can be archived."""

    def __init__(self, catalog: Any) -> None:
        self.key = f"OLD{next(_places)}"
        self._inbox = Inbox("catalog", catalog.database, HANDLERS)
        self.imports = Imports(catalog.being(replace(ROOT, project=self.key)))

    async def archive(self, *, archived: bool = True) -> None:
        """Have auth-service tell that the project is archived, or out of the archive again."""
        state = ProjectState(
            key=self.key,
            name=self.key,
            description="",
            visibility="open",
            archived=archived,
            settings=ProjectSettings(),
        )
        payload = (auth.ProjectArchived if archived else auth.ProjectUpdated)(project=state, changes={})
        await self._inbox.receive(
            [sequenced(next(_places), NewEvent(payload, self.key, SYSTEM, project=NONE).envelope())]
        )

    async def events(self, job: Any) -> list[Any]:
        return [event for event in await self.imports.catalog.events() if event.get("batchid") == job["id"]]


@pytest.fixture
def project(imports: Any) -> Project:
    return Project(imports.catalog)


async def test_nothing_of_a_file_that_comes_as_its_project_is_archived_is_applied(project: Project) -> None:
    imports = project.imports
    await project.archive()
    refused = problem(await imports.send(imports.requirement(), apply="always"), 409, "project_archived")
    job = await imports.catalog.read(f"/imports/{refused['import_id']}")
    assert (job["status"], job["error"]["code"]) == ("failed", "project_archived")
    assert (await imports.catalog.read("/requirements"))["total"] == 0
    assert await project.events(job) == []


async def test_what_was_planned_is_applied_once_the_project_is_out_of_the_archive(project: Project) -> None:
    imports = project.imports
    await project.archive()
    job = await imports.plan(imports.requirement())
    await project.archive(archived=False)
    assert (await imports.apply(job))["counts"]["requirements"]["create"] == 1


@pytest.mark.parametrize("atomic", [True, False])
async def test_an_import_that_is_being_applied_ends_when_its_project_is_archived(
    project: Project, atomic: bool
) -> None:
    imports, database = project.imports, project.imports.catalog.database
    held = imports.requirement()
    await imports.load(held)
    job = await imports.plan({**held, "title": "Doors open"}, *(imports.requirement() for _ in range(900)))
    async with asyncio.TaskGroup() as group:
        with within(project.key):
            async with database.transaction() as connection:
                await connection.execute("SELECT FROM requirements FOR UPDATE")
                asked = {"atomic": atomic}
                answer = group.create_task(imports.catalog.post(f"/imports/{job['id']}/apply", asked))
                await waits_for(connection)
                await project.archive()
    problem(answer.result(), 409, "project_archived")
    over = await imports.catalog.read(f"/imports/{job['id']}")
    assert over["status"] == "failed"
    events = [event["type"] for event in await project.events(job)]
    left = await imports.catalog.rows("SELECT FROM import_rows WHERE job_id = %s AND code = 'not_applied'", job["id"])
    if atomic:
        assert (events, len(left), over["counts"]) == ([], 0, job["counts"])
    else:
        assert events == ["catalog.requirement.updated", "catalog.import.applied"]
        assert len(left) == over["counts"]["requirements"]["conflict"] == 900
        assert "1 of its 901 changes are in the record" in over["error"]["detail"]
    (item,) = (await imports.catalog.read("/requirements"))["items"]
    assert item["title"] == (held["title"] if atomic else "Doors open")
    assert ok(await imports.catalog.get("/imports"))["items"][0]["status"] == "failed"


async def waits_for(connection: Any) -> None:
    """Return once another connection waits for what this one holds."""
    while True:
        cursor = await connection.execute(
            "SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        if cursor.rowcount:
            return
        await asyncio.sleep(0.02)

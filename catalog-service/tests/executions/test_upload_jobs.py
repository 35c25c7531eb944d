"""Uploads that are answered with 202 and go on."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from fastapi import Response

from catalog_service.executions import jobs, upload
from catalog_service.executions.jobs import Upload
from catalog_service.handlers import HANDLERS
from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts import auth
from contracts.projects import ProjectSettings, ProjectState
from testing.service import Json, ok, problem

from .conftest import Results, junit

AT_ONCE = {"prefer": "respond-async"}


async def ended(results: Results, path: str) -> Json:
    """Return a job once it has ended."""
    for _ in range(200):
        job: Json = await results.catalog.read(path)
        if job["status"] != "running":
            return job
        await asyncio.sleep(0.05)
    raise AssertionError("the job does not end")


@pytest.mark.parametrize("asked", [True, False])
async def test_what_goes_on_ends_as_its_answer_would_be(
    results: Results, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not asked:
        monkeypatch.setattr(jobs, "_WAIT", 0)
    requirement, (test_case,) = await results.traced()
    content = junit((f"[{test_case['external_id']}] works", "passed"))
    response = await results.post(content, AT_ONCE if asked else None, run="r")
    assert response.status_code == 202
    job = await ended(results, response.headers["location"].removeprefix("/api/v1"))
    assert (job["status"], job["error"]) == ("completed", None)
    monkeypatch.undo()
    again = ok(await results.post(content, run="r"))
    assert job["results"].keys() == again.keys()
    assert (job["results"]["run"]["id"], again["duplicate"]) == (again["run"]["id"], True)
    assert (job["results"]["tests"], job["results"]["matched"]) == (1, 1)
    assert (await results.verdict(requirement))["verdict"] == "passed"


async def test_why_nothing_was_stored_is_in_the_job(results: Results) -> None:
    response = await results.post(b"<testsuite>\n<testcase</testsuite>", AT_ONCE, run="damaged")
    job = await ended(results, f"/test-results/{response.json()['id']}")
    assert (job["status"], job["results"]) == ("failed", None)
    assert (job["error"]["code"], job["error"]["status"], job["error"]["line"]) == ("unreadable_file", 422, 2)
    assert (await results.catalog.read("/test-runs", key="damaged"))["total"] == 0


async def test_nothing_is_stored_in_a_project_that_is_archived_meanwhile(catalog: Any) -> None:
    results = Results(catalog.being(Identity(id=2, email="rita@example.test", role=Role.REVIEWER, project="OLDRUNS")))
    state = ProjectState(
        key="OLDRUNS", name="Old", description="", visibility="open", archived=True, settings=ProjectSettings()
    )
    told = NewEvent(auth.ProjectArchived(project=state, changes={}), state.key, SYSTEM, project=NONE)
    await Inbox("catalog", catalog.database, HANDLERS).receive([sequenced(1, told.envelope())])
    problem(await results.post(junit(("a", "passed")), run="r"), 409, "project_archived")
    job = await ended(results, f"/test-results/{(await results.post(junit(('a', 'passed')), AT_ONCE)).json()['id']}")
    assert (job["status"], job["error"]["code"]) == ("failed", "project_archived")
    assert (await results.catalog.read("/test-runs"))["total"] == 0


async def test_what_outlives_its_lease_is_not_stored(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stops, or cannot reach the database for long, is told of as that."""
    held, store = asyncio.Event(), upload.store

    async def late(*given: object, **named: object) -> Json:
        await held.wait()
        stored: Json = await store(*given, **named)  # type: ignore[arg-type]
        return stored

    monkeypatch.setattr(upload, "store", late)
    response = await results.post(junit(("a", "passed")), AT_ONCE, run="late")
    job_id = response.json()["id"]
    async with results.catalog.database.transaction() as connection:
        await connection.execute("UPDATE result_jobs SET claimed_until = now() WHERE id = %s", (job_id,))
    job = await results.catalog.read(f"/test-results/{job_id}")
    assert (job["status"], job["error"]["code"]) == ("failed", "interrupted")
    held.set()
    await asyncio.gather(*jobs._followed)
    assert await results.catalog.read(f"/test-results/{job_id}") == job
    assert (await results.catalog.read("/test-runs", key="late"))["total"] == 0


async def test_what_is_about_to_be_stored_becomes_no_job(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_WAIT", 0.3)
    sending = Upload(results.catalog.database)

    async def store() -> Response:
        async with results.catalog.database.transaction() as connection:
            await sending.stored(connection, {"run": {"id": UUID(int=1)}})
            await asyncio.sleep(0.6)
        return Response("stored")

    response = await sending.answered(store, at_once=False)
    assert response is not None
    assert response.body == b"stored"
    problem(await results.catalog.get(f"/test-results/{sending.id}"), 404)


async def test_an_upload_whose_run_is_deleted_is_404(results: Results) -> None:
    response = await results.post(junit(("a", "passed")), AT_ONCE)
    job = await ended(results, f"/test-results/{response.json()['id']}")
    admin = results.catalog.being(Identity(id=3, email="admin@example.test", role=Role.ADMIN))
    assert (await admin.delete(f"/test-runs/{job['results']['run']['id']}")).status_code == 204
    assert problem(await results.catalog.get(f"/test-results/{job['id']}"), 404)["code"] == "upload_not_found"


async def test_no_process_takes_any_number_of_jobs(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_MOST", 0)
    refused = await results.post(junit(("a", "passed")), AT_ONCE)
    assert problem(refused, 429)["code"] == "too_many_uploads"


async def test_an_upload_that_is_not_there_is_404(results: Results) -> None:
    answer = await results.catalog.get(f"/test-results/{UUID(int=1)}")
    assert problem(answer, 404)["code"] == "upload_not_found"

"""Nothing of a project is read, counted or changed from another one."""

import asyncio
import dataclasses
import re
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing import PostgresServer
from testing.isolation import checksums, unwalled_tables
from testing.service import Json, ok

OF_THE_INSTALLATION = {
    "alembic_version": "the schema",
    "feed_head": "a place in the feed of all projects",
    "relay_position": "a place in the feed of all projects",
    "feed_consumers": "places in the feed of all projects",
    "feed_latest": "hashes, and places in the feed of all projects",
    "feed_pruning": "a place in the feed of all projects",
    "inbox": "ids of events",
    "inbox_positions": "places in the feeds of other services",
    "search_documents_due": "work that a migration leaves for all items",
}

HERE = Identity(id=1, email="reviewer@example.test", role=Role.ADMIN)
ELSEWHERE = dataclasses.replace(HERE, project="OTHER")
MAPPING = {"version": 1, "format": "csv", "kind": "requirements", "fields": {"title": {"column": "Name"}}}
MARK = "ofmain"
"""Stands in everything that project MAIN has, and nowhere else."""


def test_every_table_with_data_of_projects_has_its_walls(postgres: PostgresServer) -> None:
    assert unwalled_tables(postgres.database("catalog_service")) == OF_THE_INSTALLATION.keys()


@pytest.fixture(scope="module")
async def ids(catalog: Any) -> dict[str, Any]:
    """The ids of what project MAIN has, by the names of the parameters that take them."""
    here = catalog.being(HERE)
    words = {"module": MARK, "tags": [MARK], "source_system": MARK}
    requirement = await here.requirement(external_id=f"{MARK}-R", title=f"Door {MARK}", **words)
    test_case = await here.test_case(external_id=f"{MARK}-T", title=f"Door test {MARK}", **words)
    link = await here.link(requirement, test_case, notes=MARK)
    await here.link(await here.requirement(title=MARK), test_case)
    mapping = ok(await here.post("/imports/mappings", {"name": MARK, "mapping": MAPPING}), 201)
    line = b'{"kind": "requirement", "title": "%b", "description": "d", "type": "functional", "priority": "low"}'
    sent = await here.request(
        "POST",
        "/imports",
        content=line % MARK.encode(),
        headers={"content-type": "application/x-ndjson", "prefer": "respond-async"},
        params={"file_name": MARK},
    )
    case = f'<testcase classname="{MARK}" name="{MARK}-T"><failure message="{MARK}"/></testcase>'
    report = f'<testsuite name="{MARK}">{case}</testsuite>'
    rules = {"rules": [{"rule": "max_failed", "limit": 0, "where": {"module": [MARK]}}]}
    ok(await here.put(f"/reports/gate/policies/{MARK}", rules), 201)
    upload = await here.request(
        "POST",
        "/test-results",
        content=report.encode(),
        headers={"content-type": "application/xml", "prefer": "respond-async"},
        params={"run": MARK, "name": MARK, "branch": MARK, "commit": MARK},
    )
    stored = ok(upload, 202)
    async with asyncio.timeout(30):
        while stored["status"] == "running":
            await asyncio.sleep(0.05)
            stored = await here.read(f"/test-results/{stored['id']}")
    return {
        "upload_id": stored["id"],
        "run_id": stored["results"]["run"]["id"],
        "name": MARK,
        "test_id": (await here.read("/automated-tests"))["items"][0]["id"],
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "link_id": link["id"],
        "mapping_id": mapping["id"],
        "import_id": ok(sent, 202)["id"],
        "external_id": f"{MARK}-R",
        "version": 1,
        "from_version": 1,
        "to_version": 1,
    }


def paths(app: Any, methods: set[str]) -> list[tuple[str, str]]:
    """Return (method, path below /api/v1) of the public routes."""
    return [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, operations in app.openapi()["paths"].items()
        for method in operations
        if method.upper() in methods
    ]


def filled(path: str, ids: dict[str, Any]) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda name: str(ids[name[1]]), path)


async def test_no_route_tells_of_another_project(catalog: Any, ids: dict[str, Any]) -> None:
    elsewhere, told = catalog.being(ELSEWHERE), []
    for _, path in paths(catalog.app, {"GET"}):
        by_filter = {} if "{" in path else {"q": MARK} if path == "/search" else {}
        answer = await elsewhere.get(filled(path, ids), **by_filter)
        assert answer.status_code < 500, (path, answer.text)
        if "{" in path:
            assert answer.status_code in {400, 404, 422}, (path, answer.text)
        # A problem repeats what was asked for.
        if answer.status_code < 400 and MARK in answer.text:
            told.append(path)
        if answer.status_code == 200 and answer.headers["content-type"] == "application/json":
            assert answer.json().get("total", 0) == 0 if isinstance(answer.json(), dict) else True, (path, answer.text)
    assert told == []


def bodies(ids: dict[str, Any]) -> dict[str, Any]:
    """What the routes that take ids in their body are sent, by path."""
    pair = {name: ids[name] for name in ("requirement_id", "test_case_id")}
    words = {"title": "Changed", "description": "d", "type": "functional", "priority": "low"}
    return {
        "/links": pair,
        "/links/bulk": {"links": [pair]},
        "/requirements/bulk-update": {"ids": [ids["requirement_id"]], "set": {"priority": "low"}},
        "/test-cases/bulk-update": {"ids": [ids["test_case_id"]], "set": {"priority": "low"}},
        "/requirements/by-external-id/{external_id}": words,
        "/imports/{import_id}/apply": {},
        "/imports/mappings/{mapping_id}": {"name": "mine", "mapping": MAPPING},
    }


async def test_no_route_changes_another_project(catalog: Any, ids: dict[str, Any]) -> None:
    elsewhere, before = catalog.being(ELSEWHERE), await checksums(catalog.database, "MAIN")
    assert sum(before.values()) != 0
    for method, path in paths(catalog.app, {"POST", "PUT", "PATCH", "DELETE"}):
        body = bodies(ids).get(path, {"title": "Changed"})
        # Nobody plans an import here, so nothing is to be waited for.
        asked = {"Prefer": "respond-async"}
        answer = await elsewhere.request(method, filled(path, ids), json=body, headers=asked)
        assert answer.status_code < 500, (method, path, answer.text)
        if "{" in path and "external-id" not in path:
            assert answer.status_code in {404, 405, 415, 422}, (method, path, answer.text)
    assert await checksums(catalog.database, "MAIN") == before


async def test_the_same_external_id_and_name_may_be_in_each_project(catalog: Any, ids: dict[str, Any]) -> None:
    elsewhere = catalog.being(dataclasses.replace(HERE, project="THIRD"))
    await elsewhere.requirement(external_id=ids["external_id"], title="mine")
    ok(await elsewhere.post("/imports/mappings", {"name": MARK, "mapping": MAPPING}), 201)
    listed: Json = await elsewhere.read("/requirements")
    assert [item["title"] for item in listed["items"]] == ["mine"]
    assert listed["total"] == 1


async def test_the_same_idempotency_key_is_another_one_in_each_project(catalog: Any) -> None:
    words = catalog.item(title="once")
    made = []
    for project in ("FIRST", "SECOND"):
        there = catalog.being(dataclasses.replace(HERE, project=project))
        made += [ok(await there.post("/requirements", words, idempotency_key="1"), 201)["id"] for _ in range(2)]
    assert made[0] == made[1] != made[2] == made[3]

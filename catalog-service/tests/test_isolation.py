"""Nothing of a project is read, counted or changed from another one."""

import asyncio
import dataclasses
import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from chassis.core.identity import Identity, Role
from chassis.core.projects import within
from testing.isolation import checksums
from testing.service import Json, ok

HERE = Identity(id=1, email="reviewer@example.test", role=Role.ADMIN)
ELSEWHERE = dataclasses.replace(HERE, project="OTHER")
MAPPING = {"version": 1, "format": "csv", "kind": "requirements", "fields": {"title": {"column": "Name"}}}
MARK = "ofmain"
"""Stands in everything that project MAIN has, and nowhere else."""


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
    defined = {"key": "mark", "name": MARK, "of": ["requirement"], "kind": "text"}
    ok(await here.put("/fields", {"fields": [defined]}))
    upload = await here.request(
        "POST",
        "/test-results",
        content=report.encode(),
        headers={"content-type": "application/xml", "prefer": "respond-async"},
        params={"run": MARK, "name": MARK, "branch": MARK, "commit": MARK},
    )
    stored = ok(upload, 202)
    async with asyncio.timeout(120):
        while stored["status"] == "running":
            await asyncio.sleep(0.05)
            stored = await here.read(f"/test-results/{stored['id']}")
    (test,) = (await here.read("/automated-tests"))["items"]
    parent = ok(await here.post("/requirements", here.item()), 201)
    relation = await here.relation(requirement, parent, notes=MARK)
    reference_id = uuid4()
    with within(HERE.project):
        async with catalog.database.statement() as connection:
            await connection.execute(
                "INSERT INTO waiting_references (id, kind, owner_kind, owner_id, wanted_kind, key, notes, since)"
                " VALUES (%s, 'link', 'requirement', %s, 'test_case', 'later', %s, now())",
                (reference_id, requirement["id"], MARK),
            )
    accepted = {"automated_test_id": test["id"], "reason": MARK, "until": str(datetime.now(UTC).date())}
    return {
        "accepted_failure_id": ok(await here.post("/accepted-failures", accepted), 201)["id"],
        "upload_id": stored["id"],
        "run_id": stored["results"]["run"]["id"],
        "name": MARK,
        "test_id": test["id"],
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "link_id": link["id"],
        "parent_id": parent["id"],
        "relation_id": relation["id"],
        "reference_id": reference_id,
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


def bodies(ids: dict[str, Any], own_test: int) -> dict[str, list[Any]]:
    """What the routes that take ids in their body are sent, by path."""
    requirement_id, test_case_id, link_id = (ids[name] for name in ("requirement_id", "test_case_id", "link_id"))
    relation_id = ids["relation_id"]
    every: dict[str, Any] = {"filter": {"updated_since": "1970-01-01"}}
    change = {"patch": {"priority": "low"}}
    here = {"section": [], "position": "1", "from_position": "1"}
    return {
        "/links": [{"requirement_id": requirement_id, "test_case_id": test_case_id}],
        "/links/bulk": [
            {"ids": [link_id], "delete": True},
            {"filter": {"requirement_id": requirement_id}, "delete": True},
            {**every, "delete": True},
        ],
        "/relations": [{"child_id": requirement_id, "parent_id": ids["parent_id"]}],
        "/relations/bulk": [
            {"ids": [relation_id], "delete": True},
            {"filter": {"child_id": requirement_id}, "delete": True},
            {**every, "delete": True},
        ],
        "/requirements/move": [{"ids": [requirement_id], "section": []}, {"places": [{"id": requirement_id, **here}]}],
        "/test-cases/move": [{"ids": [test_case_id], "section": []}, {"places": [{"id": test_case_id, **here}]}],
        "/requirements/bulk": [{"ids": [requirement_id], **change}, {**every, **change}],
        "/test-cases/bulk": [{"ids": [test_case_id], "delete": True}, {**every, "delete": True}],
        f"/automated-tests/{own_test}": [{"test_case_id": test_case_id}],
        f"/automated-tests/{own_test}/merge": [{"into": ids["test_id"]}],
        "/automated-tests/bulk-retire": [
            {"ids": [ids["test_id"]], "note": "x"},
            {"branch": MARK, "lane": "junit", "note": "x", "expected_count": 0},
        ],
        "/accepted-failures": [
            {"automated_test_id": ids["test_id"], "reason": "x", "until": str(datetime.now(UTC).date())},
            {"test_case_id": test_case_id, "reason": "x", "until": str(datetime.now(UTC).date())},
        ],
    }


def take_ids(app: Any) -> set[str]:
    """Return the paths, below /api/v1, of the routes whose body has ids of what is recorded."""
    document = app.openapi()

    def names(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return set().union(*map(names, schema))
        if not isinstance(schema, dict):
            return set()
        found = set(schema.get("properties", {}))
        for key, value in schema.items():
            found |= names(document["components"]["schemas"][value.rpartition("/")[2]] if key == "$ref" else value)
        return found

    return {
        path.removeprefix("/api/v1")
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if any(
            name in {"ids", "into"} or (name.endswith("_id") and name != "external_id")
            for name in names(operation.get("requestBody"))
        )
    }


async def test_no_route_changes_another_project(catalog: Any, ids: dict[str, Any]) -> None:
    elsewhere, before = catalog.being(ELSEWHERE), await checksums(catalog.database, "MAIN")
    assert sum(before.values()) != 0
    for method, path in paths(catalog.app, {"POST", "PUT", "PATCH", "DELETE"}):
        # Nobody plans an import here, so nothing is to be waited for.
        asked = {"Prefer": "respond-async"}
        words = {"title": "Changed", "description": "d", "type": "functional", "priority": "low"}
        answer = await elsewhere.request(method, filled(path, ids), json=words, headers=asked)
        assert answer.status_code < 500, (method, path, answer.text)
        if "{" in path and "external-id" not in path:
            assert answer.status_code in {404, 405, 415, 422}, (method, path, answer.text)
    assert await checksums(catalog.database, "MAIN") == before


async def test_no_id_in_a_body_reaches_another_project(catalog: Any, ids: dict[str, Any]) -> None:
    elsewhere, before = (
        catalog.being(dataclasses.replace(HERE, project="EMPTY")),
        await checksums(catalog.database, "MAIN"),
    )
    report = b'<testsuite><testcase classname="own" name="own"/></testsuite>'
    xml = {"content-type": "application/xml"}
    ok(await elsewhere.request("POST", "/test-results", content=report, headers=xml))
    own_test = (await elsewhere.read("/automated-tests"))["items"][0]["id"]
    tried = bodies(ids, own_test)
    assert {path.replace(str(own_test), "{test_id}") for path in tried} == take_ids(catalog.app)
    for path, sent in tried.items():
        for body in sent:
            answer = await elsewhere.request("PATCH" if path.endswith(str(own_test)) else "POST", path, json=body)
            told = answer.json()
            if answer.status_code == 200:
                assert told.get("items", []) == []
                assert all(one["error"]["code"].endswith("_not_found") for one in told["results"]), told
            else:
                assert answer.status_code == 404 or told["code"].endswith(("not_found", "_missing")), (path, told)
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

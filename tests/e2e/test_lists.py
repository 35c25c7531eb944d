"""Every list that the description of the API tells of: read to its end, page behind page."""

import json
import os
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import Json, Traceline, created, ok, problem
from acceptance.client import requirement as new_requirement
from acceptance.program import ADMIN_PASSWORD
from acceptance.waiting import eventually

pytestmark = [in_one_process, pytest.mark.requirement("TL-LIST-1")]
PARTS = ("items", "uncovered_requirements", "orphan_test_cases", "suspect_links")


def members(document: Json, schema: Json) -> Json:
    """Return the members of an answer of this schema."""
    if "$ref" in schema:
        return members(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    found: Json = schema.get("properties", {})
    return found


def lists(document: Json) -> dict[str, Json]:
    """Return the parameters of each list by its address: what has pages has rows and a limit."""
    found = {}
    for path, operations in document["paths"].items():
        answer = operations.get("get", {}).get("responses", {}).get("200", {})
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if {"skip", "limit"} <= (named := members(document, schema)).keys():
            assert "next_after" in named, path
            found[path.removeprefix("/api/v1")] = {one.get("name"): one for one in operations["get"]["parameters"]}
    return found


def keys(page: Json) -> list[str]:
    """Return what tells the rows of a page: their ids where they have some."""
    parts = [page[part] for part in PARTS if part in page]
    rows = [row for part in parts for row in (part if isinstance(part, list) else part["items"])]
    return [str(row.get("id") or json.dumps(row)) for row in rows]


def all_of(admin: Traceline, address: str, asked: dict[str, Any], most: int) -> list[str]:
    """Return what tells the rows of a list, read by pages of the most rows."""
    return [key for page in admin.pages(address, **asked, limit=most, skip=0) for key in keys(page)]


def required(parameters: Json, known: dict[str, str]) -> dict[str, Any]:
    """Return what the query of a list must say."""
    return {name: known[name] for name, one in parameters.items() if one.get("in") == "query" and one.get("required")}


@pytest.fixture(scope="module")
def known(admin: Traceline) -> dict[str, str]:
    """What is asked for in addresses and queries that must name something; each list has some rows."""
    word = texts.word()
    requirement, test_case = admin.create_pair(module=word)
    others = [admin.create_test_case(title=word, module=word) for _ in range(3)]
    for other in others:
        admin.create_link(requirement["id"], other["id"])
        above = admin.create_requirement(title=word)
        admin.create_link(above["id"], test_case["id"])
        created(admin.post("/relations", json={"child_id": requirement["id"], "parent_id": above["id"]}))
    for item, path in ((requirement, "requirements"), (test_case, "test-cases")):
        for title in ("One", "Two"):
            ok(admin.patch(f"/{path}/{item['id']}", json={"title": f"{word} {title}"}))
    admin.create_pair()
    for other in others[:2]:
        admin.propose_link(admin.create_requirement()["id"], other["id"])
    admin.new_user()
    for _ in range(2):
        admin.generate()
        created(admin.post("/users/invitations", json={"email": f"{texts.word()}@example.com", "role": "viewer"}))
    rows = [new_requirement(kind="requirement") for _ in range(5)]
    imported = [admin.plan_import(rows) for _ in range(2)]
    waits = [{"kind": "link", "requirement": f"{word}-{n}", "test_case": word} for n in range(3)]
    admin.apply_import(admin.plan_import(waits))
    for _ in range(2):
        mapping = {"version": 1, "kind": "requirements", "fields": {"title": {"column": "Title"}}}
        created(admin.post("/imports/mappings", json={"name": texts.word(), "mapping": mapping}))
    for _ in range(2):
        admin.logged_in(admin.me()["email"], os.environ.get("DEFAULT_ADMIN_PASSWORD", ADMIN_PASSWORD))
        created(admin.post("/auth/tokens", json={"name": texts.word(), "scopes": ["read"]}))
    admin.new_project()
    for _ in range(2):
        ok(admin.put(f"/projects/MAIN/members/{admin.new_user().me()['id']}", json={"role": "viewer"}), 201)
    accounts = [created(admin.post("/projects/MAIN/service-accounts", json={"name": name})) for name in ("ci", "cd")]
    for _ in range(2):
        where = f"/projects/MAIN/service-accounts/{accounts[0]['id']}/tokens"
        created(admin.post(where, json={"name": texts.word(), "scopes": ["read"]}))
    cases = "".join(f'<testcase name="[{one["id"]}]"/>' for one in (test_case, others[0]))
    report = f"<testsuite>{cases}</testsuite>"
    for _ in range(2):
        rules = {"rules": [{"rule": "max_failed", "limit": 0}]}
        ok(admin.put(f"/reports/gate/policies/{texts.word()}", json=rules), 201)
    flaky = report.replace('"/>', '"><flakyFailure/></testcase>')
    ok(admin.post("/test-results", content=flaky))
    sent = [ok(admin.post("/test-results", content=report, params={"name": name})) for name in ("One", "Two")]
    for test in admin.items("/automated-tests", test_case_id=f"{test_case['id']},{others[0]['id']}"):
        accepted = {"automated_test_id": test["id"], "reason": "Known.", "until": str(datetime.now(UTC).date())}
        created(admin.post("/accepted-failures", json=accepted))
    eventually(lambda: admin.read("/notifications")["total"] > 5, "notifications")
    eventually(lambda: admin.read("/audit-log", resource_id=requirement["id"])["total"] > 2, "the audit log")
    return {
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "import_id": imported[0]["id"],
        "key": "MAIN",
        "user_id": str(accounts[0]["id"]),
        "run_id": sent[0]["run"]["id"],
        "q": word,
    }


def test_each_list_is_read_to_its_end_page_behind_page(admin: Traceline, known: dict[str, str]) -> None:
    found = lists(ok(admin.get("/openapi.json")))
    assert len(found) >= 14
    for path, parameters in found.items():
        assert {"skip", "limit", "after"} <= parameters.keys(), path
        address = re.sub(r"\{(\w+)\}", lambda name: known[name[1]], path)
        asked = required(parameters, known)
        most = parameters["limit"]["schema"]["maximum"]
        before = all_of(admin, address, asked, most)
        limit = min(most, max(1, len(before) // 4))
        pages = list(admin.pages(address, **asked, limit=limit))
        rows = [key for page in pages for key in keys(page)]
        assert len(pages) > 1, path
        assert pages[-1]["next_after"] is None, path
        assert all(page["next_after"] is not None for page in pages[:-1]), path
        # What comes meanwhile, comes before: lists begin with the newest. To the audit log an event of another service
        # may come behind newer ones.
        late = all_of(admin, address, asked, most) if path == "/audit-log" else rows[: len(rows) - len(before)]
        assert set(before) <= set(rows) <= {*before, *late}, path
        assert len(set(rows)) == len(rows), path
        refused = {**asked, "after": pages[0]["next_after"]}
        problem(admin.get(address, params={**refused, "skip": 1}), 422, field="skip")
        problem(admin.get(address, params={**refused, "after": f"{refused['after']}x"}), 422, field="after")


def test_rows_are_narrow_where_they_are_asked_to_be(admin: Traceline, known: dict[str, str]) -> None:
    for path, parameters in lists(ok(admin.get("/openapi.json"))).items():
        if "fields" not in parameters:
            assert path == "/reports/gaps", "three lists of other rows"
            continue
        address = re.sub(r"\{(\w+)\}", lambda name: known[name[1]], path)
        asked = required(parameters, known)
        whole = next(iter(admin.read(address, **asked, limit=1)["items"]), None)
        assert whole is not None, path
        member = sorted(whole)[0]
        (narrow,) = admin.read(address, **asked, limit=1, fields=member)["items"]
        assert narrow.keys() == {member}, path
        problem(admin.get(address, params={**asked, "fields": "nothing"}), 422, "unknown_field", field="fields")
        if "ids" in parameters:
            page = admin.read(address, **asked, ids=whole["id"])
            assert ([row["id"] for row in page["items"]], page["total"]) == ([whole["id"]], 1), path

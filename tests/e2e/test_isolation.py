"""Nothing crosses from one project into another: no row, no count, no score, and no id that works elsewhere."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import Json, Traceline, created, ok, problem
from acceptance.client import requirement as new_requirement
from acceptance.client import test_case as new_test_case
from acceptance.waiting import eventually
from contracts.routes import SERVICES

pytestmark = in_one_process

_APART = {name for one in SERVICES for name in (*one.of_installation, *one.of_person)} | {"events", "version"}
_LISTED = {
    "/requirements": "requirement",
    "/test-cases": "test_case",
    "/links": "link",
    "/relations": "relation",
    "/suggestions": "suggestion",
    "/proposals": "proposal",
    "/suggestions/runs": "run",
    "/imports": "import",
    "/imports/mappings": "mapping",
}
_SIDES = ("items", "uncovered_requirements", "orphan_test_cases", "suspect_links")


def in_project(admin: Traceline) -> Traceline:
    key = admin.new_project(visibility="open")
    within = admin.within(key)
    eventually(lambda: within.get("/requirements").status_code, "the project", equals=200)
    return within


@pytest.fixture(scope="module")
def full(admin: Traceline) -> Traceline:
    """A project with something of everything."""
    return in_project(admin)


@pytest.fixture(scope="module")
def known(full: Traceline) -> dict[str, str]:
    """The ids of what is in it, by the names of the parameters of addresses."""
    requirement, test_case = full.create_pair(external_id=texts.word())
    suggestion = full.suggested_pair()
    accepted = ok(full.post(f"/suggestions/{suggestion['id']}/accept"))
    ends = {"child_id": requirement["id"], "parent_id": full.create_requirement()["id"]}
    relation = created(full.post("/relations", json=ends))
    ok(full.patch(f"/requirements/{requirement['id']}", json={"title": texts.words(3)}))
    mapping = {"version": 1, "kind": "requirements", "fields": {"title": {"column": "Title"}}}
    saved = created(full.post("/imports/mappings", json={"name": texts.word(), "mapping": mapping}))
    run = full.generate()
    test_run = created(full.post("/test-runs", json={"key": texts.word()}))
    report = b'<testsuite><testcase classname="doors" name="close"/></testsuite>'
    upload = full.post("/test-results", content=report, headers={"Prefer": "respond-async"}).json()["id"]
    eventually(lambda: ok(full.get(f"/test-results/{upload}"))["status"], "the end of the upload", equals="completed")
    (automated,) = full.items("/automated-tests")
    known_failure = {"automated_test_id": automated["id"], "reason": "Known.", "until": str(datetime.now(UTC).date())}
    waits = [
        {"kind": "link", "requirement": requirement["external_id"], "test_case": f"{requirement['external_id']}-T"}
    ]
    full.apply_import(full.plan_import(waits))
    policy = {"rules": [{"rule": "max_failed", "limit": 0}]}
    assert full.put("/reports/gate/policies/Ours", json=policy).status_code in {200, 201}
    return {
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "external_id": requirement["external_id"],
        "link_id": accepted["link_id"],
        "relation_id": relation["id"],
        "suggestion_id": suggestion["id"],
        "proposal_id": full.propose_link(full.create_requirement()["id"], test_case["id"])["id"],
        "review_id": ok(full.get(f"/suggestions/{suggestion['id']}"))["review_id"],
        "import_id": full.plan_import([new_requirement(kind="requirement")])["id"],
        "mapping_id": saved["id"],
        "reference_id": full.items("/references")[0]["id"],
        "run_id": run["id"],
        "test-runs": test_run["id"],
        "test_id": str(automated["id"]),
        "accepted_failure_id": created(full.post("/accepted-failures", json=known_failure))["id"],
        "upload_id": upload,
        "name": "Ours",
    }


@pytest.fixture(scope="module")
def operations(full: Traceline) -> list[tuple[str, str, Json]]:
    """Every operation of what belongs to a project."""
    return [
        (method.upper(), path.removeprefix("/api/v1"), operation)
        for path, operations in ok(full.get("/openapi.json"))["paths"].items()
        for method, operation in operations.items()
        if path.startswith("/api/v1/") and path.split("/")[3] not in _APART
    ]


def sums(row: Json) -> int:
    """Return the sum of all counts of a row."""
    counts = [sums(value) if isinstance(value, dict) else value for value in row.values()]
    return sum(value for value in counts if isinstance(value, int) and not isinstance(value, bool))


def addressed(path: str, known: dict[str, str]) -> str:
    ids = {**known, "run_id": known["test-runs"]} if path.startswith("/test-runs") else known
    return re.sub(r"\{(\w+)\}", lambda name: ids[name[1]], path)


def test_no_id_of_one_project_works_in_another(
    admin: Traceline, full: Traceline, known: dict[str, str], operations: list[tuple[str, str, Json]]
) -> None:
    others = (in_project(admin), admin.within(None))
    tried = 0
    for method, path, _ in operations:
        if "{" not in path or (method == "PUT" and path.endswith(("/by-external-id/{external_id}", "/{name}"))):
            continue  # what is not there is made by its name, of another project or not
        address = addressed(path, known)
        if method == "GET":
            assert full.get(address).status_code == 200, f"{address} has to be there"
        for other in others:
            answer = other.request(method, address, **({} if method in {"GET", "DELETE"} else {"json": {}}))
            problem(answer, 404 if method in {"GET", "DELETE"} else {404, 422})
            tried += 1
    assert tried > 60
    for name, path in (("requirement_id", "requirements"), ("link_id", "links"), ("mapping_id", "imports/mappings")):
        ok(full.get(f"/{path}/{known[name]}"))


def test_all_lists_and_counts_of_another_project_are_empty(
    admin: Traceline, full: Traceline, known: dict[str, str], operations: list[tuple[str, str, Json]]
) -> None:
    empty = in_project(admin)
    looked_at = 0
    for method, path, operation in operations:
        asked = {one["name"] for one in operation.get("parameters", []) if one.get("in") == "query" and one["required"]}
        if method != "GET" or "{" in path or asked - {"q"}:
            continue
        params: dict[str, Any] = {"q": "a"} if asked else {}
        answer = empty.get(path, params=params)
        if answer.headers["content-type"] != "application/json":
            continue
        page = ok(answer)
        sides = [page[side] for side in _SIDES if side in page]
        for rows in (side if isinstance(side, list) else side["items"] for side in sides):
            # A trend has a row a day, whether there is anything or not.
            assert [row for row in rows if "date" not in row or sums(row) > 0] == [], path
            looked_at += 1
        assert page.get("total", 0) == 0, path
        assert {value for name, value in page.get("summary", {}).items() if name.startswith("total")} <= {0}, path
    assert looked_at > 12


def test_no_id_in_a_filter_finds_anything_of_another_project(
    admin: Traceline, full: Traceline, known: dict[str, str], operations: list[tuple[str, str, Json]]
) -> None:
    empty = in_project(admin)
    ids = {
        **{path: known[f"{name}_id"] for path, name in _LISTED.items()},
        **{path: known[name] for path, name in (("/test-runs", "test-runs"), ("/automated-tests", "test_id"))},
    }
    found = []
    for method, path, operation in operations:
        names = {one["name"] for one in operation.get("parameters", []) if one.get("in") == "query"}
        if method != "GET" or "{" in path:
            continue
        wanted = {name: known[name] for name in names & {"requirement_id", "test_case_id", "external_id"}}
        wanted |= dict.fromkeys(names & {"resource_id"}, known["requirement_id"])
        wanted |= {"ids": ids[path]} if "ids" in names and path in ids else {}
        for name, value in wanted.items():
            here, there = (one.get(path, params={name: value}) for one in (full, empty))
            if there.headers["content-type"] != "application/json":
                assert value not in there.text, (path, name)
            elif "total" in ok(there):
                assert ok(there)["total"] == 0, (path, name)
                found += [(path, name)] * (ok(here)["total"] > 0)
    assert len(found) > 15, "in their own project they do"


def test_the_same_external_id_is_another_item_in_each_project(admin: Traceline, full: Traceline) -> None:
    other = in_project(admin)
    external_id = texts.word()
    made = [created(one.post("/requirements", json=new_requirement(external_id=external_id))) for one in (full, other)]
    assert made[0]["id"] != made[1]["id"]
    problem(other.post("/requirements", json=new_requirement(external_id=external_id)), 409)
    for one, own in zip((full, other), made, strict=True):
        assert ok(one.get(f"/requirements/by-external-id/{external_id}"))["id"] == own["id"]
        assert [row["id"] for row in one.items("/requirements", external_id=external_id)] == [own["id"]]


def test_no_link_and_no_suggestion_joins_items_of_two_projects(admin: Traceline, full: Traceline) -> None:
    other = in_project(admin)
    said = texts.words(8)
    requirement = full.create_requirement(title=said, description=said)
    test_case = created(other.post("/test-cases", json=new_test_case(title=said, description=said)))
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    for one in (full, other):
        assert one.post("/links", json=pair).status_code in {404, 422}
        one.generate()
        assert one.read("/suggestions", search=said)["total"] == 0
    beside = full.create_test_case(title=said, description=said)
    full.generate()
    found = full.items("/suggestions", requirement_id=requirement["id"])
    assert [one["test_case_id"] for one in found] == [beside["id"]]


def test_a_project_that_is_deleted_leaves_nothing_and_takes_nothing_of_others(admin: Traceline) -> None:
    gone, stays = in_project(admin), in_project(admin)
    kept = {one.project: one.create_pair() for one in (gone, stays)}
    ok(admin.patch(f"/projects/{gone.project}", json={"archived": True}))
    ok(admin.delete(f"/projects/{gone.project}", params={"confirm": gone.project}), 202)
    for item, path in zip(kept[stays.project], ("requirements", "test-cases"), strict=True):
        assert ok(stays.get(f"/{path}/{item['id']}"))["id"] == item["id"]
    eventually(lambda: gone.get("/requirements").status_code, "its end", equals=404)

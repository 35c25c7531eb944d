"""Files are planned, looked at and applied; everybody else who keeps a copy learns of it."""

import itertools
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem, requirement, said, test_case
from acceptance.waiting import eventually

CSV = {"Content-Type": "text/csv"}
KINDS = ("requirements", "test-cases")


def record(kind: str, **fields: object) -> Json:
    """A requirement or test case of a file."""
    body = requirement(**fields) if kind == "requirement" else test_case(**fields)
    return {"kind": kind, "external_id": uuid4().hex, **body}


def test_a_file_is_planned_applied_and_planned_again(reviewer: Traceline, viewer: Traceline) -> None:
    wanted, tested = record("requirement"), record("test_case")
    link = {"kind": "link", "requirement": wanted["external_id"], "test_case": tested["external_id"]}
    planned = reviewer.plan_import([wanted, tested, link])
    assert (planned["status"], planned["summary"]["clean"]) == ("planned", True)
    problem(viewer.get(f"/requirements/by-external-id/{wanted['external_id']}"), 404)
    assert [row["action"] for row in viewer.read(f"/imports/{planned['id']}/rows")["items"]] == ["create"] * 3
    problem(viewer.post(f"/imports/{planned['id']}/apply", json={}), 403)

    applied = reviewer.apply_import(planned, expect=planned["plan_hash"])
    assert (applied["status"], applied["counts"]) == ("applied", planned["counts"])
    made = viewer.read(f"/requirements/by-external-id/{wanted['external_id']}")
    assert made["title"] == wanted["title"]
    (linked,) = viewer.read(f"/requirements/{made['id']}/test-cases")["items"]
    assert linked["external_id"] == tested["external_id"]
    problem(reviewer.post(f"/imports/{planned['id']}/cancel"), 409, "import_not_cancellable")

    again = reviewer.plan_import([wanted, tested, link])
    assert [again["counts"][kind]["unchanged"] for kind in ("requirements", "test_cases", "links")] == [1, 1, 1]
    eventually(lambda: viewer.read(f"/imports/{planned['id']}")["search_ready"], "the search documents")
    assert viewer.read("/search", q=wanted["title"])["items"]


def test_a_table_of_a_browser_is_inspected_mended_and_imported(reviewer: Traceline) -> None:
    key = uuid4().hex
    long = "x" * 501
    table = f"Key,Summary,Description,Type,Priority\n{key},{long},D,functional,high\n"
    found = ok(reviewer.post("/imports/inspect", files={"file": ("reqs.csv", table.encode())}))
    assert found["format"] == "csv"
    assert found["columns"][0]["name"] == "Key"

    refused = reviewer.wait_for_import(reviewer.post("/imports", files={"file": ("reqs.csv", table.encode())}))
    assert [problem["code"] for problem in refused["summary"]["problems"]] == ["string_too_long"]
    mended = reviewer.get(f"/imports/{refused['id']}/rows", params={"format": "csv"}).text.replace(long, "Short")
    answer = reviewer.post("/imports", content=mended.encode(), headers=CSV, params={"apply": "always"})
    assert reviewer.wait_for_import(answer)["status"] == "applied", said(answer)
    assert reviewer.read(f"/requirements/by-external-id/{key}")["title"] == "Short"


def test_a_file_that_is_large_goes_through_the_gateway(reviewer: Traceline) -> None:
    rows = [record("requirement", description=texts.words(6) * 60) for _ in range(1500)]
    planned = reviewer.plan_import(rows)
    assert planned["size"] > 1024**2
    assert planned["counts"]["requirements"]["create"] == 1500
    assert ok(reviewer.post(f"/imports/{planned['id']}/cancel"))["status"] == "cancelled"


def test_only_an_admin_restores(reviewer: Traceline) -> None:
    problem(reviewer.post("/imports", content=b"{}", params={"mode": "restore"}), 403, "role_too_low")


def test_of_people_who_edit_meanwhile_nothing_is_lost(reviewer: Traceline) -> None:
    """A row whose item somebody has changed since it was planned is refused by name; each other one counts once."""
    module = uuid4().hex
    created = [record("requirement", module=module) for _ in range(300)]
    reviewer.apply_import(reviewer.plan_import(created, suggest=False))
    before = {item["external_id"]: item for item in reviewer.items("/requirements", module=module)}
    edits: Counter[str] = Counter()
    titles: dict[str, str] = {}
    enough = threading.Event()

    def edit(item: Json) -> None:
        title = texts.words(3)
        ok(reviewer.patch(f"/requirements/{item['id']}", json={"title": title}))
        edits[item["external_id"]] += 1
        titles[item["external_id"]] = title

    def go_on_editing() -> None:
        for item in itertools.cycle(before.values()):
            if enough.is_set():
                return
            edit(item)

    changed = [{"kind": "requirement", "external_id": key, "description": f"{key} anew"} for key in before]
    with ThreadPoolExecutor(1) as pool:
        editing = pool.submit(go_on_editing)
        try:
            planned = reviewer.plan_import(changed)
            seen = len(edits)
            eventually(lambda: len(edits) > seen, "an edit after the plan")
            applied = reviewer.apply_import(planned, atomic=False, suggest=False)
        finally:
            enough.set()
        editing.result()

    assert (planned["counts"]["requirements"]["update"], applied["status"]) == (300, "applied")
    actions = {row["key"]: (row["action"], row["code"]) for row in reviewer.items(f"/imports/{applied['id']}/rows")}
    assert ("conflict", "record_changed") in actions.values()
    after = {item["external_id"]: item for item in reviewer.items("/requirements", module=module)}
    for key, item in after.items():
        is_changed = actions[key] == ("update", None)
        assert is_changed or actions[key] == ("conflict", "record_changed")
        assert item["description"] == (f"{key} anew" if is_changed else before[key]["description"])
        assert item["title"] == titles.get(key, before[key]["title"])
        assert item["version"] == 1 + edits[key] + is_changed


def test_what_is_imported_while_suggestions_are_made_is_suggested_once(reviewer: Traceline) -> None:
    pairs = []
    for _ in range(10):
        text = {"title": texts.words(4), "description": texts.words(8)}
        pairs.append((record("requirement", **text), record("test_case", **text)))
    run = ok(reviewer.post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)
    imported = reviewer.plan_import([item for pair in pairs for item in pair], apply="always")
    assert imported["status"] == "applied", imported
    reviewer.generate()
    assert reviewer.read(f"/suggestions/runs/{run['id']}")["status"] == "completed"
    for pair in pairs:
        places = (f"/{kind}/by-external-id/{item['external_id']}" for kind, item in zip(KINDS, pair, strict=True))
        ends = [reviewer.read(place)["id"] for place in places]
        eventually(lambda ends=ends: reviewer.suggestions_for(*ends), "a suggestion")  # type: ignore[misc]
        assert [found["status"] for found in reviewer.suggestions_for(*ends)] == ["pending"]

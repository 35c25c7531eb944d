"""Who keeps a copy: loads items by the ids of another system, and follows what changes, through the gateway."""

from urllib.parse import quote

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem, requirement, test_case

pytestmark = pytest.mark.requirement("TL-ITEM-2")


@pytest.mark.parametrize(
    "odd", ["SYS/REQ-{}", "a b {}", "Größe-日本語-{}", "{} 50% & more?#;=+", "back\\slash-{}", "{}//"]
)
def test_a_record_is_loaded_by_ids_of_another_system(reviewer: Traceline, viewer: Traceline, odd: str) -> None:
    name = odd.format(texts.word())
    here = f"/by-external-id/{quote(name, safe='')}"
    made = created(reviewer.put(f"/requirements{here}", json=requirement(title="One")))
    assert made["external_id"] == name
    assert ok(reviewer.put(f"/requirements{here}", json=requirement(title="Two")))["id"] == made["id"]
    assert ok(viewer.get(f"/requirements{here}"))["title"] == "Two"
    tested = created(reviewer.put(f"/test-cases{here}", json=test_case()))
    named = {"requirement_external_id": name, "test_case_external_id": name}
    link = created(reviewer.post("/links", json=named))
    assert (link["requirement_id"], link["test_case_id"]) == (made["id"], tested["id"])
    assert problem(reviewer.post("/links", json=named), 409, "link_exists")["link_id"] == link["id"]
    taken = problem(reviewer.post("/requirements", json=requirement(external_id=name)), 409, "external_id_taken")
    assert taken["requirement"]["id"] == made["id"]


def test_a_path_that_leads_out_of_an_external_id_is_refused(reviewer: Traceline) -> None:
    problem(reviewer.get("/requirements/by-external-id/..%2f..%2fusers"), 400, "malformed_path")


def test_a_copy_that_follows_the_changes_is_the_record(reviewer: Traceline, viewer: Traceline) -> None:
    after = ok(viewer.get("/changes", params={"limit": 1}))["head"]
    kept, gone = reviewer.create_requirement(), reviewer.create_requirement()
    case = reviewer.create_test_case()
    for item in (kept, gone):
        reviewer.create_link(item["id"], case["id"])
    ok(reviewer.patch(f"/requirements/{kept['id']}", json={"title": "Another"}))
    assert reviewer.delete(f"/requirements/{gone['id']}").status_code == 204
    copy: dict[str, Json] = {}
    while True:
        page = ok(viewer.get("/changes", params={"after": after, "limit": 3}))
        for change in page["items"]:
            if change["state"] is None:
                copy.pop(change["id"])
            else:
                copy[change["id"]] = change["state"]
        if page["next_after"] == page["head"]:
            break
        after = page["next_after"]
    (link,) = viewer.items("/links", test_case_id=case["id"], expand="items")
    assert link["requirement"]["title"] == "Another"
    for path in (f"/requirements/{kept['id']}", f"/test-cases/{case['id']}", f"/links/{link['id']}"):
        there = ok(viewer.get(path))
        state = copy.pop(there["id"])
        assert state == {name: there[name] for name in state}
    assert gone["id"] not in copy
    history = ok(viewer.get(f"/requirements/{gone['id']}/history"))["items"]
    assert [entry["action"] for entry in history] == ["deleted", "created"]
    told = ok(viewer.get(f"/links/{link['id']}/suspicion"))
    assert told["suspect"]
    assert {"op": "insert", "text": "Another"} in told["requirement"]["differences"]["title"]

"""Requirements and test cases over the API: written, listed, changed, and gone with all that hung on them."""

import pytest

from acceptance import texts
from acceptance.callers import also_below_project
from acceptance.client import Json, Traceline, created, ok, problem, requirement
from acceptance.waiting import eventually

pytestmark = [pytest.mark.requirement("TL-ITEM-1", "TL-ITEM-3", "TL-LINK-2"), also_below_project]

REQUIREMENT: Json = {
    "title": "Überprüfung der Türsensoren – 扉 🚪",
    "description": 'Zeile 1\nZeile 2\t"quoted" \\ back\u200bslash',
    "type": "non_functional",
    "priority": "critical",
    "status": "approved",
    "tags": ["safety", "Türen", "a,b"],
    "custom_metadata": {"asil": "B", "nested": {"list": [1, 2.5, None, True]}, "": "empty key"},
    "source_system": "jira",
    "source_url": "https://tracker.example/browse/REQ-1?x=1&y=2#z",
    "created_by": "importer",
}
TEST_CASE = REQUIREMENT | {
    "type": "integration",
    "status": "ready",
    "steps": {"1": "Press the button", "2": "Wait", "10": "Look"},
    "preconditions": "The door is shut",
    "postconditions": "The door is open",
    "test_data": {"force": 12.5, "doors": ["left", "right"]},
    "automation_status": "automated",
    "execution_time_minutes": 15,
}


@pytest.mark.parametrize(("path", "everything"), [("/requirements", REQUIREMENT), ("/test-cases", TEST_CASE)])
def test_an_item_is_created_listed_patched_replaced_and_deleted(
    reviewer: Traceline, path: str, everything: Json
) -> None:
    module = texts.word()
    body = everything | {"module": module, "external_id": texts.word()}
    response = reviewer.post(path, json=body)
    made = created(response)
    assert {name: made[name] for name in body} == body
    here = f"{path}/{made['id']}"
    assert response.headers["location"] == f"{reviewer.api}{here}"
    assert ok(reviewer.get(here)) == made

    for _ in range(2):
        created(reviewer.post(path, json=requirement(module=module)))
    pages = list(reviewer.pages(path, module=module, sort="created_at:asc", limit=2))
    assert [len(page["items"]) for page in pages] == [2, 1]
    assert pages[0]["items"][0] == made | {"etag": response.headers["etag"]}

    merge = {"Content-Type": "application/merge-patch+json"}
    patch = {"priority": "low", "tags": None, "custom_metadata": {"asil": None}}
    patched = ok(reviewer.patch(here, json=patch, headers=merge))
    metadata = {name: value for name, value in everything["custom_metadata"].items() if name != "asil"}
    changed = {"priority": "low", "tags": [], "custom_metadata": metadata, "version": 2}
    assert patched == made | changed | {"updated_at": patched["updated_at"]}
    replaced = ok(reviewer.put(here, json=requirement()))
    assert (replaced["id"], replaced["version"], replaced["external_id"]) == (made["id"], 3, None)

    assert reviewer.delete(here).content == b""
    problem(reviewer.get(here), 404)


@pytest.mark.parametrize("side", ["requirement", "test_case"])
def test_a_deleted_item_takes_its_links_and_suggestions_with_it(reviewer: Traceline, side: str) -> None:
    suggestion = reviewer.suggested_pair()
    ids = {name: suggestion[f"{name}_id"] for name in ("requirement", "test_case")}
    paths = {"requirement": "/requirements", "test_case": "/test-cases"}
    if side == "requirement":
        other = reviewer.create_test_case()
        link = reviewer.create_link(ids[side], other["id"])
        linked = f"/test-cases/{other['id']}/requirements"
    else:
        other = reviewer.create_requirement()
        link = reviewer.create_link(other["id"], ids[side])
        linked = f"/requirements/{other['id']}/test-cases"
    here = f"{paths.pop(side)}/{ids[side]}"
    assert reviewer.delete(here).status_code == 204
    for gone in (here, f"/links/{link['id']}"):
        problem(reviewer.get(gone), 404)
    assert reviewer.items(linked) == []
    path = f"/suggestions/{suggestion['id']}"
    eventually(lambda: reviewer.get(path).status_code, "the end of the suggestion", equals=404)
    assert reviewer.items("/suggestions", **{f"{side}_id": ids[side]}) == []
    ((stays, item_path),) = paths.items()
    ok(reviewer.get(f"{item_path}/{ids[stays]}"))

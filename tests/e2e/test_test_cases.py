"""Test cases: what they have that requirements have not, and the rules that both share."""

from typing import Any

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import Traceline, created, ok, problem, test_case
from acceptance.waiting import eventually

pytestmark = in_one_process

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def everything(**fields: Any) -> dict[str, Any]:
    """A test case with every field that a client may set."""
    return {
        "external_id": texts.word(),
        "title": "Tür öffnet bei Notfall 🚨",
        "description": "First line\nsecond line",
        "type": "integration",
        "priority": "high",
        "status": "ready",
        "steps": {"1": "Press the button", "2": "Wait", "10": "Look"},
        "preconditions": "The door is shut",
        "postconditions": "The door is open",
        "test_data": {"force": 12.5, "doors": ["left", "right"]},
        "module": "doors",
        "tags": ["safety", "smoke"],
        "automation_status": "automated",
        "execution_time_minutes": 15,
        "custom_metadata": {"rig": {"id": 4}},
        "source_system": "testrail",
        "source_url": "https://tests.example/C1",
        "created_by": "importer",
    } | fields


def test_every_field_comes_back_as_it_was_sent(reviewer: Traceline) -> None:
    body = everything()
    made = created(reviewer.post("/test-cases", json=body))
    assert {name: made[name] for name in body} == body
    assert ok(reviewer.get(f"/test-cases/{made['id']}")) == made


def test_what_is_not_sent_gets_its_default(reviewer: Traceline) -> None:
    made = reviewer.create_test_case()
    assert made["status"] == "draft"
    assert made["automation_status"] == "manual"
    assert made["version"] == 1
    assert made["created_by"] == reviewer.me()["email"]
    for name in ("external_id", "module", "preconditions", "postconditions", "execution_time_minutes"):
        assert made[name] is None, name
    assert not made["steps"]
    assert made["created_at"].endswith("Z")
    assert made["updated_at"].endswith("Z")


def test_the_answer_to_a_create_says_where_the_item_is(reviewer: Traceline) -> None:
    response = reviewer.post("/test-cases", json=test_case())
    made = created(response)
    assert response.headers["location"].endswith(f"/api/v1/test-cases/{made['id']}")


def test_fields_that_a_create_does_not_know_are_ignored(reviewer: Traceline) -> None:
    made = reviewer.create_test_case(id=UNKNOWN, version=9, updated_at="never", flavour="sweet")
    assert (made["id"] != UNKNOWN, made["version"]) == (True, 1)


@pytest.mark.parametrize("key", ["0", "01", "-1", "1.5", "one", "", " 1", "1a", "²", "١"])
def test_a_step_is_numbered_from_1(reviewer: Traceline, key: str) -> None:
    problem(reviewer.post("/test-cases", json=test_case(steps={key: "Press"})), 422, field="steps")


@pytest.mark.parametrize("steps", [["Press"], "Press", {"1": 5}, {"1": None}, {"1": {"text": "Press"}}])
def test_steps_are_an_object_of_texts(reviewer: Traceline, steps: object) -> None:
    problem(reviewer.post("/test-cases", json=test_case(steps=steps)), 422, field="steps")


def test_an_external_id_is_taken_once(reviewer: Traceline) -> None:
    taken = texts.word()
    reviewer.create_test_case(external_id=taken)
    problem(reviewer.post("/test-cases", json=test_case(external_id=taken)), 409, "external_id_taken")
    path = f"/test-cases/{reviewer.create_test_case()['id']}"
    problem(reviewer.patch(path, json={"external_id": taken}), 409, "external_id_taken")


def test_put_replaces_and_what_is_missing_falls_back_to_its_default(reviewer: Traceline) -> None:
    made = created(reviewer.post("/test-cases", json=everything()))
    replaced = ok(reviewer.put(f"/test-cases/{made['id']}", json=test_case()))
    assert replaced["automation_status"] == "manual"
    assert replaced["status"] == "draft"
    for name in ("external_id", "module", "preconditions", "postconditions", "execution_time_minutes"):
        assert replaced[name] is None, name
    assert not replaced["steps"]
    assert not replaced["test_data"]
    assert (replaced["id"], replaced["created_at"]) == (made["id"], made["created_at"])


def test_patch_merges_steps_and_null_removes(reviewer: Traceline) -> None:
    made = created(reviewer.post("/test-cases", json=everything()))
    patch = {"steps": {"2": None, "3": "Listen"}, "preconditions": None, "execution_time_minutes": None}
    patched = ok(reviewer.patch(f"/test-cases/{made['id']}", json=patch))
    assert patched["steps"] == {"1": "Press the button", "10": "Look", "3": "Listen"}
    assert patched["preconditions"] is None
    assert patched["execution_time_minutes"] is None
    assert patched["postconditions"] == made["postconditions"]
    problem(reviewer.patch(f"/test-cases/{made['id']}", json={"step": {}}), 422, "unknown_field", field="step")
    problem(reviewer.patch(f"/test-cases/{made['id']}", json={"steps": {"x": "y"}}), 422, field="steps")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "another title"),
        ("description", "another"),
        ("type", "security"),
        ("priority", "low"),
        ("steps", {"1": "Pull"}),
        ("preconditions", "The door is open"),
        ("postconditions", "The door is shut"),
        ("test_data", {"force": 1}),
    ],
)
def test_a_change_of_meaning_raises_the_version_by_one(reviewer: Traceline, field: str, value: object) -> None:
    made = created(reviewer.post("/test-cases", json=everything()))
    assert ok(reviewer.patch(f"/test-cases/{made['id']}", json={field: value}))["version"] == 2


def test_another_change_leaves_the_version_but_not_the_time(reviewer: Traceline) -> None:
    made = reviewer.create_test_case()
    changes = {"status": "passed", "automation_status": "automatable", "execution_time_minutes": 3, "tags": []}
    patched = ok(reviewer.patch(f"/test-cases/{made['id']}", json=changes))
    assert patched["version"] == 1
    assert patched["updated_at"] > made["updated_at"]


def test_a_deleted_test_case_takes_its_links_and_suggestions_with_it(reviewer: Traceline) -> None:
    suggestion = reviewer.suggested_pair()
    test_case_id = suggestion["test_case"]["id"]
    other = reviewer.create_requirement()
    link = reviewer.create_link(other["id"], test_case_id)
    assert reviewer.delete(f"/test-cases/{test_case_id}").status_code == 204
    problem(reviewer.get(f"/test-cases/{test_case_id}"), 404)
    problem(reviewer.get(f"/links/{link['id']}"), 404)
    assert reviewer.items(f"/requirements/{other['id']}/test-cases") == []
    eventually(
        lambda: reviewer.get(f"/suggestions/{suggestion['id']}").status_code == 404,
        "the end of the suggestion",
    )


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_a_test_case_that_does_not_exist_is_not_found(reviewer: Traceline, method: str) -> None:
    body = test_case() if method in ("PUT", "PATCH") else None
    problem(reviewer.request(method, f"/test-cases/{UNKNOWN}", json=body), 404)

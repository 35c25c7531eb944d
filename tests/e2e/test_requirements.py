"""Requirements: fields, defaults, replacing, patching, versions, deleting."""

from typing import Any

import pytest

from acceptance import texts
from acceptance.client import Traceline, created, ok, problem, requirement
from acceptance.waiting import eventually

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def everything(**fields: Any) -> dict[str, Any]:
    """A requirement with every field that a client may set."""
    return {
        "external_id": texts.word(),
        "title": "Überprüfung der Türsensoren – 扉 🚪",
        "description": 'Zeile 1\nZeile 2\t"quoted" \\ back\u200bslash',
        "type": "non_functional",
        "priority": "critical",
        "status": "approved",
        "module": "doors",
        "tags": ["safety", "Türen", "a,b"],
        "custom_metadata": {"asil": "B", "nested": {"list": [1, 2.5, None, True]}, "": "empty key"},
        "source_system": "jira",
        "source_url": "https://tracker.example/browse/REQ-1?x=1&y=2#z",
        "created_by": "importer",
    } | fields


def test_every_field_comes_back_as_it_was_sent(reviewer: Traceline) -> None:
    body = everything()
    made = created(reviewer.post("/requirements", json=body))
    assert {name: made[name] for name in body} == body
    assert ok(reviewer.get(f"/requirements/{made['id']}")) == made


def test_what_is_not_sent_gets_its_default(reviewer: Traceline) -> None:
    made = created(reviewer.post("/requirements", json=requirement()))
    assert made["status"] == "draft"
    assert made["version"] == 1
    assert made["created_by"] == reviewer.me()["email"]
    for name in ("external_id", "module", "source_system", "source_url"):
        assert made[name] is None, name
    assert made["tags"] in ([], None)
    assert made["custom_metadata"] in ({}, None)


def test_times_are_utc_and_end_in_z(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    for name in ("created_at", "updated_at"):
        assert made[name].endswith("Z"), made[name]
        assert "T" in made[name]
    assert made["created_at"] <= made["updated_at"]


def test_the_answer_to_a_create_says_where_the_item_is(reviewer: Traceline) -> None:
    response = reviewer.post("/requirements", json=requirement())
    made = created(response)
    assert response.headers["location"].endswith(f"/api/v1/requirements/{made['id']}")
    assert ok(reviewer.get(f"/requirements/{made['id']}")) == made


def test_fields_that_a_create_does_not_know_are_ignored(reviewer: Traceline) -> None:
    echo = {"id": UNKNOWN, "version": 7, "created_at": "1999-01-01T00:00:00Z", "updated_at": "x", "colour": 1}
    made = reviewer.create_requirement(**echo)
    assert made["id"] != UNKNOWN
    assert made["version"] == 1
    assert not made["created_at"].startswith("1999")
    assert "colour" not in made


def test_a_title_is_stripped_and_may_have_500_characters(reviewer: Traceline) -> None:
    made = reviewer.create_requirement(title=f" \t{'é' * 500}\n ")
    assert made["title"] == "é" * 500
    assert reviewer.create_requirement(title=f"  {texts.word()}  ")["title"].islower()


@pytest.mark.parametrize(("field", "length"), [("external_id", 100), ("module", 100), ("created_by", 100)])
def test_a_short_text_may_have_its_full_length(reviewer: Traceline, field: str, length: int) -> None:
    value = texts.word(length)
    assert reviewer.create_requirement(**{field: value})[field] == value


def test_a_long_description_is_kept_whole(reviewer: Traceline) -> None:
    description = texts.word() + " lorem ipsum" * 40_000
    assert reviewer.create_requirement(description=description)["description"] == description


def test_an_external_id_is_taken_once(reviewer: Traceline) -> None:
    taken = texts.word()
    first = reviewer.create_requirement(external_id=taken)
    second = reviewer.create_requirement()
    problem(reviewer.post("/requirements", json=requirement(external_id=taken)), 409, "external_id_taken")
    path = f"/requirements/{second['id']}"
    problem(reviewer.patch(path, json={"external_id": taken}), 409, "external_id_taken")
    problem(reviewer.put(path, json=requirement(external_id=taken)), 409, "external_id_taken")
    reviewer.create_test_case(external_id=taken)
    assert reviewer.delete(f"/requirements/{first['id']}").status_code == 204
    ok(reviewer.patch(path, json={"external_id": taken}))


def test_put_replaces_and_what_is_missing_falls_back_to_its_default(reviewer: Traceline) -> None:
    made = created(reviewer.post("/requirements", json=everything()))
    replacement = requirement(priority="low")
    echo = {"id": UNKNOWN, "version": 7, "created_at": "1999-01-01T00:00:00Z", "created_by": None}
    replaced = ok(reviewer.put(f"/requirements/{made['id']}", json=replacement | echo))
    assert {name: replaced[name] for name in replacement} == replacement
    assert replaced["id"] == made["id"]
    assert replaced["created_at"] == made["created_at"]
    assert replaced["status"] == "draft"
    for name in ("external_id", "module", "source_system", "source_url"):
        assert replaced[name] is None, name
    assert not replaced["tags"]
    assert not replaced["custom_metadata"]
    assert ok(reviewer.get(f"/requirements/{made['id']}")) == replaced


def test_put_ignores_what_it_does_not_know_and_what_is_read_only(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    again = ok(reviewer.put(f"/requirements/{made['id']}", json=made | {"colour": "red", "id": UNKNOWN}))
    assert (again["id"], again["version"]) == (made["id"], 1)
    assert again["title"] == made["title"]


def test_put_needs_what_a_create_needs(reviewer: Traceline) -> None:
    path = f"/requirements/{reviewer.create_requirement()['id']}"
    for field in ("title", "description", "type", "priority"):
        body = requirement()
        del body[field]
        problem(reviewer.put(path, json=body), 422, field=field)


def test_patch_changes_what_it_names_and_null_removes(reviewer: Traceline) -> None:
    made = created(reviewer.post("/requirements", json=everything()))
    changes = {"status": "implemented", "module": None, "tags": None, "source_system": None}
    patched = ok(reviewer.patch(f"/requirements/{made['id']}", json=changes))
    assert patched["status"] == "implemented"
    assert patched["module"] is None
    assert not patched["tags"]
    assert patched["source_system"] is None
    untouched = set(made) - set(changes) - {"updated_at"}
    assert {name: patched[name] for name in untouched} == {name: made[name] for name in untouched}


def test_patch_merges_objects_and_replaces_arrays(reviewer: Traceline) -> None:
    made = reviewer.create_requirement(custom_metadata={"a": 1, "b": {"c": 2, "d": 3}}, tags=["x", "y"])
    patch = {"custom_metadata": {"a": None, "b": {"c": 9}, "e": 5}, "tags": ["z"]}
    response = reviewer.patch(
        f"/requirements/{made['id']}",
        json=patch,
        headers={"Content-Type": "application/merge-patch+json"},
    )
    assert ok(response)["custom_metadata"] == {"b": {"c": 9, "d": 3}, "e": 5}
    assert ok(response)["tags"] == ["z"]


def test_patch_cannot_remove_what_is_required(reviewer: Traceline) -> None:
    path = f"/requirements/{reviewer.create_requirement()['id']}"
    for field in ("title", "description", "type", "priority"):
        problem(reviewer.patch(path, json={field: None}), 422, field=field)


def test_patch_refuses_a_field_that_it_does_not_know(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    path = f"/requirements/{made['id']}"
    problem(reviewer.patch(path, json={"titel": "x", "status": "tested"}), 422, "unknown_field", field="titel")
    assert ok(reviewer.get(path)) == made


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", "another title"), ("description", "another"), ("type", "technical"), ("priority", "high")],
)
def test_a_change_of_meaning_raises_the_version_by_one(reviewer: Traceline, field: str, value: str) -> None:
    made = reviewer.create_requirement()
    patched = ok(reviewer.patch(f"/requirements/{made['id']}", json={field: value}))
    assert patched["version"] == 2
    assert patched["updated_at"] > made["updated_at"]


def test_several_changes_of_meaning_at_once_are_one_version(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    changes = {"title": texts.words(3), "description": texts.words(5), "priority": "low"}
    assert ok(reviewer.patch(f"/requirements/{made['id']}", json=changes))["version"] == 2
    assert ok(reviewer.put(f"/requirements/{made['id']}", json=requirement()))["version"] == 3


def test_another_change_leaves_the_version_but_not_the_time(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    changes = {
        "status": "approved",
        "module": "m",
        "tags": ["t"],
        "external_id": texts.word(),
        "custom_metadata": {"k": "v"},
        "source_system": "s",
        "source_url": "doors://server:36677/?urn=urn:telelogic::1-5b-O-12-0000001f",
    }
    patched = ok(reviewer.patch(f"/requirements/{made['id']}", json=changes))
    assert patched["version"] == 1
    assert patched["updated_at"] > made["updated_at"]
    assert patched["created_at"] == made["created_at"]


def test_a_patch_to_what_is_already_so_raises_no_version(reviewer: Traceline) -> None:
    made = reviewer.create_requirement()
    assert ok(reviewer.patch(f"/requirements/{made['id']}", json={"title": made["title"]}))["version"] == 1


def test_a_deleted_requirement_takes_its_links_and_suggestions_with_it(reviewer: Traceline) -> None:
    suggestion = reviewer.suggested_pair()
    requirement_id, test_case_id = suggestion["requirement"]["id"], suggestion["test_case"]["id"]
    other = reviewer.create_test_case()
    link = reviewer.create_link(requirement_id, other["id"])
    response = reviewer.delete(f"/requirements/{requirement_id}")
    assert (response.status_code, response.content) == (204, b"")
    problem(reviewer.get(f"/requirements/{requirement_id}"), 404)
    problem(reviewer.delete(f"/requirements/{requirement_id}"), 404)
    problem(reviewer.get(f"/links/{link['id']}"), 404)
    assert reviewer.items(f"/test-cases/{other['id']}/requirements") == []
    eventually(
        lambda: reviewer.get(f"/suggestions/{suggestion['id']}").status_code == 404,
        "the end of the suggestion",
    )
    assert reviewer.items("/suggestions", requirement_id=requirement_id) == []
    ok(reviewer.get(f"/test-cases/{test_case_id}"))


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_a_requirement_that_does_not_exist_is_not_found(reviewer: Traceline, method: str) -> None:
    body = requirement() if method in ("PUT", "PATCH") else None
    problem(reviewer.request(method, f"/requirements/{UNKNOWN}", json=body), 404)

"""Links: made once, suspect when an item moves on, confirmed, seen from both sides."""

import json

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def pair(reviewer: Traceline) -> tuple[Json, Json]:
    return reviewer.create_requirement(), reviewer.create_test_case()


@pytest.fixture
def link(reviewer: Traceline, pair: tuple[Json, Json]) -> Json:
    return reviewer.create_link(pair[0]["id"], pair[1]["id"])


def test_a_link_made_by_hand_is_manual_and_certain(reviewer: Traceline, pair: tuple[Json, Json]) -> None:
    body = {"requirement_id": pair[0]["id"], "test_case_id": pair[1]["id"], "link_type": "verifies"}
    response = reviewer.post("/links", json=body | {"notes": "Agreed in the review"})
    link = created(response)
    assert {name: link[name] for name in body} == body
    assert link["notes"] == "Agreed in the review"
    assert link["link_source"] == "manual"
    assert link["confidence_score"] == 1.0
    assert link["created_by"] == reviewer.me()["email"]
    assert link["created_at"].endswith("Z")
    assert link["suspect"] is False
    assert response.headers["location"].endswith(f"/api/v1/links/{link['id']}")
    assert ok(reviewer.get(f"/links/{link['id']}")) == link


def test_a_link_covers_unless_something_else_is_said(link: Json) -> None:
    assert link["link_type"] == "covers"
    assert link["confirmed_at"] is None
    assert link["confirmed_by"] is None


def test_a_pair_is_linked_once(reviewer: Traceline, link: Json) -> None:
    pair = {"requirement_id": link["requirement_id"], "test_case_id": link["test_case_id"]}
    refused = problem(reviewer.post("/links", json=pair | {"link_type": "related"}), 409, "link_exists")
    assert refused["detail"] == "A link between this requirement and this test case already exists."
    assert len(reviewer.items("/links", **pair)) == 1
    assert reviewer.delete(f"/links/{link['id']}").status_code == 204
    reviewer.create_link(**pair)


def test_both_ends_of_a_link_must_exist(reviewer: Traceline, pair: tuple[Json, Json]) -> None:
    body = {"requirement_id": pair[0]["id"], "test_case_id": pair[1]["id"]}
    problem(reviewer.post("/links", json=body | {"requirement_id": UNKNOWN}), 404, "requirement_not_found")
    problem(reviewer.post("/links", json=body | {"test_case_id": UNKNOWN}), 404, "test_case_not_found")
    crossed = {"requirement_id": pair[1]["id"], "test_case_id": pair[0]["id"]}
    problem(reviewer.post("/links", json=crossed), 404)


@pytest.mark.parametrize("score", [-0.1, 1.1, 1e300, "high"])
def test_a_confidence_outside_0_to_1_is_refused(reviewer: Traceline, pair: tuple[Json, Json], score: object) -> None:
    body = {"requirement_id": pair[0]["id"], "test_case_id": pair[1]["id"], "confidence_score": score}
    problem(reviewer.post("/links", json=body), 422, field="confidence_score")


def test_type_and_notes_of_a_link_can_change(reviewer: Traceline, link: Json) -> None:
    path = f"/links/{link['id']}"
    patched = ok(reviewer.patch(path, json={"link_type": "validates", "notes": "Better so"}))
    changed = {"link_type": "validates", "notes": "Better so", "updated_at": patched["updated_at"]}
    assert patched == link | changed
    assert ok(reviewer.patch(path, json={"notes": None}))["notes"] is None
    problem(reviewer.patch(path, json={"link_type": "guesses"}), 422, field="link_type")
    problem(reviewer.patch(path, json={"note": "x"}), 422, "unknown_field", field="note")


def test_a_deleted_link_is_gone(reviewer: Traceline, link: Json) -> None:
    path = f"/links/{link['id']}"
    assert reviewer.delete(path).status_code == 204
    for method in ("GET", "DELETE"):
        problem(reviewer.request(method, path), 404)
    problem(reviewer.patch(path, json={"notes": "x"}), 404)
    problem(reviewer.post(f"{path}/confirm"), 404)


def test_links_are_filtered(reviewer: Traceline) -> None:
    one, two = reviewer.create_requirement(), reviewer.create_requirement()
    test_case = reviewer.create_test_case()
    first = reviewer.create_link(one["id"], test_case["id"], link_type="verifies")
    second = reviewer.create_link(two["id"], test_case["id"], link_type="related")
    ok(reviewer.patch(f"/requirements/{two['id']}", json={"title": texts.word()}))

    def found(**filters: object) -> set[str]:
        return {link["id"] for link in reviewer.items("/links", **{"test_case_id": test_case["id"]} | filters)}

    assert found() == {first["id"], second["id"]}
    assert found(requirement_id=one["id"]) == {first["id"]}
    assert found(link_type="verifies") == {first["id"]}
    assert found(link_type="!verifies") == {second["id"]}
    assert found(link_type="verifies,related") == {first["id"], second["id"]}
    assert found(link_source="manual") == {first["id"], second["id"]}
    assert found(link_source="imported,ai_confirmed") == set()
    assert found(suspect="true") == {second["id"]}
    assert found(suspect="false") == {first["id"]}
    problem(reviewer.get("/links", params={"link_type": "guesses"}), 422, field="link_type")
    problem(reviewer.get("/links", params={"requirement_id": "x"}), 422, field="requirement_id")


@pytest.mark.parametrize("side", ["requirement", "test case"])
def test_a_link_is_suspect_while_an_item_is_newer_than_its_confirmation(
    reviewer: Traceline, link: Json, side: str
) -> None:
    item = {
        "requirement": f"/requirements/{link['requirement_id']}",
        "test case": f"/test-cases/{link['test_case_id']}",
    }[side]
    path = f"/links/{link['id']}"
    ok(reviewer.patch(item, json={"status": "draft", "tags": ["new"]}))
    assert reviewer.read(path)["suspect"] is False
    ok(reviewer.patch(item, json={"title": texts.word(), "priority": "low"}))
    suspect = reviewer.read(path)
    assert suspect["suspect"] is True
    reason = json.dumps(suspect["suspect_reason"])
    for part in (side.split()[0], "1", "2", "title", "priority"):
        assert part in reason, reason
    assert "description" not in reason

    confirmed = ok(reviewer.post(f"{path}/confirm"))
    assert confirmed["suspect"] is False
    assert not confirmed["suspect_reason"]
    assert confirmed["confirmed_by"] == reviewer.me()["email"]
    assert confirmed["confirmed_at"].endswith("Z")
    assert reviewer.read(path) == confirmed

    ok(reviewer.patch(item, json={"description": texts.words(4)}))
    again = reviewer.read(path)
    assert again["suspect"] is True
    assert "description" in json.dumps(again["suspect_reason"])
    assert "title" not in json.dumps(again["suspect_reason"]), "the title had been confirmed"


def test_a_suspect_link_stays_suspect_when_its_notes_change(reviewer: Traceline, link: Json) -> None:
    ok(reviewer.patch(f"/test-cases/{link['test_case_id']}", json={"steps": {"1": "Pull"}}))
    patched = ok(reviewer.patch(f"/links/{link['id']}", json={"notes": "still to be looked at"}))
    assert patched["suspect"] is True
    assert "steps" in json.dumps(patched["suspect_reason"])


def test_the_linked_items_of_the_other_side_are_listed_with_their_link(
    reviewer: Traceline, pair: tuple[Json, Json], link: Json
) -> None:
    requirement, test_case = pair
    ok(reviewer.patch(f"/requirements/{requirement['id']}", json={"priority": "low"}))
    for path, other in (
        (f"/requirements/{requirement['id']}/test-cases", test_case),
        (f"/test-cases/{test_case['id']}/requirements", requirement),
    ):
        (item,) = reviewer.items(path)
        assert (item["id"], item["title"]) == (other["id"], other["title"])
        assert item["link_id"] == link["id"]
        assert item["link_type"] == "covers"
        assert item["link_source"] == "manual"
        assert item["confidence_score"] == 1.0
        assert item["suspect"] is True
        assert item["linked_at"] == link["created_at"]
        assert item["link"]["created_at"] == link["created_at"]
        assert reviewer.read(path)["total"] == 1


def test_linked_items_come_in_pages(reviewer: Traceline) -> None:
    requirement = reviewer.create_requirement()
    made = {reviewer.create_test_case()["id"] for _ in range(5)}
    for test_case_id in made:
        reviewer.create_link(requirement["id"], test_case_id)
    pages = list(reviewer.pages(f"/requirements/{requirement['id']}/test-cases", limit=2))
    assert [len(page["items"]) for page in pages] == [2, 2, 1]
    assert {item["id"] for page in pages for item in page["items"]} == made


def test_the_linked_items_of_something_that_does_not_exist_are_not_found(reviewer: Traceline) -> None:
    problem(reviewer.get(f"/requirements/{UNKNOWN}/test-cases"), 404)
    problem(reviewer.get(f"/test-cases/{UNKNOWN}/requirements"), 404)

"""A link: made, suspect when an item moves on, confirmed, seen from both sides, gone."""

import json

import pytest

from acceptance import texts
from acceptance.callers import also_below_project
from acceptance.client import Traceline, created, ok, problem

pytestmark = [pytest.mark.requirement("TL-LINK-1", "TL-LINK-2"), also_below_project]


@pytest.mark.parametrize("side", ["requirement", "test case"])
def test_a_link_is_made_becomes_suspect_is_confirmed_and_deleted(reviewer: Traceline, side: str) -> None:
    requirement, test_case = reviewer.create_requirement(), reviewer.create_test_case()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    response = reviewer.post("/links", json=pair | {"link_type": "verifies", "notes": "Agreed"})
    link = created(response)
    path = f"/links/{link['id']}"
    assert response.headers["location"] == f"{reviewer.api}{path}"
    assert ok(reviewer.get(path)) == link
    problem(reviewer.post("/links", json=pair), 409, "link_exists")

    item = f"/requirements/{requirement['id']}" if side == "requirement" else f"/test-cases/{test_case['id']}"
    ok(reviewer.patch(item, json={"title": texts.word()}))
    suspect = reviewer.read(path)
    assert suspect["suspect"] is True
    assert "title" in json.dumps(suspect["suspect_reason"])
    assert [found["id"] for found in reviewer.items("/links", suspect="true", **pair)] == [link["id"]]
    confirmed = ok(reviewer.post(f"{path}/confirm"))
    assert (confirmed["suspect"], confirmed["confirmed_by"]) == (False, reviewer.me()["email"])

    for linked, other in (
        (f"/requirements/{requirement['id']}/test-cases", test_case),
        (f"/test-cases/{test_case['id']}/requirements", requirement),
    ):
        (found,) = reviewer.items(linked)
        assert (found["id"], found["link_id"]) == (other["id"], link["id"])
    assert reviewer.delete(path).status_code == 204
    problem(reviewer.get(path), 404)

"""Suggestions: found, explained, accepted, rejected, and not made twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-SUGG-1", "TL-SUGG-2", "TL-SUGG-3", "TL-SUGG-4")

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def suggestion(reviewer: Traceline) -> Json:
    return reviewer.suggested_pair()


def pair_of(suggestion: Json) -> dict[str, str]:
    return {name: suggestion[name] for name in ("requirement_id", "test_case_id")}


def links_of(user: Traceline, suggestion: Json) -> list[Json]:
    return user.items("/links", **pair_of(suggestion))


def test_a_suggestion_shows_its_items_and_its_reason(reviewer: Traceline) -> None:
    text = {"title": "the pump stops", "description": texts.words(8), "module": "pumps"}
    requirement, test_case = reviewer.create_pair(**text, external_id=texts.word())
    reviewer.generate()
    (found,) = reviewer.suggestions_for(requirement["id"], test_case["id"])
    for name, item in (("requirement", requirement), ("test_case", test_case)):
        assert found[name] == {part: item[part] for part in ("id", "external_id", "title", "module")}
    assert found["status"] == "pending"
    assert 0.95 < found["similarity_score"] <= 1.0, "the texts are the same"
    assert any(word in found["suggestion_reason"] for word in text["description"].split())
    assert ok(reviewer.get(f"/suggestions/{found['id']}")) == found


def test_accepting_makes_a_link_that_can_be_read_at_once(reviewer: Traceline, suggestion: Json) -> None:
    path = f"/suggestions/{suggestion['id']}"
    accepted = ok(reviewer.post(f"{path}/accept", json={"feedback": "Clear", "link_type": "validates"}))
    email = reviewer.me()["email"]
    assert (accepted["status"], accepted["feedback"], accepted["reviewed_by"]) == ("accepted", "Clear", email)
    link = ok(reviewer.get(f"/links/{accepted['link_id']}"))
    assert pair_of(link) == pair_of(suggestion)
    assert (link["link_source"], link["link_type"]) == ("ai_confirmed", "validates")
    assert link["confidence_score"] == suggestion["similarity_score"]
    assert link["created_by"] == link["confirmed_by"] == email
    assert ok(reviewer.get(path)) == accepted
    for action in ("accept", "reject"):
        problem(reviewer.post(f"{path}/{action}"), 409, "suggestion_not_pending")
    assert len(links_of(reviewer, suggestion)) == 1

    assert reviewer.delete(f"/links/{accepted['link_id']}").status_code == 204
    reviewer.generate()
    assert reviewer.suggestions_for(**pair_of(suggestion), status="pending") == []


def test_of_many_reviews_at_once_one_wins(reviewer: Traceline) -> None:
    for actions in (["accept"] * 8, ["accept", "reject"] * 4):
        suggestion = reviewer.suggested_pair()
        path = f"/suggestions/{suggestion['id']}"
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda action, path=path: reviewer.post(f"{path}/{action}"), actions))  # type: ignore[misc]
        statuses = [answer.status_code for answer in answers]
        assert sorted(statuses) == [200] + [409] * 7
        status = reviewer.read(path)["status"]
        assert status == {"accept": "accepted", "reject": "rejected"}[actions[statuses.index(200)]]
        assert len(links_of(reviewer, suggestion)) == (status == "accepted")


def test_a_rejected_pair_stays_away_until_a_text_changes(reviewer: Traceline, suggestion: Json) -> None:
    pair = pair_of(suggestion)
    rejected = ok(reviewer.post(f"/suggestions/{suggestion['id']}/reject", json={"feedback": "Another pump"}))
    assert (rejected["status"], rejected["feedback"]) == ("rejected", "Another pump")
    assert links_of(reviewer, suggestion) == []
    ok(reviewer.patch(f"/requirements/{pair['requirement_id']}", json={"tags": ["x"], "status": "approved"}))
    reviewer.generate()
    assert [found["status"] for found in reviewer.suggestions_for(**pair)] == ["rejected"]
    title = f"{suggestion['requirement']['title']} {texts.word()}"
    ok(reviewer.patch(f"/requirements/{pair['requirement_id']}", json={"title": title}))
    reviewer.generate()
    (again,) = reviewer.suggestions_for(**pair, status="pending")
    assert again["similarity_score"] < suggestion["similarity_score"]
    assert again["requirement"]["title"] == title


def test_a_link_made_by_hand_takes_the_pair_out_of_the_queue(reviewer: Traceline, suggestion: Json) -> None:
    pair = pair_of(suggestion)
    link = reviewer.create_link(**pair)
    path = f"/suggestions/{suggestion['id']}"
    eventually(lambda: reviewer.read(path)["status"], "the suggestion leaves the queue", equals="expired")
    assert reviewer.suggestions_for(**pair) == [], "expired ones are left out"
    problem(reviewer.post(f"{path}/accept"), 409)
    reviewer.generate()
    assert reviewer.suggestions_for(**pair, status="pending") == []
    assert len(links_of(reviewer, suggestion)) == 1

    assert reviewer.delete(f"/links/{link['id']}").status_code == 204
    reviewer.generate()
    assert reviewer.suggestions_for(**pair) == []
    ok(reviewer.patch(f"/test-cases/{pair['test_case_id']}", json={"description": texts.words(3)}))
    reviewer.generate()
    assert [found["status"] for found in reviewer.suggestions_for(**pair)] == ["pending"]


def test_accepting_a_pair_that_has_just_been_linked_is_refused(reviewer: Traceline, suggestion: Json) -> None:
    reviewer.create_link(**pair_of(suggestion))
    problem(reviewer.post(f"/suggestions/{suggestion['id']}/accept"), 409)
    (link,) = links_of(reviewer, suggestion)
    assert link["link_source"] == "manual"


@pytest.mark.parametrize("side", ["requirements", "test-cases"])
def test_accepting_a_pair_whose_item_has_just_been_deleted_is_refused(
    reviewer: Traceline, suggestion: Json, side: str
) -> None:
    item_id = suggestion["requirement_id" if side == "requirements" else "test_case_id"]
    assert reviewer.delete(f"/{side}/{item_id}").status_code == 204
    problem(reviewer.post(f"/suggestions/{suggestion['id']}/accept"), {404, 409})
    assert links_of(reviewer, suggestion) == []


@pytest.mark.parametrize("last", ["requirement", "test case", "update"])
def test_suggestions_appear_without_being_asked_for(reviewer: Traceline, last: str) -> None:
    text = {"title": texts.words(4), "description": texts.words(8)}
    if last == "requirement":
        test_case, requirement = reviewer.create_test_case(**text), reviewer.create_requirement(**text)
    else:
        requirement = reviewer.create_requirement(**text)
        test_case = reviewer.create_test_case(**({} if last == "update" else text))
    if last == "update":
        ok(reviewer.patch(f"/test-cases/{test_case['id']}", json=text))
    (found,) = eventually(
        lambda: reviewer.suggestions_for(requirement["id"], test_case["id"]), "a suggestion by itself"
    )
    assert found["status"] == "pending"


def test_many_are_reviewed_at_once_and_answered_in_order(reviewer: Traceline) -> None:
    first, second, third = (reviewer.suggested_pair()["id"] for _ in range(3))
    ok(reviewer.post(f"/suggestions/{second}/reject"))
    ids = [third, UNKNOWN, second, first, third]
    body = {"action": "accept", "ids": ids, "feedback": "All fine", "link_type": "verifies"}
    answers = ok(reviewer.post("/suggestions/bulk-review", json=body))["items"]
    assert [answer["id"] for answer in answers] == ids
    assert reviewer.read(f"/suggestions/{second}")["status"] == "rejected"
    for id_ in (first, third):
        suggestion = reviewer.read(f"/suggestions/{id_}")
        assert (suggestion["status"], suggestion["feedback"]) == ("accepted", "All fine")
        (link,) = links_of(reviewer, suggestion)
        assert (link["link_type"], link["link_source"]) == ("verifies", "ai_confirmed")

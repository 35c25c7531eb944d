"""Many clients want the same thing at the same moment: one gets it, and nothing is left half done."""

from collections import Counter
from functools import partial

import httpx

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem, requirement
from acceptance.faults.at_once import Ask, at_once
from acceptance.faults.databases import query
from acceptance.faults.draining import drained
from acceptance.faults.invariants import Hold
from acceptance.faults.invariants.feed_reading import feed
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

ROUNDS = 4
"""Of races that each may end otherwise."""


def test_of_fifty_who_accept_one_suggestion_one_does(stack: RunningStack, admin: Traceline, hold: Hold) -> None:
    reviewer = admin.new_user("reviewer")
    suggestion = reviewer.suggested_pair()
    answers = at_once(reviewer, [accept(suggestion["id"])] * 50)
    accepted = one_review(answers)
    hold()
    assert accepted["status"] == "accepted"
    reviewed_once(stack, reviewer, suggestion["id"], "accepted")
    assert [link["id"] for link in links_of(reviewer, suggestion)] == [accepted["link_id"]]


def test_of_fifty_who_accept_or_reject_one_suggestion_one_does(
    stack: RunningStack, admin: Traceline, hold: Hold
) -> None:
    reviewer = admin.new_user("reviewer")
    outcomes = Counter[str]()
    for _ in range(ROUNDS):
        suggestion = reviewer.suggested_pair()
        answers = at_once(reviewer, [accept(suggestion["id"]), reject(suggestion["id"])] * 25)
        reviewed = one_review(answers)
        outcomes[reviewed["status"]] += 1
        drained(stack)
        reviewed_once(stack, reviewer, suggestion["id"], reviewed["status"])
        links = [link["id"] for link in links_of(reviewer, suggestion)]
        assert links == ([reviewed["link_id"]] if reviewed["status"] == "accepted" else [])
    print(dict(outcomes))
    hold()


def test_of_a_hundred_who_create_one_external_id_one_does(admin: Traceline, hold: Hold) -> None:
    body = requirement(external_id=texts.word())
    answers = at_once(admin, [lambda user: user.post("/requirements", json=body)] * 100)
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 99}
    for answer in answers:
        if answer.status_code == 409:
            problem(answer, 409, "external_id_taken")
    (stored,) = admin.items("/requirements", search=body["external_id"])
    assert [stored["id"]] == [answer.json()["id"] for answer in answers if answer.status_code == 201]
    hold()


def test_of_a_hundred_with_one_idempotency_key_all_get_the_same(admin: Traceline, hold: Hold) -> None:
    body = requirement()
    key = {"Idempotency-Key": texts.word()}
    answers = at_once(admin, [lambda user: user.post("/requirements", json=body, headers=key)] * 100)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    hold()


def test_what_is_linked_while_it_goes_leaves_no_orphans(admin: Traceline, hold: Hold) -> None:
    """Half of the test cases match too, so that suggestions are made, and accepted, while their requirement goes."""
    reviewer = admin.new_user("reviewer")
    for _ in range(ROUNDS):
        text = {"title": texts.words(4), "description": texts.words(8)}
        matching = [reviewer.create_test_case(**text) for _ in range(5)]
        going = reviewer.create_requirement(**text)
        found = eventually(partial(suggested, reviewer, going), "its suggestions")
        others = [reviewer.create_test_case() for _ in range(5)]
        answers = at_once(
            reviewer,
            [
                *(link(going["id"], other["id"]) for other in others),
                delete(going["id"]),
                *(accept(suggestion["id"]) for suggestion in found),
                *(change(one["id"]) for one in matching),
            ],
        )
        assert answers[len(others)].status_code == 204
        assert {answer.status_code for answer in answers} <= {200, 201, 204, 404}
        assert reviewer.items("/links", requirement_id=going["id"]) == []
    hold()
    assert all(suggestion["requirement_id"] != going["id"] for suggestion in reviewer.items("/suggestions", limit=500))


def accept(suggestion_id: str) -> Ask:
    return lambda user: user.post(f"/suggestions/{suggestion_id}/accept")


def reject(suggestion_id: str) -> Ask:
    return lambda user: user.post(f"/suggestions/{suggestion_id}/reject")


def link(requirement_id: str, test_case_id: str) -> Ask:
    return lambda user: user.post("/links", json={"requirement_id": requirement_id, "test_case_id": test_case_id})


def delete(requirement_id: str) -> Ask:
    return lambda user: user.delete(f"/requirements/{requirement_id}")


def change(test_case_id: str) -> Ask:
    return lambda user: user.patch(f"/test-cases/{test_case_id}", json={"preconditions": texts.words(3)})


def suggested(user: Traceline, going: Json) -> list[Json]:
    found = user.items("/suggestions", requirement_id=going["id"], status="pending")
    return found if len(found) == 5 else []


def one_review(answers: list[httpx.Response]) -> Json:
    """The one review; everybody else was told that it is done already."""
    (reviewed,) = [ok(answer) for answer in answers if answer.status_code == 200]
    for answer in answers:
        if answer.status_code != 200:
            problem(answer, 409, "suggestion_not_pending")
    return reviewed


def reviewed_once(stack: RunningStack, reviewer: Traceline, suggestion_id: str, status: str) -> None:
    """One event tells of it, and one notification."""
    told = [event.data["suggestion"] for event in feed(stack, "suggestion") if "reviewed" in event.type]
    assert [one["status"] for one in told if one["id"] == suggestion_id] == [status]
    sent = query(
        stack, "notification", "SELECT user_id FROM notifications WHERE data->>'suggestion_id' = %s", [suggestion_id]
    )
    assert [row["user_id"] for row in sent] == [reviewer.me()["id"]]


def links_of(user: Traceline, suggestion: Json) -> list[Json]:
    return user.items("/links", requirement_id=suggestion["requirement_id"], test_case_id=suggestion["test_case_id"])

"""Reviews that are undone: pending again, without the link, and told."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from acceptance.callers import in_one_process
from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

pytestmark = [in_one_process, pytest.mark.requirement("TL-SUGG-4")]


@pytest.fixture
def suggestion(reviewer: Traceline) -> Json:
    return reviewer.suggested_pair()


def pair_of(suggestion: Json) -> dict[str, str]:
    return {name: suggestion[name] for name in ("requirement_id", "test_case_id")}


def links_of(user: Traceline, suggestion: Json) -> list[Json]:
    return user.items("/links", **pair_of(suggestion))


def assert_same(reopened: Json, before: Json) -> None:
    """Check that a suggestion is as it was, but for its score, which items of other tests may have changed."""
    of_score = {"similarity_score", "relevance", "suggestion_metadata"}
    assert {name for name in before if reopened[name] != before[name]} <= of_score


@pytest.mark.parametrize("action", ["accept", "reject"])
def test_a_review_is_undone_by_another_reviewer_and_told(
    admin: Traceline, reviewer: Traceline, suggestion: Json, action: str
) -> None:
    path = f"/suggestions/{suggestion['id']}"
    reviewed = ok(reviewer.post(f"{path}/{action}", json={"feedback": "Too quickly"}))
    other = admin.new_user("reviewer")
    assert_same(ok(other.post(f"{path}/reopen")), suggestion)
    assert links_of(reviewer, suggestion) == []
    reviewer.generate()
    assert reviewer.suggestions_for(**pair_of(suggestion)) == [suggestion], "no second suggestion of the pair"
    problem(other.post(f"{path}/reopen"), 409, "suggestion_not_reviewed")
    problem(other.post(f"/suggestions/reviews/{reviewed['review_id']}/undo"), 409, "review_undone")
    (entry,) = eventually(
        lambda: admin.items("/audit-log", resource_id=suggestion["id"], action="suggestion.reopened"), "the audit entry"
    )
    emails = other.me()["email"], reviewer.me()["email"]
    assert entry["actor"] == emails[0]
    assert entry["changes"]["reviewed_by"] == {"before": emails[1], "after": None}
    assert all(email in entry["summary"] for email in emails)
    assert entry["summary"] in [line["summary"] for line in reviewer.items("/activity", limit=100)]
    (told,) = eventually(lambda: other.items("/notifications", type="suggestion_reviewed"), "the notification")
    assert (told["title"], told["data"]["suggestion_ids"]) == ("1 suggestion reopened", [suggestion["id"]])
    accepted = ok(reviewer.post(f"{path}/accept"))
    assert accepted["review_id"] != reviewed["review_id"]
    assert [link["id"] for link in links_of(reviewer, suggestion)] == [accepted["link_id"]]


def test_a_bulk_review_is_undone_but_for_what_was_touched(admin: Traceline, reviewer: Traceline) -> None:
    suggestions = [reviewer.suggested_pair() for _ in range(4)]
    ids = [suggestion["id"] for suggestion in suggestions]
    reviewed = ok(reviewer.post("/suggestions/bulk-review", json={"action": "accept", "ids": ids}))
    links = [reviewer.read(f"/suggestions/{id_}")["link_id"] for id_ in ids]
    ok(reviewer.patch(f"/links/{links[0]}", json={"notes": "Agreed"}))
    ok(reviewer.post(f"/links/{links[1]}/confirm"))
    ok(reviewer.post(f"/suggestions/{ids[2]}/reopen"))
    undone = ok(reviewer.post(f"/suggestions/reviews/{reviewed['review_id']}/undo"))
    assert [(item["id"], item["status"], item["code"], item["link_id"]) for item in undone["items"]] == [
        (ids[0], "error", "link_changed", links[0]),
        (ids[1], "error", "link_changed", links[1]),
        (ids[2], "error", "suggestion_not_reviewed", None),
        (ids[3], "pending", None, None),
    ]
    assert (undone["reopened"], undone["failed"]) == (1, 3)
    assert [len(links_of(reviewer, suggestion)) for suggestion in suggestions] == [1, 1, 0, 0]
    problem(reviewer.post(f"/suggestions/{ids[0]}/reopen"), 409, "link_changed")
    assert reviewer.delete(f"/links/{links[0]}").status_code == 204
    assert_same(ok(reviewer.post(f"/suggestions/{ids[0]}/reopen")), suggestions[0])


def test_a_bulk_review_is_one_line_of_activity_and_found_by_each_suggestion(
    admin: Traceline, reviewer: Traceline
) -> None:
    ids = [reviewer.suggested_pair()["id"] for _ in range(3)]
    reviewed = ok(reviewer.post("/suggestions/bulk-review", json={"action": "reject", "ids": ids}))
    undone = ok(reviewer.post(f"/suggestions/reviews/{reviewed['review_id']}/undo"))
    assert undone["reopened"] == 3
    for id_ in ids:
        reopened, rejected = eventually(
            lambda id_=id_: (found := admin.items("/audit-log", resource_id=id_))[1:] and found,  # type: ignore[misc]
            "both entries of a suggestion",
        )
        assert (rejected["action"], reopened["action"]) == ("suggestion.rejected", "suggestion.reopened")
        assert rejected["resource_ids"] == reopened["resource_ids"] == ids
        assert rejected["details"]["review_id"] == reopened["details"]["review_id"] == reviewed["review_id"]


def test_a_pair_that_was_linked_meanwhile_stays_rejected(reviewer: Traceline, suggestion: Json) -> None:
    ok(reviewer.post(f"/suggestions/{suggestion['id']}/reject"))
    link = reviewer.create_link(**pair_of(suggestion))
    refused = problem(reviewer.post(f"/suggestions/{suggestion['id']}/reopen"), 409, "link_exists")
    assert refused["link_id"] == link["id"]
    assert reviewer.read(f"/suggestions/{suggestion['id']}")["status"] == "rejected"


@pytest.mark.parametrize("side", ["requirements", "test-cases"])
def test_an_item_that_has_just_been_deleted_leaves_nothing_to_undo(
    reviewer: Traceline, suggestion: Json, side: str
) -> None:
    accepted = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))
    item_id = suggestion["requirement_id" if side == "requirements" else "test_case_id"]
    assert reviewer.delete(f"/{side}/{item_id}").status_code == 204
    problem(reviewer.post(f"/suggestions/{suggestion['id']}/reopen"), 404, "suggestion_not_found")
    path = f"/suggestions/reviews/{accepted['review_id']}/undo"
    eventually(lambda: reviewer.post(path).status_code, "nothing is left of the review", equals=409)


def test_undoing_and_changing_the_link_at_once_end_in_one_of_the_two(reviewer: Traceline) -> None:
    for suggestion in [reviewer.suggested_pair() for _ in range(4)]:
        link_id = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))["link_id"]
        with ThreadPoolExecutor(3) as pool:
            patched = pool.submit(reviewer.patch, f"/links/{link_id}", json={"notes": "Mine"})
            undone = [pool.submit(reviewer.post, f"/suggestions/{suggestion['id']}/reopen") for _ in range(2)]
        statuses = sorted(answer.result().status_code for answer in undone)
        status = reviewer.read(f"/suggestions/{suggestion['id']}")["status"]
        if patched.result().status_code == 200:
            assert (statuses, status) == ([409, 409], "accepted")
        else:
            assert patched.result().status_code == 404
            assert (statuses, status) == ([200, 409], "pending")
        assert len(links_of(reviewer, suggestion)) == (status == "accepted")

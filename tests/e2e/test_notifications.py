"""Notifications: to whom they go, and how they are read."""

import json

import httpx
import pytest

from acceptance.client import PASSWORD, Json, Traceline, ok, problem, requirement
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-NOTE-1")


@pytest.fixture
def somebody(admin: Traceline) -> Traceline:
    """A reviewer who has done nothing yet."""
    return admin.new_user("reviewer")


def notifications(user: Traceline, kind: str) -> list[Json]:
    return [item for item in user.items("/notifications") if item["type"] == kind]


def test_creating_an_item_notifies_whoever_did_it(somebody: Traceline, reviewer: Traceline) -> None:
    assert somebody.read("/notifications")["items"] == []
    requirement, test_case = somebody.create_requirement(), somebody.create_test_case()
    for kind, item in (("requirement_created", requirement), ("test_case_created", test_case)):
        (found,) = eventually(lambda kind=kind: notifications(somebody, kind), f"a {kind}")  # type: ignore[misc]
        assert item["id"] in json.dumps(found["data"])
        assert (found["read"], found["read_at"]) == (False, None)
        assert item["id"] not in json.dumps(reviewer.read("/notifications", limit=100)["items"])


def test_what_somebody_does_in_the_page_is_no_news_to_them(somebody: Traceline) -> None:
    email = somebody.me()["email"]
    with httpx.Client(base_url=somebody.base_url, headers={"Origin": somebody.base_url}, timeout=60) as page:
        ok(page.post("/session", json={"email": email, "password": PASSWORD}))
        seen = ok(page.post("/api/v1/requirements", json=requirement()), 201)
    sent = somebody.create_requirement()
    found = eventually(
        lambda: len(told := notifications(somebody, "requirement_created")) == 2 and told, "both notifications"
    )
    assert {one["data"]["requirement_id"]: one["read"] for one in found} == {seen["id"]: True, sent["id"]: False}
    assert somebody.unread_count() == 1


def test_a_run_is_one_notification_and_a_review_another(admin: Traceline, somebody: Traceline) -> None:
    author = admin.new_user("reviewer")
    for _ in range(3):
        requirement, test_case = author.create_pair()
    somebody.generate()
    (suggestion,) = somebody.suggestions_for(requirement["id"], test_case["id"])
    ok(somebody.post(f"/suggestions/{suggestion['id']}/accept"))
    (reviewed,) = eventually(lambda: notifications(somebody, "suggestion_reviewed"), "a suggestion_reviewed")
    assert suggestion["id"] in json.dumps(reviewed["data"])
    eventually(lambda: notifications(somebody, "suggestions_generated"), "a suggestions_generated")
    somebody.create_requirement()
    eventually(lambda: notifications(somebody, "requirement_created"), "what comes after it")
    assert len(notifications(somebody, "suggestions_generated")) == 1


def test_notifications_are_read_one_by_one_or_at_once_by_whom_they_are_for(
    somebody: Traceline, admin: Traceline
) -> None:
    for _ in range(3):
        somebody.create_requirement()
    eventually(lambda: len(notifications(somebody, "requirement_created")), "the notifications", equals=3)
    first, second, third = somebody.items("/notifications", limit=2)
    assert [one["created_at"] for one in (first, second, third)] == sorted(
        (one["created_at"] for one in (first, second, third)), reverse=True
    )
    for method, item in (("POST", first), ("PATCH", second), ("POST", second)):
        problem(admin.request(method, f"/notifications/{item['id']}/read"), 404)
        read = ok(somebody.request(method, f"/notifications/{item['id']}/read"))
        assert (read["id"], read["read"]) == (item["id"], True)
    assert somebody.unread_count() == 1
    page = somebody.read("/notifications", unread_only="true")
    assert ([item["id"] for item in page["items"]], page["unread_count"]) == ([third["id"]], 1)

    ok(admin.patch(f"/users/{somebody.me()['id']}", json={"role": "viewer"}))
    eventually(lambda: somebody.post("/requirements", json={}).status_code, "the end of the old role", equals=403)
    for marked in (1, 0):
        assert ok(somebody.post("/notifications/mark-all-read")) == {"marked": marked}
    assert somebody.unread_count() == 0

"""Notifications: to whom they go, and how they are read."""

import json

import pytest

from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

UNKNOWN = 2**31 - 1


@pytest.fixture
def somebody(admin: Traceline) -> Traceline:
    """A reviewer who has done nothing yet."""
    return admin.new_user("reviewer")


def notifications(user: Traceline, kind: str) -> list[Json]:
    return [item for item in user.items("/notifications") if item["type"] == kind]


def with_notifications(user: Traceline, count: int) -> Traceline:
    """Let the user create that many requirements, and wait for the notifications about them."""
    for _ in range(count):
        user.create_requirement()
    eventually(lambda: len(notifications(user, "requirement_created")) == count, "the notifications")
    return user


def test_who_has_done_nothing_has_no_notifications(somebody: Traceline) -> None:
    page = somebody.read("/notifications")
    assert (page["items"], page["total"], page["unread_count"]) == ([], 0, 0)
    assert (page["skip"], page["limit"]) == (0, 20)
    assert somebody.unread_count() == 0


def test_creating_an_item_notifies_whoever_did_it(somebody: Traceline, reviewer: Traceline) -> None:
    requirement, test_case = somebody.create_requirement(), somebody.create_test_case()
    for kind, item in (("requirement_created", requirement), ("test_case_created", test_case)):
        (found,) = eventually(lambda kind=kind: notifications(somebody, kind), f"a {kind}")  # type: ignore[misc]
        assert item["id"] in json.dumps(found["data"])
        assert found["title"]
        assert found["message"]
        assert (found["read"], found["read_at"]) == (False, None)
        assert found["created_at"].endswith("Z")
        assert item["id"] not in json.dumps(reviewer.read("/notifications", limit=100)["items"])


def test_generating_and_reviewing_notify_whoever_did_it(somebody: Traceline) -> None:
    suggestion = somebody.suggested_pair()
    ok(somebody.post(f"/suggestions/{suggestion['id']}/accept"))
    (reviewed,) = eventually(lambda: notifications(somebody, "suggestion_reviewed"), "a suggestion_reviewed")
    assert suggestion["id"] in json.dumps(reviewed["data"])
    assert eventually(lambda: notifications(somebody, "suggestions_generated"), "a suggestions_generated")


def test_a_generation_over_everything_is_one_notification(admin: Traceline, somebody: Traceline) -> None:
    author = admin.new_user("reviewer")
    for _ in range(3):
        author.create_pair()
    somebody.generate()
    eventually(lambda: notifications(somebody, "suggestions_generated"), "a suggestions_generated")
    somebody.create_requirement()
    eventually(lambda: notifications(somebody, "requirement_created"), "what comes after it")
    assert len(notifications(somebody, "suggestions_generated")) == 1


def test_the_newest_notifications_come_first(somebody: Traceline) -> None:
    times = [item["created_at"] for item in with_notifications(somebody, 3).items("/notifications")]
    assert times == sorted(times, reverse=True)


def test_a_notification_is_read_one_by_one(somebody: Traceline) -> None:
    first, second, third = with_notifications(somebody, 3).items("/notifications")
    assert somebody.unread_count() == 3
    for method, item in (("POST", first), ("PATCH", second), ("POST", second)):
        read = ok(somebody.request(method, f"/notifications/{item['id']}/read"))
        assert (read["id"], read["read"]) == (item["id"], True)
        assert read["read_at"].endswith("Z")
    assert somebody.unread_count() == 1
    page = somebody.read("/notifications", unread_only="true")
    assert [item["id"] for item in page["items"]] == [third["id"]]
    assert (page["total"], page["unread_count"]) == (1, 1)
    page = somebody.read("/notifications")
    assert (page["total"], page["unread_count"]) == (3, 1)


def test_all_notifications_are_read_at_once(somebody: Traceline) -> None:
    with_notifications(somebody, 3)
    assert ok(somebody.post("/notifications/mark-all-read")) == {"marked": 3}
    assert somebody.unread_count() == 0
    assert somebody.items("/notifications", unread_only="true") == []
    assert ok(somebody.post("/notifications/mark-all-read")) == {"marked": 0}


def test_somebody_elses_notification_is_not_found(somebody: Traceline, admin: Traceline) -> None:
    (mine,) = with_notifications(somebody, 1).items("/notifications")
    problem(admin.post(f"/notifications/{mine['id']}/read"), 404)
    problem(admin.patch(f"/notifications/{mine['id']}/read"), 404)
    assert somebody.unread_count() == 1
    problem(somebody.post(f"/notifications/{UNKNOWN}/read"), 404)


def test_notifications_come_in_pages(somebody: Traceline) -> None:
    with_notifications(somebody, 5)
    pages = list(somebody.pages("/notifications", limit=2))
    assert [len(page["items"]) for page in pages] == [2, 2, 1]
    assert {page["total"] for page in pages} == {5}
    assert len({item["id"] for page in pages for item in page["items"]}) == 5


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 101}, {"skip": -1}, {"unread_only": "perhaps"}])
def test_a_page_out_of_range_is_refused(viewer: Traceline, params: dict[str, object]) -> None:
    problem(viewer.get("/notifications", params=params), 422, field=next(iter(params)))
    assert viewer.read("/notifications", limit=100)["limit"] == 100


def test_a_viewer_has_notifications_of_their_own_too(admin: Traceline) -> None:
    user = with_notifications(admin.new_user("reviewer"), 1)
    ok(admin.patch(f"/users/{user.me()['id']}", json={"role": "viewer"}))
    eventually(lambda: user.post("/requirements", json={}).status_code == 403, "the end of the old role")
    assert user.unread_count() == 1
    (mine,) = user.items("/notifications")
    ok(user.post(f"/notifications/{mine['id']}/read"))
    assert ok(user.post("/notifications/mark-all-read")) == {"marked": 0}

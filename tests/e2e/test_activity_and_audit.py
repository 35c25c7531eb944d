"""Who did what: the activity for everybody, the audit log for admins."""

import json

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, created, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-REPT-4")


def audit(admin: Traceline, count: int, **filters: object) -> list[Json]:
    """The entries that the filters select, as soon as there are ``count`` of them; newest first."""

    def enough() -> list[Json] | None:
        found = admin.items("/audit-log", **filters)
        return found if len(found) >= count else None

    entries = eventually(enough, f"{count} audit entries of {filters}")
    assert len(entries) == count, entries
    return entries


def test_every_change_of_an_item_is_in_the_audit_log_once(admin: Traceline, reviewer: Traceline) -> None:
    made = reviewer.create_requirement(title="Old title")
    ok(reviewer.patch(f"/requirements/{made['id']}", json={"title": "New title", "priority": "low"}))
    assert reviewer.delete(f"/requirements/{made['id']}").status_code == 204
    deleted, updated, inserted = audit(admin, 3, resource_id=made["id"])
    for entry, action in ((inserted, "created"), (updated, "updated"), (deleted, "deleted")):
        assert entry["action"] == f"requirement.{action}"
        assert (entry["resource_type"], entry["resource_id"]) == ("requirement", made["id"])
        assert entry["actor"] == reviewer.me()["email"]
        assert entry["occurred_at"].endswith("Z")
    changes = updated["changes"]
    assert changes["title"] == {"before": "Old title", "after": "New title"}
    assert changes["priority"] == {"before": "medium", "after": "low"}
    assert "description" not in changes, "only what has changed"
    assert inserted["changes"]["title"] == {"before": None, "after": "Old title"}
    assert deleted["changes"]["title"] == {"before": "New title", "after": None}


def test_a_failed_login_is_in_the_audit_log(admin: Traceline) -> None:
    admin = admin.within(None)  # where accounts are told of
    user = created(admin.register(texts.email()))
    problem(admin.with_token(None).login(user["email"], "wrong guess"), 401)
    entries = eventually(
        lambda: [
            entry
            for entry in admin.read("/audit-log", limit=100)["items"]
            if user["email"] in json.dumps(entry) and "login" in entry["action"]
        ],
        "the failed login",
    )
    assert any("fail" in entry["action"] for entry in entries)
    assert "wrong guess" not in json.dumps(entries)


def test_a_changed_user_is_in_the_audit_log_without_any_password(admin: Traceline) -> None:
    admin = admin.within(None)  # where accounts are told of
    user = created(admin.register(texts.email()))
    ok(admin.patch(f"/users/{user['id']}", json={"role": "reviewer"}))
    updated, inserted = audit(admin, 2, resource_type="user", resource_id=str(user["id"]))
    assert updated["changes"] == {"role": {"before": "viewer", "after": "reviewer"}}
    assert updated["actor"] == admin.me()["email"]
    for secret in (PASSWORD, "argon2", "password_hash"):
        assert secret not in json.dumps([updated, inserted])


def test_links_and_reviews_are_in_the_audit_log(admin: Traceline, reviewer: Traceline) -> None:
    suggestion = reviewer.suggested_pair()
    link_id = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))["link_id"]
    assert reviewer.delete(f"/links/{link_id}").status_code == 204
    deleted, inserted = audit(admin, 2, resource_id=link_id)
    assert ("deleted" in deleted["action"], "created" in inserted["action"]) == (True, True)
    entries = eventually(
        lambda: [
            entry
            for entry in admin.items("/audit-log", resource_type="suggestion", resource_id=suggestion["id"])
            if "accept" in json.dumps(entry)
        ],
        "the accepted suggestion",
    )
    assert len(entries) == 1


def test_the_activity_shows_who_did_what_to_which_item(viewer: Traceline, admin: Traceline) -> None:
    user = admin.new_user("reviewer")
    requirement = user.create_requirement()
    link = user.create_link(requirement["id"], user.create_test_case()["id"])

    def mine() -> list[str]:
        entries = viewer.read("/activity", limit=100)["items"]
        return [text for entry in entries if user.me()["email"] in (text := json.dumps(entry))]

    entries = eventually(lambda: found if len(found := mine()) >= 3 else None, "the activity")
    assert link["id"] in entries[0], "the newest comes first"
    assert any(requirement["id"] in entry and requirement["title"] in entry for entry in entries)


def test_the_activity_keeps_what_is_for_admins_to_itself(viewer: Traceline, admin: Traceline) -> None:
    viewer, admin = viewer.within(None), admin.within(None)  # where accounts are told of
    victim = created(admin.register(texts.email()))
    problem(admin.with_token(None).login(victim["email"], "wrong guess"), 401)
    audit(admin, 1, resource_type="user", resource_id=str(victim["id"]))
    assert "login" not in json.dumps(viewer.read("/activity", limit=100)["items"])

"""The audit log has every change, who made it and its fields before and after; only admins read it."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import pytest

from chassis.core.identity import Role
from chassis.messaging.events import Actor
from contracts import auth, catalog, suggestion
from testing import factories

if TYPE_CHECKING:
    from conftest import World

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
REVIEW_ID = UUID("c9a1f0de-52c4-4d0b-9a2f-7f1f0c6f5d21")


async def only(world: "World") -> dict[str, Any]:
    [entry] = await world.audit_log()
    return entry


async def test_a_created_requirement_is_kept_with_its_fields(world: "World") -> None:
    item = factories.requirement()
    await world.tell(
        catalog.RequirementCreated(requirement=item), at=NOON, request_id="request-7", gateway_request_id="g-7"
    )
    entry = await only(world)
    assert entry.pop("id") > 0
    assert entry == {
        "occurred_at": "2026-01-31T12:00:00Z",
        "actor": "ana@example.com",
        "actor_id": 1,
        "action": "requirement.created",
        "resource_type": "requirement",
        "resource_id": str(item.id),
        "resource_title": "Lock the account",
        "summary": "ana@example.com created the requirement REQ-1 “Lock the account”.",
        "changes": {
            "external_id": {"before": None, "after": "REQ-1"},
            "title": {"before": None, "after": "Lock the account"},
            "description": {"before": None, "after": "After five failures."},
            "type": {"before": None, "after": "functional"},
            "priority": {"before": None, "after": "high"},
            "status": {"before": None, "after": "draft"},
            "tags": {"before": None, "after": ["login"]},
            "custom_metadata": {"before": None, "after": {"origin": {"page": 7}}},
            "created_by": {"before": None, "after": "ana@example.com"},
            "version": {"before": None, "after": 1},
        },
        "details": {"version": 1},
        "request_id": "request-7",
        "gateway_request_id": "g-7",
        "resource_ids": None,
    }


async def test_an_update_is_kept_with_the_changed_fields_before_and_after(world: "World") -> None:
    changes = {"title": {"before": "Old", "after": "New"}, "module": {"before": "login", "after": None}}
    await world.tell(catalog.TestCaseUpdated(test_case=factories.test_case(title="New"), changes=changes))
    entry = await only(world)
    assert entry["action"] == "test_case.updated"
    assert entry["summary"] == "ana@example.com changed title and module of the test case “New”."
    assert entry["changes"] == changes


async def test_a_deletion_keeps_what_was_deleted(world: "World") -> None:
    await world.tell(catalog.TestCaseDeleted(test_case=factories.test_case()))
    entry = await only(world)
    assert entry["action"] == "test_case.deleted"
    assert entry["changes"]["steps"] == {"before": {"1": "Fail.", "2": "Repeat."}, "after": None}


async def test_links_are_kept_with_both_ends(world: "World") -> None:
    link = factories.link()
    confirmed = {"confirmed_at": {"before": None, "after": "2026-01-31T12:00:00Z"}}
    await world.tell(
        catalog.LinkCreated(link=link),
        catalog.LinkUpdated(link=link, changes=confirmed),
        catalog.LinkDeleted(link=link),
    )
    deleted, updated, created = await world.audit_log()
    assert [entry["action"] for entry in (created, updated, deleted)] == [
        "link.created",
        "link.confirmed",
        "link.deleted",
    ]
    assert updated["summary"] == (
        "ana@example.com confirmed the link between REQ-1 “Lock the account” and TC-7 “Fail five times”."
    )
    assert created["resource_title"] == "REQ-1 Lock the account ↔ TC-7 Fail five times"
    assert created["changes"]["link_type"] == {"before": None, "after": "covers"}
    assert created["details"] == {
        "requirement_id": str(link.requirement_id),
        "test_case_id": str(link.test_case_id),
    }


async def test_relations_are_kept_with_both_requirements_and_belong_to_the_activity_of_each(world: "World") -> None:
    relation = factories.relation()
    confirmed = {"confirmed_at": {"before": None, "after": "2026-01-31T12:00:00Z"}}
    await world.tell(
        catalog.RelationCreated(relation=relation),
        catalog.RelationUpdated(relation=relation, changes=confirmed),
        catalog.RelationDeleted(relation=relation),
    )
    deleted, updated, created = await world.audit_log()
    assert [entry["action"] for entry in (created, updated, deleted)] == [
        "relation.created",
        "relation.confirmed",
        "relation.deleted",
    ]
    assert updated["summary"] == (
        "ana@example.com confirmed the relation from REQ-2 “Lock the account” up to “Accounts are safe”."
    )
    assert created["resource_title"] == "REQ-2 Lock the account ↑ Accounts are safe"
    assert created["changes"]["relation_type"] == {"before": None, "after": "refines"}
    assert created["details"] == {"child_id": str(relation.child_id), "parent_id": str(relation.parent_id)}
    for one in (relation.child_id, relation.parent_id):
        assert (await world.read("/activity", item_id=str(one)))["total"] == 3


async def test_times_end_in_z_also_where_they_were_kept_otherwise(world: "World") -> None:
    at = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
    await world.tell(catalog.LinkCreated(link=factories.link(confirmed_at=at, notes="2026-01-31T12:00:00+00:00")))
    shown = {"before": None, "after": "2026-01-31T12:00:00.123456Z"}
    for _ in ("as it is kept today", "as it was kept"):
        [entry] = await world.audit_log()
        assert entry["changes"]["confirmed_at"] == shown
        assert entry["changes"]["notes"]["after"] == "2026-01-31T12:00:00+00:00", "a text is nobody's time"
        await world.rows(
            "UPDATE audit_entries SET after = replace(after::text, '.123456Z', '.123456+00:00')::json RETURNING id"
        )


def bulk(reviewed: list[suggestion.ReviewedSuggestion]) -> suggestion.SuggestionsBulkReviewed:
    return suggestion.SuggestionsBulkReviewed(
        action="reject", suggestions=reviewed, review_id=REVIEW_ID, feedback="Too weak."
    )


async def test_a_bulk_review_is_one_entry_that_each_suggestion_finds(world: "World") -> None:
    reviewed = [factories.reviewed("rejected") for number in range(3)]
    await world.tell(bulk(reviewed), suggestion.SuggestionReviewed(suggestion=factories.reviewed()))
    (entry,) = await world.audit_log(action="suggestion.rejected")
    assert entry["resource_id"] is None
    assert entry["resource_ids"] == [str(one.id) for one in reviewed]
    assert entry["summary"] == "ana@example.com rejected 3 suggestions at once."
    assert entry["changes"] == {"status": {"before": "pending", "after": "rejected"}}
    assert entry["details"] == {"review_id": str(REVIEW_ID), "feedback": "Too weak."}
    for one in reviewed:
        assert await world.audit_log(resource_id=str(one.id)) == [entry]
    (other,) = await world.audit_log(resource_id=f"!{reviewed[1].id}")
    assert other["action"] == "suggestion.accepted"
    assert len((await world.read("/activity"))["items"]) == 2


async def test_a_bulk_review_of_one_suggestion_names_it(world: "World") -> None:
    reviewed = factories.reviewed("rejected", feedback=None)
    await world.tell(bulk([reviewed]))
    entry = await only(world)
    assert (entry["resource_id"], entry["resource_ids"]) == (str(reviewed.id), None)
    assert entry["resource_title"] == "REQ-1 Lock the account ↔ Fail five times"
    assert (entry["details"]["feedback"], entry["details"]["similarity_score"]) == ("Too weak.", 0.734512)


async def test_an_undone_review_is_kept_with_both_people(world: "World") -> None:
    one, *more = [factories.reopened() for _ in range(3)]
    await world.tell(suggestion.SuggestionsReopened(suggestions=[one]))
    await world.tell(suggestion.SuggestionsReopened(suggestions=more))
    several, single = await world.audit_log(action="suggestion.reopened")
    assert single["resource_id"] == str(one.id)
    assert single["summary"] == (
        "ana@example.com reopened the suggestion to link REQ-1 “Lock the account” and “Fail five times”, which"
        " kim@example.com had accepted."
    )
    assert single["changes"]["status"] == {"before": "accepted", "after": "pending"}
    assert single["changes"]["reviewed_by"] == {"before": "kim@example.com", "after": None}
    assert single["changes"]["link_id"] == {"before": str(one.link_id), "after": None}
    assert several["resource_ids"] == [str(other.id) for other in more]
    assert several["summary"] == "ana@example.com reopened 2 suggestions, which kim@example.com had accepted."
    assert several["details"] == {"review_id": str(one.review_id)}


async def test_expiry_is_one_entry_by_the_system(world: "World") -> None:
    ids = [factories.reviewed().id for _ in range(3)]
    for some in (ids[:1], ids[1:]):
        expired = suggestion.SuggestionsExpired(suggestion_ids=some, reason="Pending for 30 days.")
        await world.tell(expired, by=world.system)
    several, single = await world.audit_log(action="suggestion.expired")
    assert (single["resource_id"], single["resource_ids"]) == (str(ids[0]), None)
    assert (several["resource_id"], several["resource_ids"]) == (None, [str(one) for one in ids[1:]])
    assert single["summary"] == "A suggestion expired: Pending for 30 days."
    assert several["summary"] == "2 suggestions expired: Pending for 30 days."
    assert {(entry["actor"], entry["actor_id"]) for entry in (single, several)} == {("system", None)}


async def test_runs_generated_suggestions_and_coverage_are_kept(world: "World") -> None:
    run = factories.run_finished(status="failed", error="Out of memory")
    news = factories.item_suggestions_generated()
    await world.tell(
        run, news, factories.item_suggestions_generated(suggestions_created=0), factories.coverage_dropped()
    )
    drop, found, failed = await world.audit_log()
    assert (failed["action"], failed["resource_id"]) == ("run.failed", str(run.run_id))
    assert failed["details"]["error"] == "Out of memory"
    assert (found["action"], found["resource_id"]) == ("suggestion.generated", None)
    assert found["details"]["requirement_id"] == str(news.item_id)
    assert found["details"]["suggestions_created"] == 3
    assert (drop["action"], drop["resource_type"], drop["resource_id"]) == (
        "coverage.dropped",
        "coverage",
        None,
    )
    assert drop["details"]["coverage"] == 0.79999


async def test_failures_that_are_accepted_and_tests_that_are_retired_are_kept_and_notified_to_nobody(
    world: "World",
) -> None:
    accepted, at = factories.accepted_failure(), NOON
    tests = [catalog.RetiredTest(id=id_, name=f"tests.t{id_}", lanes=["main, ci"], test_case_ids=[]) for id_ in (1, 2)]
    await world.tell(
        catalog.AcceptedFailureCreated(accepted_failure=accepted),
        catalog.AcceptedFailureEnded(accepted_failure=accepted, ended_at=at, ended_because="no_longer_needed"),
        catalog.AcceptedFailureEnded(accepted_failure=accepted, ended_at=at, ended_because="person"),
        catalog.AutomatedTestsRetired(note="The door is gone.", tests=tests[:1]),
        catalog.AutomatedTestsRetired(note="The door is gone.", tests=tests),
    )
    several, single, by_person, by_itself, created = await world.audit_log()
    assert created["summary"] == (
        "ana@example.com accepted that the test tests.doors.close fails, until 2026-12-24: The supplier mends it."
    )
    assert created["changes"]["reason"] == {"before": None, "after": "The supplier mends it."}
    assert created["resource_id"] == by_itself["resource_id"] == str(accepted.id)
    assert "no longer needed" in by_itself["summary"]
    assert by_itself["changes"]["ended_because"] == {"before": None, "after": "no_longer_needed"}
    assert by_person["summary"] == "ana@example.com no longer accepts that the test tests.doors.close fails."
    assert (single["resource_id"], single["resource_title"]) == ("1", "tests.t1")
    assert single["summary"] == "ana@example.com retired the test tests.t1: The door is gone."
    assert single["changes"]["note"] == {"before": None, "after": "The door is gone."}
    assert several["summary"] == "ana@example.com retired 2 tests: The door is gone."
    assert several["resource_ids"] == ["1", "2"]
    assert await world.rows("SELECT id FROM notifications") == []


async def test_accounts_are_kept_without_any_secret(world: "World") -> None:
    user = factories.user(world.ben, "reviewer")
    changes = {
        "role": {"before": "viewer", "after": "reviewer"},
        "password_hash": {"before": "$argon2id$old", "after": "$argon2id$new"},
    }
    await world.tell(
        auth.UserCreated(user=factories.user(world.ben)),
        auth.UserUpdated(user=user, changes=changes),
        auth.PasswordChanged(user=user),
    )
    await world.tell(
        auth.TokenEnded(user_id=2, token_id="the-token-id", expires_at=NOON),
        by=world.ben,
    )
    logged_out, password, updated, created = await world.audit_log()
    assert created["action"] == "user.created"
    assert created["changes"]["email"] == {"before": None, "after": "ben@example.com"}
    assert updated["action"] == "user.updated"
    assert updated["changes"] == {"role": {"before": "viewer", "after": "reviewer"}}
    assert updated["summary"] == "ana@example.com changed role of the account ben@example.com."
    assert (password["action"], password["changes"]) == ("user.password_changed", {})
    assert (logged_out["action"], logged_out["resource_id"]) == ("user.logged_out", "2")
    stored = str(await world.rows("SELECT * FROM audit_entries"))
    assert "argon2id" not in stored
    assert "the-token-id" not in stored


async def test_invitations_and_resets_are_kept_with_whom_they_were_for(world: "World") -> None:
    user = factories.user(world.ben, "reviewer")
    await world.tell(
        auth.InvitationMade(invitation_id=5, email=user.email, role="viewer", project="DOOR", expires_at=NOON),
        auth.InvitationAccepted(invitation_id=5, email=user.email, user_id=user.id),
        auth.InvitationRevoked(invitation_id=6, email="eve@example.com"),
        auth.PasswordResetOffered(user_id=user.id, email=user.email, expires_at=NOON),
        auth.PasswordReset(user=user, way="operator"),
    )
    kept = [(entry["action"], entry["summary"]) for entry in reversed(await world.audit_log())]
    assert kept == [
        ("user.invited", "ana@example.com invited ben@example.com as viewer in the project DOOR."),
        ("user.invitation_accepted", "ben@example.com accepted an invitation."),
        ("user.invitation_revoked", "ana@example.com revoked the invitation of eve@example.com."),
        ("user.password_reset_offered", "ana@example.com made a link by which ben@example.com chooses a new password."),
        ("user.password_reset", "An operator gave the account ben@example.com a new password."),
    ]


async def test_a_failed_log_in_is_kept_under_the_email_that_was_tried(world: "World") -> None:
    failed = auth.LoginFailed(email="Mallory@example.com", address="192.0.2.7", reason="invalid_credentials")
    await world.tell(failed, by=world.system)
    [entry] = await world.audit_log(actor="mallory@example.com")
    assert (entry["action"], entry["actor_id"], entry["resource_id"]) == ("user.login_failed", None, None)
    assert entry["details"] == {"address": "192.0.2.7", "reason": "invalid_credentials"}


async def test_a_log_in_and_a_wrong_current_password_are_kept_with_their_address(world: "World") -> None:
    began = {"session_id": "s1", "way": "password", "address": "192.0.2.7", "agent": "curl/8"}
    refused = auth.LoginFailed(email="ben@example.com", address="192.0.2.7", reason=auth.WRONG_CURRENT_PASSWORD)
    await world.tell(auth.LoginSucceeded(user_id=world.ben.id, **began), by=world.ben)
    await world.tell(refused, by=world.system)
    change, log_in = await world.audit_log(actor="ben@example.com")
    assert (log_in["action"], log_in["resource_id"], log_in["details"]) == ("user.logged_in", str(world.ben.id), began)
    assert log_in["summary"] == "ben@example.com logged in from 192.0.2.7 with a password."
    assert change["action"] == "user.current_password_wrong"
    assert change["summary"] == (
        "The session of ben@example.com was asked for the current password and gave a wrong one from 192.0.2.7."
    )


def requests(**told: Any) -> dict[str, Any]:
    """What the events of requests have in common."""
    asked = {"requests": ("GET /api/v1/exports?format=csv",), "count": 1, "since": NOON}
    known = {"session_id": "s1", "api_token_id": None, "project": None}
    return {"address": "192.0.2.7", "agent": "curl/8", **asked, **known, **told}


@pytest.mark.parametrize(
    ("event", "action", "resource", "summary"),
    [
        (
            auth.AccessRefused(**requests(status=401, reason="ended_token")),
            "user.access_refused",
            ("user", "1"),
            "1 request of ana@example.com from 192.0.2.7 was refused (ended_token).",
        ),
        (
            auth.AccessRefused(**requests(status=403, reason="role_too_low", project="MAIN", count=12)),
            "project.access_refused",
            ("project", "MAIN"),
            "12 requests of ana@example.com from 192.0.2.7 were refused (role_too_low).",
        ),
        (
            auth.AccessRefused(**requests(status=429, reason="rate_limited", count=40)),
            "user.throttled",
            ("user", "1"),
            "40 requests of ana@example.com from 192.0.2.7 were held up (rate_limited).",
        ),
        (
            auth.DataRead(**requests(what="export", project="MAIN")),
            "project.exported",
            ("project", "MAIN"),
            "ana@example.com exported GET /api/v1/exports?format=csv from 192.0.2.7.",
        ),
        (
            auth.DataRead(**requests(what="audit_log", project="MAIN", count=3)),
            "project.audit_log_read",
            ("project", "MAIN"),
            "ana@example.com read the audit log from 192.0.2.7 3 times.",
        ),
    ],
    ids=["a token", "a role", "too many", "an export", "the audit log"],
)
async def test_who_is_refused_and_who_takes_something_away_is_kept(
    world: "World", event: auth.AccessRefused, action: str, resource: tuple[str, str], summary: str
) -> None:
    await world.tell(event)
    entry = await only(world)
    assert (entry["action"], entry["summary"]) == (action, summary)
    assert (entry["resource_type"], entry["resource_id"]) == resource
    assert entry["details"].items() >= {"address": "192.0.2.7", "session_id": "s1", "agent": "curl/8"}.items()
    assert (await world.read("/activity"))["items"] == []


async def test_a_stranger_an_api_token_and_a_wrong_code_are_kept(world: "World") -> None:
    token = {"id": 3, "user_id": 1, "name": "ci", "scopes": ["read"], "projects": None}
    state = auth.ApiTokenState.model_validate({**token, "created_at": NOON, "expires_at": NOON})
    await world.tell(auth.ApiTokenUsedElsewhere(token=state, address="192.0.2.7", agent="curl/8"))
    wrong = auth.LoginFailed(email="ben@example.com", address="192.0.2.7", reason=auth.WRONG_CURRENT_CODE)
    nobody = requests(status=401, reason="no_token", session_id=None)
    await world.tell(wrong, auth.AccessRefused(**nobody), by=Actor(None, "anonymous"))
    refused, code, used = await world.audit_log()
    assert (refused["actor"], refused["resource_id"]) == ("anonymous", None)
    assert refused["summary"] == "1 request of somebody unknown from 192.0.2.7 was refused (no_token)."
    assert (code["action"], code["actor"]) == ("user.second_factor_wrong", "ben@example.com")
    assert code["summary"] == "The session of ben@example.com was asked for a code and gave a wrong one from 192.0.2.7."
    assert (used["action"], used["details"]["token_id"]) == ("user.api_token_used_elsewhere", 3)
    assert used["summary"] == "The API token “ci” of ana@example.com was used from 192.0.2.7, which is new."


@pytest.mark.parametrize("email", [auth.UNKNOWN, "sup3rs3cret!typedhere"], ids=["today", "told by older software"])
async def test_of_a_name_that_is_nobodys_only_its_hash_is_kept(world: "World", email: str) -> None:
    failed = auth.LoginFailed(email=email, address="192.0.2.7", reason="unknown_account", typed="8f14e45fceea167a")
    await world.tell(failed, by=world.system)
    [entry] = await world.audit_log(action="user.login_failed")
    assert (entry["actor"], entry["resource_title"]) == ("unknown", "unknown")
    assert entry["details"] == {"address": "192.0.2.7", "reason": "unknown_account", "typed": "8f14e45fceea167a"}
    assert "sup3rs3cret" not in str(await world.rows("SELECT * FROM audit_entries"))


async def test_filters_take_alternatives_and_exclusions(world: "World") -> None:
    item = factories.requirement()
    await world.tell(catalog.RequirementCreated(requirement=item))
    await world.tell(catalog.TestCaseCreated(test_case=factories.test_case()), by=world.ben)
    await world.tell(factories.coverage_dropped(), by=world.system)

    async def actions(**query: str) -> list[str]:
        return [entry["action"] for entry in await world.audit_log(**query)]

    assert await actions(actor="Ana@example.com") == ["requirement.created"]
    assert await actions(actor="!ana@example.com") == ["coverage.dropped", "test_case.created"]
    assert await actions(action="requirement.created,test_case.created") == [
        "test_case.created",
        "requirement.created",
    ]
    assert await actions(action="!coverage.dropped", actor="system") == []
    assert await actions(resource_type="requirement") == ["requirement.created"]
    assert await actions(resource_id=str(item.id)) == ["requirement.created"]
    assert await actions(resource_id=f"!{item.id}") == ["coverage.dropped", "test_case.created"]
    assert await actions(resource_id='""') == ["coverage.dropped"]
    assert await actions(resource_id='!""') == ["test_case.created", "requirement.created"]
    assert await actions(actor='"Ana@example.com"') == ["requirement.created"]
    assert await actions(actor="nobody@example.com") == []


async def test_since_and_until_bound_the_time(world: "World") -> None:
    for hour in range(3):
        created = catalog.RequirementCreated(requirement=factories.requirement(title=f"At {hour}"))
        await world.tell(created, at=NOON + timedelta(hours=hour))

    async def found(**query: str) -> list[str]:
        return [entry["resource_title"] for entry in await world.audit_log(**query)]

    assert await found(since="2026-01-31T13:00:00Z") == ["At 2", "At 1"]
    assert await found(until="2026-01-31T13:00:00Z") == ["At 0"]
    assert await found(since="2026-01-31", until="2026-02-01") == ["At 2", "At 1", "At 0"]
    assert await found(until="2026-01-31") == []
    assert await found(since="2026-01-31T14:00:00.000+01:00", until="2026-01-31T13:00:00.001Z") == ["At 1"]


@pytest.mark.parametrize(
    "query",
    [
        "since=yesterday",
        "since=1700000000",
        "since=2026-01",
        "since=2026-01-31T12:00:00",
        "until=2026-02-30T12:00:00Z",
        "until=0000-01-01T00:00:00Z",
        "until=2026-01-31T12:00:00%2B99:00",
        "until=2026-01-31&since=2026-01-31T00:00:00.000001Z",
        "until=2026-01-31&since=2026-01-31",
        "action=requirement.eaten",
        "resource_type=cake",
        "limit=501",
        "skip=-1",
    ],
)
async def test_a_filter_that_means_nothing_is_refused_by_name(world: "World", query: str) -> None:
    response = await world.ask("GET", f"/audit-log?{query}", role=Role.ADMIN)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == f"/query/{query.partition('=')[0]}"


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59+23:59", "2026-01-31t12:00:00.123456789z"]
)
async def test_the_edges_of_time_are_answered(world: "World", moment: str) -> None:
    for name in ("since", "until"):
        response = await world.ask("GET", f"/audit-log?{name}={quote(moment)}", role=Role.ADMIN)
        assert response.status_code == 200, response.text


async def test_the_log_is_newest_first_and_pages_do_not_overlap(world: "World") -> None:
    items = [factories.requirement(title=f"Item {number}") for number in range(5)]
    await world.tell(*(catalog.RequirementCreated(requirement=item) for item in items), at=NOON)
    pages = [await world.read("/audit-log", role=Role.ADMIN, skip=skip, limit=2) for skip in (0, 2, 4)]
    assert [entry["resource_title"] for page in pages for entry in page["items"]] == [
        f"Item {number}" for number in (4, 3, 2, 1, 0)
    ]
    assert {page["total"] for page in pages} == {5}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
async def test_only_admins_read_the_log(world: "World", role: Role) -> None:
    assert (await world.ask("GET", "/audit-log", role=role)).status_code == 403


async def test_the_log_is_taken_away_as_a_file_with_all_that_the_filters_find(world: "World") -> None:
    await world.tell(*(catalog.RequirementCreated(requirement=factories.requirement()) for _ in range(405)))
    await world.tell(catalog.TestCaseDeleted(test_case=factories.test_case(title="=1+1")))
    entries = [
        *await world.audit_log(limit=400),
        *await world.audit_log(limit=400, skip=400),
    ]
    path = "/audit-log/export"
    lines = await world.ask("GET", path, role=Role.ADMIN, params={"format": "ndjson"})
    assert lines.headers["content-disposition"].startswith('attachment; filename="audit-log-')
    assert [json.loads(line) for line in lines.text.splitlines()] == entries
    table = await world.ask("GET", path, role=Role.ADMIN)
    rows = list(csv.DictReader(io.StringIO(table.text.removeprefix("\ufeff"), newline=""), strict=True))
    assert [(int(row["id"]), row["action"], row["resource_id"]) for row in rows] == [
        (one["id"], one["action"], one["resource_id"]) for one in entries
    ]
    assert json.loads(rows[-1]["changes"]) == entries[-1]["changes"]
    assert rows[0]["resource_title"] == "'=1+1", "no cell is a formula"
    deleted = await world.ask("GET", path, role=Role.ADMIN, params={"format": "ndjson", "action": "test_case.deleted"})
    assert [json.loads(line) for line in deleted.text.splitlines()] == [entries[0]]
    assert (await world.ask("GET", path, role=Role.ADMIN, params={"action": "no"})).status_code == 422
    assert (await world.ask("GET", path, role=Role.REVIEWER)).status_code == 403

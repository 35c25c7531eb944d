"""Activity shows everybody who did what to which item lately, and nothing about accounts."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from chassis.db import sealing
from contracts import auth, catalog, suggestion
from notification_service.audit_keeping import remove
from testing import factories

if TYPE_CHECKING:
    from conftest import World


async def test_work_on_items_is_shown_newest_first_as_sentences(world: "World") -> None:
    item = factories.requirement()
    await world.tell(catalog.RequirementCreated(requirement=item))
    await world.tell(suggestion.SuggestionReviewed(suggestion=factories.reviewed()), by=world.ben)
    await world.tell(factories.run_finished(), factories.coverage_dropped())

    page = await world.read("/activity")

    assert page["total"] == 4
    assert [entry["summary"] for entry in page["items"]] == [
        "Coverage fell to 79.9%, below the threshold of 80%.",
        "ana@example.com had suggestions generated for the whole record; the run found 12 new suggestions.",
        "ben@example.com accepted the suggestion to link REQ-1 “Lock the account” and “Fail five times”.",
        "ana@example.com created the requirement REQ-1 “Lock the account”.",
    ]
    oldest = page["items"][-1]
    assert (oldest["actor"], oldest["action"]) == ("ana@example.com", "requirement.created")
    assert (oldest["resource_type"], oldest["resource_id"]) == ("requirement", str(item.id))
    assert "changes" not in oldest


async def test_accounts_and_log_ins_are_not_shown(world: "World") -> None:
    user = factories.user(world.ben)
    await world.tell(
        auth.UserCreated(user=user),
        auth.UserUpdated(user=user, changes={"role": {"before": "viewer", "after": "admin"}}),
        auth.PasswordChanged(user=user),
        auth.TokenEnded(user_id=2, token_id="t", expires_at=datetime.now(UTC)),
        auth.LoginFailed(email="x@example.com", address="192.0.2.7", reason="invalid_credentials"),
    )
    assert len(await world.audit_log()) == 5
    page = await world.read("/activity")
    assert (page["items"], page["total"]) == ([], 0)


async def test_days_bound_how_far_back_it_goes(world: "World") -> None:
    now = datetime.now(UTC)
    for days in (1, 6, 8, 89):
        created = catalog.RequirementCreated(requirement=factories.requirement(title=f"{days} days ago"))
        await world.tell(created, at=now - timedelta(days=days))
    assert (await world.read("/activity"))["total"] == 2
    assert (await world.read("/activity", days=90))["total"] == 4
    page = await world.read("/activity", days=90, skip=1, limit=2)
    assert [entry["resource_title"] for entry in page["items"]] == ["6 days ago", "8 days ago"]


@pytest.mark.parametrize("days", ["0", "91", "-1", "week"])
async def test_days_out_of_range_are_refused(world: "World", days: str) -> None:
    response = await world.ask("GET", f"/activity?days={days}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/days"


async def test_activity_is_narrowed_by_who_did_what_to_which_item(world: "World") -> None:
    item = factories.requirement()
    await world.tell(
        catalog.RequirementCreated(requirement=item), catalog.TestCaseCreated(test_case=factories.test_case())
    )
    await world.tell(catalog.RequirementDeleted(requirement=item), by=world.ben)
    await world.tell(auth.UserCreated(user=factories.user(world.ben)), by=world.ben)

    async def found(**query: object) -> tuple[int, list[str]]:
        page = await world.read("/activity", **query)
        return page["total"], [entry["action"] for entry in page["items"]]

    assert await found(actor="BEN@example.com") == (1, ["requirement.deleted"])
    assert await found(action="requirement.created,test_case.created", actor="!ben@example.com", limit=1) == (
        2,
        ["test_case.created"],
    )
    assert await found(resource_type="test_case") == (1, ["test_case.created"])
    assert await found(resource_id=str(item.id)) == (2, ["requirement.deleted", "requirement.created"])
    assert await found(resource_type="user") == (0, [])
    for wrong in ("action=eaten", "resource_type=cake"):
        assert (await world.ask("GET", f"/activity?{wrong}")).status_code == 422


async def test_activity_of_an_item_counts_back_to_the_day(world: "World") -> None:
    item = factories.requirement()
    for days in (1, 8):
        await world.tell(catalog.RequirementCreated(requirement=item), at=datetime.now(UTC) - timedelta(days=days))
    assert (await world.read("/activity", resource_id=str(item.id)))["total"] == 1
    assert (await world.read("/activity", resource_id=str(item.id), days=9))["total"] == 2


async def test_activity_of_an_item_is_whatever_happened_to_it_its_links_and_suggestions(world: "World") -> None:
    item, other = factories.requirement(), factories.requirement()
    mine = {"requirement_id": item.id}
    link, import_id = factories.link(**mine), uuid4()
    long_ago = datetime.now(UTC) - timedelta(days=800)
    await world.tell(catalog.RequirementCreated(requirement=item), batch_id=import_id, at=long_ago)
    await world.tell(
        catalog.ImportApplied(
            import_id=import_id, format="csv", file_name="a.csv", sha256="a", counts={}, suggest=True
        ),
        batch_id=import_id,
        at=long_ago,
    )
    await world.tell(catalog.RequirementCreated(requirement=other), factories.run_finished())
    await world.tell(
        suggestion.SuggestionReviewed(suggestion=factories.reviewed(**mine)), catalog.LinkCreated(link=link)
    )
    await world.tell(
        catalog.LinkUpdated(link=link, changes={"confirmed_at": catalog.Change(before=None, after="2026-01-31")})
    )
    await world.tell(catalog.LinkDeleted(link=link))
    many = [factories.reviewed(**mine), factories.reviewed()]
    await world.tell(suggestion.SuggestionsBulkReviewed(action="accept", suggestions=many))
    await world.tell(suggestion.SuggestionsReopened(suggestions=[factories.reopened(**mine), factories.reopened()]))
    await world.tell(factories.item_suggestions_generated(item_id=item.id, suggestions_created=2))

    page = await world.read("/activity", item_id=str(item.id))

    assert [(one["action"], one["resource_type"]) for one in page["items"]] == [
        ("suggestion.generated", "suggestion"),
        ("suggestion.reopened", "suggestion"),
        ("suggestion.accepted", "suggestion"),
        ("link.deleted", "link"),
        ("link.confirmed", "link"),
        ("link.created", "link"),
        ("suggestion.accepted", "suggestion"),
        ("import.applied", "import"),
        ("requirement.created", "requirement"),
    ]
    assert (page["total"], page["kept_since"]) == (9, None)
    assert (await world.read("/activity", item_id=str(item.id), days=90))["total"] == 7
    assert (await world.read("/activity", item_id=str(many[1].test_case_id)))["total"] == 1
    refused = await world.ask("GET", "/activity?item_id=REQ-1")
    assert refused.json()["errors"][0]["pointer"] == "/query/item_id"


async def test_activity_says_since_when_it_is_kept(world: "World") -> None:
    for days in (200, 100, 1):
        created = catalog.RequirementCreated(requirement=factories.requirement())
        await world.tell(created, at=datetime.now(UTC) - timedelta(days=days))
    await sealing.seal_some(world.database)
    await remove(world.database, "remove_audit_entries_before", datetime.now(UTC) - timedelta(days=150))
    page = await world.read("/activity", days=90)
    assert (page["total"], page["kept_since"][:10]) == (1, f"{datetime.now(UTC) - timedelta(days=100):%Y-%m-%d}")

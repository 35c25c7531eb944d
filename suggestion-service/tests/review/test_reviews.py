"""Accepting and rejecting: one review wins, one link exists, and nothing stays half done."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from chassis.core.identity import Identity, Role
from suggestion_service.review import acceptance
from suggestion_service.store import accept_intents

PUMP = "the pump stops when the tank is full"


@pytest.fixture
async def suggestion(service: Any) -> dict[str, Any]:
    return dict(await service.pair(PUMP))


async def test_accepting_makes_the_link_with_the_suggestions_score(service: Any, catalog: Any, suggestion: Any) -> None:
    accepted = await service.post(
        f"/suggestions/{suggestion['id']}/accept", {"feedback": "Clear", "link_type": "verifies"}
    )
    (link,) = catalog.links.values()
    assert accepted == suggestion | {
        "status": "accepted",
        "feedback": "Clear",
        "reviewed_by": "reviewer@example.test",
        "reviewed_at": accepted["reviewed_at"],
        "link_id": str(link["id"]),
        "review_id": accepted["review_id"],
    }
    assert accepted["reviewed_at"].endswith("Z")
    assert UUID(accepted["review_id"])
    ((put,),) = catalog.puts
    assert put == {
        "suggestion_id": suggestion["id"],
        "requirement_id": suggestion["requirement_id"],
        "test_case_id": suggestion["test_case_id"],
        "link_type": "verifies",
        "confidence_score": suggestion["similarity_score"],
        "notes": "Clear",
        "actor": {"id": 1, "email": "reviewer@example.test"},
        "review_id": accepted["review_id"],
        "link_id": None,
    }
    (event,) = await service.events("suggestion.suggestion.reviewed")
    assert (event["actor"], event["actorid"]) == ("reviewer@example.test", 1)
    assert event["data"]["suggestion"]["status"] == "accepted"
    assert event["data"]["suggestion"]["link_id"] == str(link["id"])
    assert event["data"]["suggestion"]["requirement_title"] == PUMP
    names = suggestion["requirement"]["external_id"], suggestion["test_case"]["external_id"]
    told = event["data"]["suggestion"]
    assert (told["requirement_external_id"], told["test_case_external_id"]) == names
    assert event["data"]["review_id"] == accepted["review_id"]


@pytest.mark.parametrize("finished_later", [False, True])
async def test_events_say_what_somebody_did_in_the_page(
    service: Any, catalog: Any, suggestion: Any, *, finished_later: bool
) -> None:
    at_page = service.client(Identity(1, "reviewer@example.test", Role.REVIEWER, at_page=True))
    path = f"/suggestions/{suggestion['id']}"
    for action, name in (("accept", "suggestion.reviewed"), ("reopen", "suggestions.reopened"), ("reject", "")):
        catalog.answers_with = 503 if finished_later and name else None
        await at_page.post(f"{path}/{action}")
        catalog.answers_with = None
        await service.reconcile()
        if name:
            (event,) = await service.events(f"suggestion.{name}")
        else:
            _, event = await service.events("suggestion.suggestion.reviewed")
        assert (event["actorid"], event["atpage"]) == (1, True)


async def test_the_event_of_its_own_link_leaves_an_accepted_suggestion_alone(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    """It may come before the acceptance is stored, and after."""
    catalog.caller_dies = True
    with pytest.raises(asyncio.CancelledError):
        await service.post(f"/suggestions/{suggestion['id']}/accept")
    catalog.caller_dies = False
    await service.follow()
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "pending"
    await service.reconcile()
    accepted = await service.read(f"/suggestions/{suggestion['id']}")
    assert accepted["status"] == "accepted"
    await service.follow()
    assert await service.read(f"/suggestions/{suggestion['id']}") == accepted
    assert len(await service.events("suggestion.suggestion.reviewed")) == 1
    assert await service.events("suggestion.suggestions.expired") == []


@pytest.mark.parametrize("body", [None, {}, {"feedback": None}])
async def test_a_body_is_optional(service: Any, catalog: Any, suggestion: Any, body: Any) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/accept", body)
    assert catalog.puts[0][0]["link_type"] == "covers"
    other = await service.pair("a lamp burns in the hall")
    assert (await service.post(f"/suggestions/{other['id']}/reject", body))["feedback"] is None


async def test_rejecting_makes_no_link(service: Any, catalog: Any, suggestion: Any) -> None:
    feedback = "Another pump. " * 10_000
    rejected = await service.post(f"/suggestions/{suggestion['id']}/reject", {"feedback": feedback})
    assert (rejected["status"], rejected["feedback"], rejected["link_id"]) == ("rejected", feedback, None)
    assert rejected["reviewed_by"] == "reviewer@example.test"
    assert catalog.puts == []
    (event,) = await service.events("suggestion.suggestion.reviewed")
    assert event["data"]["suggestion"]["status"] == "rejected"


@pytest.mark.parametrize("first", ["accept", "reject"])
@pytest.mark.parametrize("second", ["accept", "reject"])
async def test_a_second_review_is_refused(service: Any, catalog: Any, suggestion: Any, first: str, second: str) -> None:
    answer = await service.post(f"/suggestions/{suggestion['id']}/{first}")
    refused = await service.post(f"/suggestions/{suggestion['id']}/{second}", status=409)
    assert refused["code"] == "suggestion_not_pending"
    assert f"reviewer@example.test {answer['status']} it on {answer['reviewed_at'][:10]} at" in refused["detail"]
    assert refused["suggestion_status"] == answer["status"]
    assert [refused[name] for name in ("reviewed_by", "reviewed_at", "link_id")] == [
        answer[name] for name in ("reviewed_by", "reviewed_at", "link_id")
    ]
    assert await service.read(f"/suggestions/{suggestion['id']}") == answer
    assert len(catalog.puts) == (first == "accept")


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("accept", {"link_type": "guesses"}),
        ("accept", {"feedback": 5}),
        ("accept", {"feeback": "a typing error"}),
        ("reject", {"feedback": []}),
        ("reject", {"link_type": "covers"}),
    ],
)
async def test_a_wrong_body_reviews_nothing(service: Any, suggestion: Any, action: str, body: Any) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/{action}", body, status=422)
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "pending"


@pytest.mark.parametrize("turn", range(3))
async def test_of_50_reviews_at_once_one_wins(service: Any, catalog: Any, suggestion: Any, turn: int) -> None:
    actions = ["accept", "reject"] * 25
    answers = await asyncio.gather(
        *(service.http.post(f"/suggestions/{suggestion['id']}/{action}") for action in actions)
    )
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 49}
    (winner,) = (action for action, answer in zip(actions, answers, strict=True) if answer.status_code == 200)
    end = await service.read(f"/suggestions/{suggestion['id']}")
    assert end["status"] == f"{winner}ed"
    assert len(catalog.links) == (winner == "accept")
    assert len(await service.events("suggestion.suggestion.reviewed")) == 1
    assert await service.rows("SELECT * FROM accept_intents") == []


async def test_an_acceptance_that_was_lost_with_an_older_backup_is_taken_up_again(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    pair = UUID(suggestion["requirement"]["id"]), UUID(suggestion["test_case"]["id"])
    link = catalog.link(*pair, UUID(suggestion["id"]))
    await service.follow()
    await service.reconcile()
    accepted = await service.read(f"/suggestions/{suggestion['id']}")
    assert (accepted["status"], accepted["link_id"]) == ("accepted", str(link["id"]))
    assert len(await service.events("suggestion.suggestion.reviewed")) == 1
    assert len(catalog.links) == 1


async def test_a_reject_that_waited_for_an_acceptance_to_begin_is_refused(
    service: Any, suggestion: Any, eventually: Any
) -> None:
    other = Identity(id=9, email="other@example.test", role=Role.REVIEWER)
    intent = acceptance.new_acceptance(other, None, "covers", timedelta(0))
    async with service.database.transaction() as connection:
        assert len(await accept_intents.begin(connection, [UUID(suggestion["id"])], intent)) == 1
        rejecting = asyncio.create_task(service.http.post(f"/suggestions/{suggestion['id']}/reject"))
        await eventually(lambda: service.rows("SELECT FROM pg_locks WHERE NOT granted"))
    refused = await rejecting
    assert (refused.status_code, refused.json()["suggestion_status"]) == (409, "accepting")
    assert "other@example.test is accepting it right now" in refused.json()["detail"]
    await service.reconcile()
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "accepted"


async def test_a_crash_after_the_link_was_made_is_finished_by_the_reconciler(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    catalog.caller_dies = True
    with pytest.raises(asyncio.CancelledError):
        await service.http.post(f"/suggestions/{suggestion['id']}/accept", json={"feedback": "Clear"})
    catalog.caller_dies = False

    assert len(catalog.links) == 1
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "pending"
    for action in ("accept", "reject"):
        refused = await service.post(f"/suggestions/{suggestion['id']}/{action}", status=409)
        assert refused["code"] == "suggestion_not_pending"

    await service.follow()
    await service.reconcile()
    await service.reconcile()
    (link,) = catalog.links.values()
    accepted = await service.read(f"/suggestions/{suggestion['id']}")
    assert (accepted["status"], accepted["feedback"], accepted["link_id"]) == ("accepted", "Clear", str(link["id"]))
    assert accepted["reviewed_by"] == "reviewer@example.test"
    (event,) = await service.events("suggestion.suggestion.reviewed")
    assert event["actor"] == "reviewer@example.test"


async def test_an_acceptance_is_finished_later_when_catalog_is_away(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    catalog.answers_with = 503
    response = await service.http.post(f"/suggestions/{suggestion['id']}/accept")
    assert response.status_code == 503
    assert "retry-after" in response.headers
    await service.reconcile()
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "pending"
    catalog.answers_with = None
    await service.reconcile()
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["status"] == "accepted"
    assert len(catalog.links) == 1


async def test_the_reconciler_leaves_alone_what_has_just_begun(service: Any, catalog: Any, suggestion: Any) -> None:
    catalog.answers_with = 503
    await service.http.post(f"/suggestions/{suggestion['id']}/accept")
    catalog.answers_with = None
    before = len(catalog.puts)
    await acceptance.reconcile(service.database, service.peer)
    assert len(catalog.puts) == before


async def test_a_pair_that_was_linked_meanwhile_leaves_the_queue(service: Any, catalog: Any, suggestion: Any) -> None:
    catalog.link(*catalog.items)
    refused = await service.post(f"/suggestions/{suggestion['id']}/accept", status=409)
    assert refused["code"] == "link_exists"
    expired = await service.read(f"/suggestions/{suggestion['id']}")
    assert (expired["status"], expired["link_id"]) == ("expired", None)
    assert "already exists" in expired["feedback"]
    assert await service.rows("SELECT * FROM accept_intents") == []
    (event,) = await service.events("suggestion.suggestions.expired")
    assert event["data"]["suggestion_ids"] == [suggestion["id"]]


async def test_a_pair_whose_item_is_gone_is_not_found(service: Any, catalog: Any, suggestion: Any) -> None:
    catalog.items.clear()
    await service.post(f"/suggestions/{suggestion['id']}/accept", status=404)
    assert await service.suggestions() == []
    assert await service.rows("SELECT * FROM accept_intents") == []


async def test_a_direct_link_takes_the_pair_out_of_the_queue(service: Any, catalog: Any, suggestion: Any) -> None:
    other = await service.pair("a lamp burns in the hall")
    catalog.link(*list(catalog.items)[:2])
    await service.follow()
    await service.follow()
    expired = await service.read(f"/suggestions/{suggestion['id']}")
    assert (expired["status"], expired["feedback"]) == (
        "expired",
        "The requirement and the test case were linked directly.",
    )
    assert [found["id"] for found in await service.suggestions()] == [other["id"]]
    (event,) = await service.events("suggestion.suggestions.expired")
    assert event["actor"] == "author@example.test"
    assert event["data"] == {"suggestion_ids": [suggestion["id"]], "reason": expired["feedback"]}


async def test_an_item_deleted_during_an_acceptance_takes_the_intent_with_it(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    catalog.answers_with = 503
    await service.http.post(f"/suggestions/{suggestion['id']}/accept")
    catalog.delete(next(iter(catalog.items)))
    await service.follow()
    assert await service.rows("SELECT * FROM accept_intents") == []
    assert (await service.http.get(f"/suggestions/{suggestion['id']}")).status_code == 404


async def test_where_nothing_is_old_nobody_is_woken(service: Any, suggestion: Any) -> None:
    committed = service.database.commits.listener()
    committed.clear()
    await service.withdraw_old()
    assert not committed.is_set()


@pytest.mark.requirement("TL-SUGG-5")
async def test_only_what_has_been_pending_for_30_days_expires(service: Any, suggestion: Any) -> None:
    old, decided = await service.pair("a lamp burns in the hall"), await service.pair("the door closes at night")
    await service.post(f"/suggestions/{decided['id']}/reject")
    await service.rows("UPDATE suggestions SET created_at = now() - interval '30 days 1 minute'")
    await service.rows(
        "UPDATE suggestions SET created_at = now() - interval '29 days 23 hours' WHERE id = %s", suggestion["id"]
    )
    await service.withdraw_old()
    await service.withdraw_old()
    assert {found["id"]: found["status"] for found in await service.suggestions(status="pending,rejected,expired")} == {
        suggestion["id"]: "pending",
        old["id"]: "expired",
        decided["id"]: "rejected",
    }
    (event,) = await service.events("suggestion.suggestions.expired")
    assert event["actor"] == "system"
    assert event["data"]["suggestion_ids"] == [old["id"]]
    assert "30 days" in (await service.read(f"/suggestions/{old['id']}"))["feedback"]

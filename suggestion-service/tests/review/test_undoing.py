"""Undoing reviews: pending again as if nobody had reviewed it, once, and nothing stays half done."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from chassis.core.identity import Identity, Role
from suggestion_service.store import corpus_head, linked_pairs

UNKNOWN = "00000000-0000-4000-8000-000000000000"
PUMP = "the pump stops when the tank is full"
TEXTS = ("the pump stops at noon", "a lamp burns in the hall", "every door closes slowly", "two ladders lean outside")
OTHER = Identity(id=9, email="other@example.test", role=Role.REVIEWER)
TOLD = "suggestion.suggestions.reopened"


@pytest.fixture
async def suggestion(service: Any) -> dict[str, Any]:
    return dict(await service.pair(PUMP))


@pytest.fixture
async def queue(service: Any) -> list[str]:
    return [(await service.pair(text))["id"] for text in TEXTS]


async def read(service: Any, one: str) -> dict[str, Any]:
    return dict(await service.read(f"/suggestions/{one}"))


async def statuses(service: Any, ids: list[str]) -> list[str]:
    return [(await read(service, one))["status"] for one in ids]


async def bulk(service: Any, action: str, ids: list[str]) -> str:
    answer = await service.post("/suggestions/bulk-review", {"action": action, "ids": ids})
    return str(answer["review_id"])


@pytest.mark.parametrize("action", ["accept", "reject"])
@pytest.mark.parametrize("by", ["reopen", "undo"])
async def test_it_is_pending_as_if_it_had_not_been_reviewed(
    service: Any, catalog: Any, suggestion: Any, action: str, by: str
) -> None:
    path = f"/suggestions/{suggestion['id']}"
    reviewed = await service.post(f"{path}/{action}", {"feedback": "Too quickly"})
    other = service.client(OTHER)
    undone = f"{path}/reopen" if by == "reopen" else f"/suggestions/reviews/{reviewed['review_id']}/undo"
    response = await other.post(undone)
    assert response.status_code == 200, response.text
    if by == "reopen":
        assert response.json() == suggestion
    else:
        result = {"id": suggestion["id"], "status": "pending", "link_id": None, "code": None, "detail": None}
        assert response.json()["items"] == [result]
    assert await read(service, suggestion["id"]) == suggestion
    assert catalog.links == {}
    (event,) = await service.events(TOLD)
    assert event["actor"] == "other@example.test"
    (told,) = event["data"]["suggestions"]
    before = ("id", "status", "reviewed_by", "reviewed_at", "link_id", "review_id")
    assert {name: told[name] for name in before} == {name: reviewed[name] for name in before}
    for again in (undone, f"{path}/reopen"):
        assert (await service.http.post(again)).status_code == 409
    await service.follow()
    await service.score()
    assert await read(service, suggestion["id"]) == suggestion, "nothing is suggested or linked by what comes late"
    second = await service.post(f"{path}/accept")
    assert second["review_id"] != reviewed["review_id"]
    (link,) = catalog.links.values()
    assert second["link_id"] == str(link["id"]) != reviewed["link_id"]


async def test_a_bulk_review_is_undone_as_far_as_it_still_stands(service: Any, catalog: Any, queue: Any) -> None:
    before = [await read(service, one) for one in queue]
    review_id = await bulk(service, "accept", [queue[3], *queue[:3]])
    made = {one: (await read(service, one))["link_id"] for one in queue}
    catalog.touched.add(UUID(made[queue[2]]))
    await service.post(f"/suggestions/{queue[0]}/reopen")
    await service.post(f"/suggestions/{queue[1]}/reopen")
    await service.post(f"/suggestions/{queue[1]}/reject")
    answer = await service.post(f"/suggestions/reviews/{review_id}/undo")
    assert [(one["id"], one["status"], one["code"]) for one in answer["items"]] == [
        (queue[3], "pending", None),
        (queue[0], "error", "suggestion_not_reviewed"),
        (queue[1], "error", "suggestion_not_reviewed"),
        (queue[2], "error", "link_changed"),
    ]
    assert answer["items"][3]["link_id"] == made[queue[2]]
    assert (answer["total"], answer["reopened"], answer["failed"], answer["review_id"]) == (4, 1, 3, review_id)
    assert [await read(service, queue[0]), await read(service, queue[3])] == [before[0], before[3]]
    assert await statuses(service, queue) == ["pending", "rejected", "accepted", "pending"]
    events = await service.events(TOLD)
    assert [[one["id"] for one in event["data"]["suggestions"]] for event in events] == [
        [queue[0]],
        [queue[1]],
        [queue[3]],
    ]
    assert await service.rows("SELECT FROM undo_intents") == []
    catalog.touched.clear()
    assert (await service.post(f"/suggestions/reviews/{review_id}/undo"))["reopened"] == 1
    again = await service.post(f"/suggestions/reviews/{review_id}/undo", status=409)
    assert (again["code"], again["undone_by"]) == ("review_undone", "reviewer@example.test")
    assert "reviewer@example.test did so on" in again["detail"]


async def test_a_large_bulk_review_is_undone_by_few_calls_and_one_event(
    service: Any, catalog: Any, queue: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("suggestion_service.review.links._AT_ONCE", 3)
    review_id = await bulk(service, "reject", queue)
    answer = await service.post(f"/suggestions/reviews/{review_id}/undo")
    assert [one["id"] for one in answer["items"]] == queue
    assert [len(asked) for asked in catalog.undone] == [3, 1]
    (event,) = await service.events(TOLD)
    assert [one["id"] for one in event["data"]["suggestions"]] == queue
    assert await statuses(service, queue) == ["pending"] * 4


async def test_a_link_that_somebody_touched_stays(service: Any, catalog: Any, suggestion: Any) -> None:
    accepted = await service.post(f"/suggestions/{suggestion['id']}/accept")
    catalog.touched.add(UUID(accepted["link_id"]))
    for path in (f"{suggestion['id']}/reopen", f"reviews/{accepted['review_id']}/undo"):
        refused = await service.post(f"/suggestions/{path}", status=409)
        assert (refused["code"], refused["link_id"]) == ("link_changed", accepted["link_id"])
    assert await read(service, suggestion["id"]) == accepted
    assert len(catalog.links) == 1
    assert await service.rows("SELECT FROM undo_intents") == await service.events(TOLD) == []


async def test_a_pair_that_has_been_linked_meanwhile_stays_rejected(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    rejected = await service.post(f"/suggestions/{suggestion['id']}/reject")
    link = catalog.link(UUID(suggestion["requirement_id"]), UUID(suggestion["test_case_id"]))
    for path in (f"{suggestion['id']}/reopen", f"reviews/{rejected['review_id']}/undo"):
        refused = await service.post(f"/suggestions/{path}", status=409)
        assert (refused["code"], refused["link_id"]) == ("link_exists", str(link["id"]))
        assert str(link["id"]) in refused["detail"]
    assert await read(service, suggestion["id"]) == rejected


async def test_what_was_not_reviewed_cannot_be_reopened(service: Any, catalog: Any, queue: Any) -> None:
    await service.rows("UPDATE suggestions SET status = 'expired', feedback = 'Old.' WHERE id = %s", queue[1])
    catalog.answers_with = 503
    await service.post(f"/suggestions/{queue[2]}/accept", status=503)
    for one, status, word in (
        (queue[0], "pending", "pending"),
        (queue[1], "expired", "Old"),
        (queue[2], "accepting", "accepted right now"),
    ):
        refused = await service.post(f"/suggestions/{one}/reopen", status=409)
        assert (refused["code"], refused["suggestion_status"]) == ("suggestion_not_reviewed", status)
        assert word in refused["detail"]
    assert (await service.post(f"/suggestions/{UNKNOWN}/reopen", status=404))["code"] == "suggestion_not_found"
    assert (await service.post(f"/suggestions/reviews/{UNKNOWN}/undo", status=404))["code"] == "review_not_found"


async def test_a_review_can_be_undone_for_30_days(service: Any, catalog: Any, queue: Any) -> None:
    review_id = await bulk(service, "reject", queue[:2])
    await service.rows("UPDATE suggestions SET reviewed_at = now() - interval '30 days 1 minute'")
    for path in (f"/suggestions/{queue[0]}/reopen", f"/suggestions/reviews/{review_id}/undo"):
        refused = await service.post(path, status=409)
        assert refused["code"] == "too_late"
        assert "30 days" in refused["detail"]
    await service.rows("UPDATE suggestions SET reviewed_at = now() - interval '29 days 23 hours'")
    assert (await service.post(f"/suggestions/reviews/{review_id}/undo"))["reopened"] == 2


async def test_what_is_pending_again_is_not_old_at_once(service: Any, suggestion: Any) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/reject")
    await service.rows("UPDATE suggestions SET created_at = now() - interval '40 days'")
    await service.post(f"/suggestions/{suggestion['id']}/reopen")
    await service.withdraw_old()
    assert (await read(service, suggestion["id"]))["status"] == "pending"
    await service.rows("UPDATE suggestions SET pending_since = now() - interval '31 days'")
    await service.withdraw_old()
    assert (await read(service, suggestion["id"]))["status"] == "expired"


@pytest.mark.parametrize("action", ["accept", "reject"])
async def test_a_crash_after_the_link_is_gone_is_finished_by_the_reconciler(
    service: Any, catalog: Any, suggestion: Any, action: str
) -> None:
    reviewed = await service.post(f"/suggestions/{suggestion['id']}/{action}")
    catalog.caller_dies = True
    with pytest.raises(asyncio.CancelledError):
        await service.http.post(f"/suggestions/{suggestion['id']}/reopen")
    catalog.caller_dies = False
    assert catalog.links == {}
    assert await read(service, suggestion["id"]) == reviewed
    for path in (f"/suggestions/{suggestion['id']}/reopen", f"/suggestions/reviews/{reviewed['review_id']}/undo"):
        assert (await service.http.post(path)).status_code == 409
    await service.follow()
    await service.reconcile()
    await service.reconcile()
    assert await read(service, suggestion["id"]) == suggestion
    (event,) = await service.events(TOLD)
    assert event["actor"] == "reviewer@example.test"


async def test_what_catalog_cannot_be_asked_is_undone_later(service: Any, catalog: Any, queue: Any) -> None:
    review_id = await bulk(service, "accept", queue)
    catalog.answers_with = 503
    answer = await service.post(f"/suggestions/reviews/{review_id}/undo")
    assert {(one["status"], one["code"]) for one in answer["items"]} == {("error", "unavailable")}
    assert answer["message"] == "Nothing was undone: `items` tells why."
    assert (await service.post(f"/suggestions/{queue[0]}/reopen", status=409))["suggestion_status"] == "reopening"
    catalog.answers_with = None
    await service.reconcile()
    assert await statuses(service, queue) == ["pending"] * 4
    assert catalog.links == {}
    assert len(await service.events(TOLD)) == 1


async def test_meanwhile_nobody_suggests_the_pair_anew(service: Any, catalog: Any, suggestion: Any) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/reject")
    catalog.answers_with = 503
    await service.post(f"/suggestions/{suggestion['id']}/reopen", status=503)
    catalog.answers_with = None
    catalog.change(UUID(suggestion["requirement_id"]), title=f"{PUMP} slowly")
    await service.score()
    await service.generate()
    assert [found["id"] for found in await service.suggestions()] == [suggestion["id"]]
    await service.reconcile()
    await service.score()
    (found,) = await service.suggestions(status="pending")
    assert (found["id"], found["requirement"]["title"]) == (suggestion["id"], f"{PUMP} slowly")
    assert found["similarity_score"] < suggestion["similarity_score"], "the score is that of the text as it is now"


async def test_a_pair_that_was_suggested_anew_is_not_pending_twice(service: Any, catalog: Any, suggestion: Any) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/reject")
    catalog.change(UUID(suggestion["requirement_id"]), title=f"{PUMP} slowly")
    await service.score()
    (second,) = await service.suggestions(status="pending")
    refused = await service.post(f"/suggestions/{suggestion['id']}/reopen", status=409)
    assert (refused["code"], refused["suggestion_id"]) == ("suggested_again", second["id"])
    await service.post(f"/suggestions/{second['id']}/reject")
    assert "reopen that one" in (await service.post(f"/suggestions/{suggestion['id']}/reopen", status=409))["detail"]
    await service.post(f"/suggestions/{second['id']}/reopen")
    assert len(await service.suggestions(status="pending")) == 1


@pytest.mark.parametrize("action", ["accept", "reject"])
async def test_of_many_undos_at_once_one_wins(service: Any, catalog: Any, queue: Any, action: str) -> None:
    review_id = await bulk(service, action, queue)
    paths = [f"/suggestions/reviews/{review_id}/undo"] * 4 + [f"/suggestions/{queue[0]}/reopen"] * 4
    answers = await asyncio.gather(*(service.http.post(path) for path in paths))
    assert {answer.status_code for answer in answers} <= {200, 409}
    told = [one["id"] for event in await service.events(TOLD) for one in event["data"]["suggestions"]]
    assert sorted(told) == sorted(queue)
    assert await statuses(service, queue) == ["pending"] * 4
    assert catalog.links == {}


@pytest.mark.parametrize("side", ["requirement", "test_case"])
async def test_an_item_that_was_deleted_meanwhile_is_told(
    service: Any, catalog: Any, suggestion: Any, side: str
) -> None:
    other = await service.pair("a lamp burns in the hall")
    review_id = await bulk(service, "reject", [suggestion["id"], other["id"]])
    catalog.delete(UUID(suggestion[side]["id"]))
    problem = await service.post(f"/suggestions/{suggestion['id']}/reopen", status=404)
    assert problem["code"] == "suggestion_not_found"
    await service.follow()
    answer = await service.post(f"/suggestions/reviews/{review_id}/undo")
    assert [one["code"] for one in answer["items"]] == ["suggestion_not_found", None]


async def test_what_was_undone_is_not_accepted_again_by_an_older_backup(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    pair = UUID(suggestion["requirement_id"]), UUID(suggestion["test_case_id"])
    link = catalog.link(*pair, UUID(suggestion["id"]))
    del catalog.links[UUID(suggestion["id"])]
    await service.follow()
    await service.reconcile()
    assert (await read(service, suggestion["id"]))["status"] == "pending"
    assert catalog.links == {}
    catalog.unlink(link)
    await service.follow()
    assert await service.rows("SELECT FROM accept_intents") == []
    await service.post(f"/suggestions/{suggestion['id']}/accept")


async def test_events_of_an_undone_link_that_come_late_change_nothing(
    service: Any, catalog: Any, suggestion: Any
) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/accept")
    await service.post(f"/suggestions/{suggestion['id']}/reopen")
    for event in catalog.feed[2:]:
        await service.inbox.receive([event])
        await service.reconcile()
        assert await read(service, suggestion["id"]) == suggestion
    (pair,) = await service.rows("SELECT sequence, deleted FROM linked_pairs")
    assert pair == {"sequence": len(catalog.feed), "deleted": True}, "as a rebuild would have it"


async def test_who_undoes_and_who_hears_of_the_link_do_not_wait_for_each_other(
    service: Any, suggestion: Any, eventually: Any
) -> None:
    await service.post(f"/suggestions/{suggestion['id']}/accept")
    waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with service.database.transaction() as connection:
        await corpus_head.lock(connection)
        following = asyncio.create_task(service.follow())
        await eventually(lambda: service.rows(waiting))
        await linked_pairs.bury(connection, [UUID(suggestion["id"])])
    await following
    assert [row["deleted"] for row in await service.rows("SELECT deleted FROM linked_pairs")] == [True]


async def test_a_viewer_undoes_nothing(suggestion: Any, viewer: Any) -> None:
    for path in (f"{suggestion['id']}/reopen", f"reviews/{uuid4()}/undo"):
        assert (await viewer.post(f"/suggestions/{path}")).status_code == 403

"""Many reviews by one request: each by itself, answered in order, one event for all."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from suggestion_service.review import acceptance

UNKNOWN = "00000000-0000-4000-8000-000000000000"
TEXTS = ("the pump stops at noon", "a lamp burns in the hall", "every door closes slowly", "two ladders lean outside")


@pytest.fixture
async def queue(service: Any) -> list[str]:
    return [(await service.pair(text))["id"] for text in TEXTS]


async def statuses(service: Any, ids: list[str]) -> list[str]:
    return [(await service.read(f"/suggestions/{one}"))["status"] for one in ids]


async def test_accepting_many_answers_for_each_in_order(service: Any, catalog: Any, queue: Any) -> None:
    await service.post(f"/suggestions/{queue[1]}/reject")
    catalog.link(*list(catalog.items)[4:6])
    ids = [queue[3], UNKNOWN, queue[1], queue[2], queue[0], queue[3]]
    answer = await service.post(
        "/suggestions/bulk-review", {"action": "accept", "ids": ids, "feedback": "All fine", "link_type": "verifies"}
    )
    assert [result["id"] for result in answer["items"]] == ids
    assert [(result["status"], result["code"]) for result in answer["items"]] == [
        ("accepted", None),
        ("error", "suggestion_not_found"),
        ("error", "suggestion_not_pending"),
        ("error", "link_exists"),
        ("accepted", None),
        ("accepted", None),
    ]
    assert (answer["total"], answer["reviewed"], answer["failed"]) == (6, 3, 3)
    assert await statuses(service, queue) == ["accepted", "rejected", "expired", "accepted"]
    assert {link["link_type"] for link in catalog.links.values() if link["link_source"] == "ai_confirmed"} == {
        "verifies"
    }
    (event,) = await service.events("suggestion.suggestions.bulk_reviewed")
    assert event["data"]["action"] == "accept"
    assert {one["id"] for one in event["data"]["suggestions"]} == {queue[0], queue[3]}
    assert {one["status"] for one in event["data"]["suggestions"]} == {"accepted"}
    assert len(await service.events("suggestion.suggestion.reviewed")) == 1, "the one that was rejected before"


async def test_the_events_of_their_links_wait_for_no_acceptances_that_are_being_finished(
    service: Any, catalog: Any, queue: Any
) -> None:
    catalog.answers_with = 503
    await service.post("/suggestions/bulk-review", {"action": "accept", "ids": queue})
    for suggestion_id in sorted(queue, reverse=True):
        pair = await service.read(f"/suggestions/{suggestion_id}")
        catalog.link(UUID(pair["requirement"]["id"]), UUID(pair["test_case"]["id"]), UUID(suggestion_id))
    async with service.database.transaction() as connection:
        await connection.execute("SELECT FROM suggestions ORDER BY id FOR UPDATE")
        async with asyncio.timeout(20):
            await service.follow()
    assert await service.rows("SELECT FROM linked_pairs") == [{}] * len(queue)


async def test_rejecting_many_is_one_event(service: Any, catalog: Any, queue: Any) -> None:
    answer = await service.post("/suggestions/bulk-review", {"action": "reject", "ids": queue, "feedback": "No"})
    assert [result["status"] for result in answer["items"]] == ["rejected"] * 4
    assert catalog.puts == []
    (event,) = await service.events("suggestion.suggestions.bulk_reviewed")
    assert len(event["data"]["suggestions"]) == 4
    again = await service.post("/suggestions/bulk-review", {"action": "reject", "ids": queue})
    assert {result["code"] for result in again["items"]} == {"suggestion_not_pending"}
    assert len(await service.events("suggestion.suggestions.bulk_reviewed")) == 1


async def test_a_filter_finds_what_is_pending(service: Any, queue: Any) -> None:
    await service.post(f"/suggestions/{queue[0]}/accept")
    answer = await service.post("/suggestions/bulk-review", {"action": "reject", "filter": {"search": "lamp"}})
    assert [result["id"] for result in answer["items"]] == [queue[1]]
    answer = await service.post("/suggestions/bulk-review", {"action": "reject", "filter": {"min_score": 0.5}})
    assert {result["id"] for result in answer["items"]} == set(queue[2:])
    assert answer["failed"] == 0


async def test_what_catalog_could_not_be_asked_for_is_finished_later(service: Any, catalog: Any, queue: Any) -> None:
    catalog.answers_with = 503
    answer = await service.post("/suggestions/bulk-review", {"action": "accept", "ids": queue})
    assert [(result["status"], result["code"]) for result in answer["items"]] == [("error", "unavailable")] * 4
    catalog.answers_with = None
    await service.reconcile()
    assert await statuses(service, queue) == ["accepted"] * 4
    assert len(catalog.links) == 4


async def test_what_catalog_does_not_understand_holds_up_nothing_else(
    service: Any, catalog: Any, queue: Any, caplog: Any
) -> None:
    catalog.not_understood = {UUID(queue[2])}
    answer = await service.post("/suggestions/bulk-review", {"action": "accept", "ids": queue})
    assert [result["code"] for result in answer["items"]] == [None, None, "unavailable", None]
    assert queue[2] in caplog.text
    catalog.not_understood.clear()
    await service.reconcile()
    assert await statuses(service, queue) == ["accepted"] * 4


async def test_many_links_are_made_by_few_calls(service: Any, catalog: Any, queue: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(acceptance, "_LINKS_AT_ONCE", 3)
    await service.post("/suggestions/bulk-review", {"action": "accept", "ids": queue})
    assert [len(put) for put in catalog.puts] == [3, 1]
    assert {one["suggestion_id"] for put in catalog.puts for one in put} == set(queue)
    assert await statuses(service, queue) == ["accepted"] * 4


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"action": "ignore", "ids": []}, "/action"),
        ({"ids": [UNKNOWN]}, "/action"),
        ({"action": "accept"}, ""),
        ({"action": "accept", "ids": [], "filter": {}}, ""),
        ({"action": "accept", "ids": [UNKNOWN] * 501}, "/ids"),
        ({"action": "accept", "ids": ["x"]}, "/ids/0"),
        ({"action": "accept", "filter": {"status": "maybe"}}, "/filter/status"),
        ({"action": "accept", "filter": {"min_score": 2}}, "/filter/min_score"),
        ({"action": "accept", "filter": {"min_scroe": 0.9}}, "/filter/min_scroe"),
        ({"action": "accept", "filter": {"search": "lamp", "limit": 1}}, "/filter/limit"),
        ({"action": "accept", "ids": [UNKNOWN], "link_type": "guesses"}, "/link_type"),
    ],
)
async def test_a_bulk_review_that_makes_no_sense_is_refused(service: Any, body: Any, pointer: str) -> None:
    problem = await service.post("/suggestions/bulk-review", body, status=422)
    assert problem["errors"][0]["pointer"] == pointer

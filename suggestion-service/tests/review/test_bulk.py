"""Many reviews by one request: each by itself, answered in order, one event for all."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from suggestion_service.review import bulk, links

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
    assert (answer["total"], answer["reviewed"], answer["failed"]) == (5, 2, 3), "who is named twice counts once"
    assert answer["message"].startswith("2 suggestions were accepted, 3 were not")
    first = await service.read(f"/suggestions/{queue[1]}")
    told = [answer["items"][2][name] for name in ("suggestion_status", "reviewed_by", "reviewed_at", "link_id")]
    assert told == [first[name] for name in ("status", "reviewed_by", "reviewed_at", "link_id")]
    assert {one["reviewed_by"] for one in answer["items"]} == {first["reviewed_by"], None}
    assert await statuses(service, queue) == ["accepted", "rejected", "expired", "accepted"]
    assert {link["link_type"] for link in catalog.links.values() if link["link_source"] == "ai_confirmed"} == {
        "verifies"
    }
    (event,) = await service.events("suggestion.suggestions.bulk_reviewed")
    assert event["data"]["action"] == "accept"
    assert {one["id"] for one in event["data"]["suggestions"]} == {queue[0], queue[3]}
    assert {one["status"] for one in event["data"]["suggestions"]} == {"accepted"}
    assert (event["data"]["review_id"], event["data"]["feedback"]) == (answer["review_id"], "All fine")
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
        async with asyncio.timeout(120):
            await service.follow()
    assert await service.rows("SELECT FROM linked_pairs") == [{}] * len(queue)


async def test_rejecting_many_is_one_event(service: Any, catalog: Any, queue: Any) -> None:
    answer = await service.post("/suggestions/bulk-review", {"action": "reject", "ids": queue, "feedback": "No"})
    assert [result["status"] for result in answer["items"]] == ["rejected"] * 4
    assert catalog.puts == []
    (event,) = await service.events("suggestion.suggestions.bulk_reviewed")
    assert [one["id"] for one in event["data"]["suggestions"]] == queue
    again = await service.post("/suggestions/bulk-review", {"action": "reject", "ids": queue})
    assert {result["code"] for result in again["items"]} == {"suggestion_not_pending"}
    assert len(await service.events("suggestion.suggestions.bulk_reviewed")) == 1


def by_filter(expected: int | None = None, action: str = "reject", **filters: Any) -> dict[str, Any]:
    body = {"action": action, "filter": filters}
    return body if expected is None else body | {"expected_count": expected}


async def test_a_filter_finds_what_is_pending(service: Any, queue: Any) -> None:
    await service.post(f"/suggestions/{queue[0]}/accept")
    answer = await service.post("/suggestions/bulk-review", by_filter(1, search="lamp"))
    assert [result["id"] for result in answer["items"]] == [queue[1]]
    answer = await service.post("/suggestions/bulk-review", by_filter(2, min_score=0.5, method="tfidf"))
    assert {result["id"] for result in answer["items"]} == set(queue[2:])
    assert (answer["total"], answer["reviewed"], answer["failed"], answer["dry_run"]) == (2, 2, 0, False)
    assert {(await service.read(f"/suggestions/{one}"))["review_id"] for one in queue[2:]} == {answer["review_id"]}
    assert answer["review_id"] in answer["message"]


@pytest.mark.parametrize(
    "more",
    [{}, {"dry_run": True}, {"dry_run": True, "expected_count": 4}, {"dry_run": True, "expected_count": 99}],
)
@pytest.mark.parametrize("action", ["accept", "reject"])
async def test_a_filter_without_the_expected_count_is_only_counted(
    service: Any, catalog: Any, queue: Any, monkeypatch: Any, action: str, more: Any
) -> None:
    monkeypatch.setattr(bulk, "_SHOWN", 3)
    answer = await service.post("/suggestions/bulk-review", by_filter(action=action, min_score=0.5) | more)
    assert (answer["dry_run"], answer["count"], answer["total"], answer["reviewed"]) == (True, 4, 4, 0)
    assert answer["review_id"] is None
    assert answer["message"].startswith("Nothing was reviewed: 4 suggestions match this filter")
    assert '"expected_count": 4' in answer["message"]
    assert answer["items"] == (await service.suggestions(sort="score:desc"))[:3]
    assert await statuses(service, queue) == ["pending"] * 4
    assert await service.events("suggestion.suggestions.bulk_reviewed") == []


async def test_a_dry_run_of_ids_says_what_would_become_of_each(service: Any, queue: Any) -> None:
    await service.post(f"/suggestions/{queue[1]}/accept")
    ids = [queue[0], UNKNOWN, queue[1], UNKNOWN]
    answer = await service.post("/suggestions/bulk-review", {"action": "reject", "ids": ids, "dry_run": True})
    assert [(result["id"], result["status"], result["code"]) for result in answer["items"]] == [
        (queue[0], "pending", None),
        (UNKNOWN, "error", "suggestion_not_found"),
        (queue[1], "error", "suggestion_not_pending"),
        (UNKNOWN, "error", "suggestion_not_found"),
    ]
    assert (answer["dry_run"], answer["total"], answer["count"], answer["failed"]) == (True, 3, 1, 2)
    assert await statuses(service, queue[:2]) == ["pending", "accepted"]


@pytest.mark.parametrize("action", ["accept", "reject"])
@pytest.mark.parametrize("expected", [0, 3, 5])
async def test_with_another_count_nothing_is_reviewed(
    service: Any, catalog: Any, queue: Any, action: str, expected: int
) -> None:
    for body in (by_filter(expected, action, status="pending"), {"action": action, "ids": queue}):
        refused = await service.post("/suggestions/bulk-review", body | {"expected_count": expected}, status=409)
        assert (refused["code"], refused["expected_count"], refused["count"]) == ("count_changed", expected, 4)
        assert f"expected_count is {expected}, but 4 suggestions" in refused["detail"]
    assert await statuses(service, queue) == ["pending"] * 4
    assert catalog.puts == []
    assert await service.rows("SELECT FROM accept_intents") == await service.rows("SELECT FROM reviews") == []


@pytest.mark.parametrize("action", ["accept", "reject"])
@pytest.mark.parametrize("change", ["status = 'rejected'", "similarity_score = 0.1"])
async def test_what_changes_while_the_review_waits_is_seen(
    service: Any, queue: Any, eventually: Any, action: str, change: str
) -> None:
    async with service.database.transaction() as connection:
        await connection.execute(f"UPDATE suggestions SET {change} WHERE id = %s", (queue[2],))
        reviewing = asyncio.create_task(
            service.http.post("/suggestions/bulk-review", json=by_filter(4, action, min_score=0.5))
        )
        await eventually(lambda: service.rows("SELECT FROM pg_locks WHERE NOT granted"))
    refused = await reviewing
    assert (refused.status_code, refused.json()["code"]) == (409, "count_changed")
    assert (await statuses(service, queue)).count("pending") == 4 - ("status" in change)


@pytest.mark.parametrize("action", ["accept", "reject"])
async def test_of_reviews_of_the_same_filter_at_once_one_has_all(service: Any, queue: Any, action: str) -> None:
    bodies = [by_filter(4, action, min_score=0.5)] * 6
    answers = await asyncio.gather(*(service.http.post("/suggestions/bulk-review", json=body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    (won,) = (answer.json() for answer in answers if answer.status_code == 200)
    assert won["reviewed"] == 4
    assert await statuses(service, queue) == [f"{action}ed"] * 4


async def test_a_filter_that_finds_nothing_says_so(service: Any, queue: Any) -> None:
    for body in (by_filter(search="nobody wrote this"), by_filter(0, search="nobody wrote this")):
        answer = await service.post("/suggestions/bulk-review", body)
        assert (answer["items"], answer["total"], answer["review_id"]) == ([], 0, None)
        assert answer["message"] == "Nothing was reviewed: no pending suggestion matches this filter."


async def test_a_filter_that_finds_too_much_says_how_much(service: Any, queue: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(bulk, "_MOST", 3)
    counted = await service.post("/suggestions/bulk-review", by_filter(status="pending"))
    assert (counted["count"], "narrow the filter" in counted["message"]) == (4, True)
    refused = await service.post("/suggestions/bulk-review", by_filter(4, status="pending"), status=422)
    assert refused["errors"][0]["code"] == "too_many_suggestions"
    assert "finds 4 suggestions" in refused["detail"]
    assert await statuses(service, queue) == ["pending"] * 4


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
    monkeypatch.setattr(links, "_AT_ONCE", 3)
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
        ({"action": "accept", "ids": "all"}, "/ids"),
        ({"action": "accept", "filter": {"status": "maybe"}}, "/filter/status"),
        ({"action": "accept", "filter": {"min_score": 2}}, "/filter/min_score"),
        ({"action": "accept", "filter": {"min_score": 0.6, "max_score": 0.5}}, "/filter/max_score"),
        ({"action": "accept", "filter": {"min_scroe": 0.9}}, "/filter/min_scroe"),
        ({"action": "accept", "filter": {"search": "lamp", "limit": 1}}, "/filter/limit"),
        ({"action": "accept", "ids": [UNKNOWN], "link_type": "guesses"}, "/link_type"),
        ({"action": "reject", "filter": {}, "expected_count": 4}, "/filter"),
        ({"action": "reject", "filter": {"search": " ", "module": None}, "expected_count": 4}, "/filter"),
        ({"action": "reject", "filter": {"status": "rejected"}}, "/filter/status"),
        ({"action": "reject", "filter": {"search": "x" * 201}}, "/filter/search"),
        ({"action": "reject", "filter": {"reviewed_since": "yesterday"}}, "/filter/reviewed_since"),
        ({"action": "reject", "ids": [UNKNOWN], "dry_rum": True}, "/dry_rum"),
        ({"action": "reject", "ids": [UNKNOWN], "expected_count": -1}, "/expected_count"),
        ({"action": "reject", "ids": [UNKNOWN], "feedback": "x" * 10_001}, "/feedback"),
    ],
)
async def test_a_bulk_review_that_makes_no_sense_is_refused(service: Any, body: Any, pointer: str) -> None:
    problem = await service.post("/suggestions/bulk-review", body, status=422)
    assert problem["errors"][0]["pointer"] == pointer

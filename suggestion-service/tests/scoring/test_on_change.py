"""Items that were created or changed are scored in the background, once, for whoever changed them."""

import asyncio
import logging
from typing import Any
from uuid import UUID

import pytest

from chassis.messaging.events import Actor
from suggestion_service.store import scoring_queue

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall"


async def queued(service: Any) -> list[UUID]:
    return [row["item_id"] for row in await service.rows("SELECT item_id FROM scoring_queue ORDER BY sequence")]


@pytest.mark.parametrize("later", ["requirement", "test_case"])
async def test_the_later_of_a_pair_is_told_to_have_found_it(service: Any, catalog: Any, later: str) -> None:
    makers = {"requirement": catalog.requirement, "test_case": catalog.test_case}
    earlier = makers["test_case" if later == "requirement" else "requirement"]
    earlier(LAMP)
    earlier(PUMP)
    await service.score()
    item = makers[later](PUMP, external_id="PUMP-1")
    await service.score()

    (found,) = await service.suggestions()
    assert UUID(found[f"{later}_id"]) == item
    (event,) = await service.events("suggestion.item.generated")
    assert event["actor"] == "author@example.test"
    assert event["actorid"] == 7
    assert event["data"] == {
        "item_type": later,
        "item_id": str(item),
        "item_title": PUMP,
        "algorithm": "tfidf",
        "threshold": 0.3,
        "suggestions_created": 1,
        "suggestions_skipped": 0,
        "item_external_id": "PUMP-1",
    }
    assert await queued(service) == []


async def test_many_changes_of_an_item_are_scored_once_for_who_made_the_last(service: Any, catalog: Any) -> None:
    requirement, test_case = catalog.requirement(LAMP), catalog.test_case(PUMP)
    await service.score()
    for step in range(5):
        catalog.change(requirement, actor=Actor(step, f"{step}@example.test"), title=f"{PUMP} {step}")
    await service.follow()
    assert await queued(service) == [requirement]
    await service.score()
    (event,) = await service.events("suggestion.item.generated")
    assert event["actor"] == "4@example.test"
    assert [found["test_case_id"] for found in await service.suggestions()] == [str(test_case)]


@pytest.mark.parametrize(
    ("change", "scored"),
    [
        ({"title": PUMP}, True),
        ({"description": PUMP}, True),
        ({"module": "pumps"}, True),
        ({"tags": ["wet"]}, True),
        ({"priority": "high"}, True),
        ({"status": "approved"}, False),
        ({"external_id": "REQ-1"}, False),
        ({"custom_metadata": {"a": 1}}, False),
    ],
)
async def test_only_what_a_score_depends_on_has_an_item_scored_again(
    service: Any, catalog: Any, change: dict[str, Any], scored: bool
) -> None:
    item = catalog.requirement(LAMP)
    await service.score()
    catalog.change(item, **change)
    await service.follow()
    assert await queued(service) == ([item] if scored else [])


async def test_nothing_is_scored_when_it_is_turned_off_and_runs_still_work(serve: Any, catalog: Any) -> None:
    service = await serve(auto_suggestions_enabled=False)
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.score()
    assert await service.suggestions() == []
    assert (await service.generate())["suggestions_created"] == 1


async def test_the_settings_say_how_the_background_scores(serve: Any, catalog: Any) -> None:
    service = await serve(auto_suggestions_algorithm="keyword", auto_suggestions_threshold=0.95)
    catalog.requirement(PUMP)
    exact = catalog.test_case(PUMP)
    catalog.test_case(f"{PUMP} and the lamp burns")
    await service.score()
    (found,) = await service.suggestions()
    assert (found["test_case_id"], found["suggestion_method"]) == (str(exact), "keyword_match")


async def test_a_score_at_the_threshold_is_suggested(serve: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    below = await serve(auto_suggestions_threshold=0.5)
    await below.score()
    (found,) = await below.suggestions()
    just = await serve(auto_suggestions_threshold=found["similarity_score"])
    await just.score()
    assert [one["similarity_score"] for one in await just.suggestions()] == [found["similarity_score"]]
    above = await serve(auto_suggestions_threshold=found["similarity_score"] + 1e-6)
    await above.score()
    assert await above.suggestions() == []


async def test_two_workers_never_claim_the_same_item(service: Any, catalog: Any) -> None:
    for number in range(20):
        catalog.requirement(f"{LAMP} {number}")
    await service.follow()

    async def claim() -> list[UUID]:
        async with service.database.connection() as connection:
            return [item.item_id for item in await scoring_queue.claim(connection, 8)]

    claimed = [item for items in await asyncio.gather(*(claim() for _ in range(5))) for item in items]
    assert sorted(claimed) == sorted(catalog.items)


async def test_an_item_that_changes_while_it_is_scored_is_scored_again(service: Any, catalog: Any) -> None:
    item = catalog.requirement(LAMP)
    await service.follow()
    async with service.database.connection() as connection:
        claimed = await scoring_queue.claim(connection, 10)
    catalog.change(item, title=PUMP)
    await service.follow()
    async with service.database.connection() as connection:
        assert await scoring_queue.claim(connection, 10) == [], "its claim still stands"
        await scoring_queue.finish(connection, claimed)
        (again,) = await scoring_queue.claim(connection, 10)
    assert again.sequence == 2


async def test_a_claim_of_a_worker_that_died_is_taken_over(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.follow()
    async with service.database.connection() as connection:
        await scoring_queue.claim(connection, 10)
    await service.score()
    assert await service.suggestions() == []
    await service.rows("UPDATE scoring_queue SET claimed_until = now() - interval '1 second'")
    await service.score()
    assert len(await service.suggestions()) == 1


async def test_a_worker_that_is_stopped_gives_its_items_back_at_once(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.follow()
    async with service.stalling_after(0) as stalled:
        working = asyncio.create_task(service.scoring.score_waiting())
        await stalled()
        working.cancel()
        await asyncio.wait([working])
    assert working.cancelled()
    assert {row["attempts"] for row in await service.rows("SELECT attempts FROM scoring_queue")} == {0}
    service.start()
    assert await service.scoring.score_waiting()
    assert len(await service.suggestions()) == 1
    assert await queued(service) == []


async def test_a_worker_that_was_taken_for_dead_does_not_free_what_another_scores(service: Any, catalog: Any) -> None:
    item = catalog.requirement(PUMP)
    await service.follow()
    async with service.database.connection() as connection:
        slow = await scoring_queue.claim(connection, 10)
        await connection.execute("UPDATE scoring_queue SET claimed_until = now() - interval '1 second'")
        catalog.change(item, title=LAMP)
        await service.follow()
        assert len(await scoring_queue.claim(connection, 10)) == 1
        await scoring_queue.finish(connection, slow)
        await scoring_queue.LEASES.release(connection, slow[0].claim)
        assert await scoring_queue.claim(connection, 10) == []


@pytest.mark.requirement("TL-SUGG-7")
async def test_the_log_tells_of_start_counts_and_failure(
    service: Any, catalog: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suggestion_service")
    requirement = catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.score()
    assert f"Generating suggestions for requirement {requirement}" in caplog.messages
    assert f"Generated suggestions for requirement {requirement}: 1 created, 0 skipped" in caplog.messages

    # A suggestion that cannot be stored: the item next to it must not suffer.
    broken, sound = catalog.requirement(LAMP), catalog.requirement("the door closes")
    await service.follow()
    await service.rows(f"ALTER TABLE suggestions ADD CONSTRAINT broken CHECK (requirement_id <> '{broken}')")
    catalog.test_case(LAMP)
    catalog.test_case("the door closes")
    await service.follow()
    await service.rows("DELETE FROM scoring_queue WHERE item_id NOT IN (%s, %s)", broken, sound)
    await service.score()
    assert any(
        record.levelno == logging.ERROR and f"requirement {broken} failed" in record.getMessage()
        for record in caplog.records
    )
    assert [found["requirement_id"] for found in await service.suggestions(search="door")] == [str(sound)]
    (left,) = await service.rows("SELECT item_id, attempts, due_at > now() AS later FROM scoring_queue")
    assert (left["item_id"], left["later"]) == (broken, True)

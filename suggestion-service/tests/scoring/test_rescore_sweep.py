"""Once changes have come to rest, what is pending is what a run over everything gives."""

import random
from typing import Any
from uuid import UUID

import pytest

from suggestion_service.scoring import rescore_sweep

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall"
# Few words, used unevenly: how rare one is changes with each item that comes.
WORDS = (
    *("pump", "tank", "valve", "lamp", "door", "hall", "gate", "motor", "sensor", "alarm", "cable", "switch"),
    *("filter", "belt", "brake", "crane", "drum", "engine", "fan", "gear", "hose", "joint", "lever", "meter"),
    *("nozzle", "oven", "panel", "relay", "screw", "timer"),
)


def some_text(chance: random.Random) -> str:
    return " ".join(WORDS[min(int(chance.expovariate(0.12)), len(WORDS) - 1)] for _ in range(7))


async def pending(service: Any) -> dict[tuple[Any, Any], float]:
    rows = await service.rows(
        "SELECT requirement_id, test_case_id, similarity_score FROM suggestions WHERE status = 'pending'"
    )
    return {(row["requirement_id"], row["test_case_id"]): row["similarity_score"] for row in rows}


@pytest.mark.parametrize("algorithm", ["tfidf", "hybrid"])
async def test_whatever_order_items_come_in_the_end_is_that_of_a_run_over_everything(
    serve: Any, catalog: Any, algorithm: str
) -> None:
    chance = random.Random(3)
    for _ in range(40):
        catalog.requirement(some_text(chance))
        catalog.test_case(some_text(chance))
    changed = list(catalog.items)[:10]
    created = list(catalog.feed)
    for item in changed:
        catalog.change(item, title=some_text(chance))
    fresh = await serve(auto_suggestions_enabled=False)
    await fresh.follow()
    await fresh.generate(algorithm=algorithm)
    expected = await pending(fresh)
    assert len(expected) > 50

    for seed in (1, 2):
        service = await serve(auto_suggestions_algorithm=algorithm)
        order = random.Random(seed).sample(created, len(created)) + catalog.feed[len(created) :]
        for start in range(0, len(order), 7):
            await service.inbox.receive(order[start : start + 7])
            while await service.scoring.score_waiting():
                pass
        before = await pending(service)
        assert before.keys() - expected.keys(), "some are below the threshold by now"
        assert any(before[pair] != expected[pair] for pair in before.keys() & expected.keys())
        await service.rescore_sweep.sweep()
        assert await pending(service) == expected
        run = await service.generate(algorithm=algorithm)
        assert run["suggestions_created"] == 0


async def test_what_is_missing_is_suggested_and_told_once_an_item(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.requirement(f"{PUMP} at once")
    test_case = catalog.test_case(PUMP)
    await service.follow()
    await service.rows("DELETE FROM scoring_queue")
    await service.rescore_sweep.sweep()
    assert len(await service.suggestions()) == 2
    (event,) = await service.events("suggestion.item.generated")
    assert (event["actor"], event["actorid"]) == ("author@example.test", 7)
    assert (event["data"]["item_id"], event["data"]["item_title"]) == (str(test_case), PUMP)
    assert (event["data"]["suggestions_created"], event["data"]["suggestions_skipped"]) == (2, 0)
    await service.rescore_sweep.sweep()
    assert len(await service.events("suggestion.item.generated")) == 1


async def below_the_threshold(service: Any, catalog: Any) -> dict[str, Any]:
    """A pending suggestion of the background whose pair has become unlike."""
    suggestion: dict[str, Any] = await service.pair(PUMP)
    catalog.change(UUID(suggestion["requirement_id"]), title="the pump burns", description=LAMP)
    await service.score()
    (now,) = await service.suggestions()
    assert 0 < now["similarity_score"] < 0.3
    return now


async def test_what_would_not_be_suggested_now_is_gone_and_may_come_again(service: Any, catalog: Any) -> None:
    suggestion = await below_the_threshold(service, catalog)
    await service.rescore_sweep.sweep()
    assert await service.suggestions() == []
    run = await service.generate(threshold=0)
    assert run["suggestions_created"] == 1
    assert suggestion["id"] != (await service.suggestions())[0]["id"]


async def test_what_a_run_has_suggested_stays_whatever_its_score(service: Any, catalog: Any) -> None:
    requirement, _ = catalog.requirement(PUMP), catalog.test_case(PUMP)
    await service.generate()
    catalog.change(requirement, title="the pump burns", description=LAMP)
    await service.score()
    await service.rescore_sweep.sweep()
    (found,) = await service.suggestions()
    assert 0 < found["similarity_score"] < 0.3


@pytest.mark.parametrize("status", ["rejected", "accepted", "expired"])
async def test_what_was_decided_stays_decided(service: Any, catalog: Any, status: str) -> None:
    suggestion = await below_the_threshold(service, catalog)
    await service.rows("UPDATE suggestions SET status = %s", status)
    await service.rescore_sweep.sweep()
    (found,) = await service.suggestions(status=status)
    assert (found["id"], found["similarity_score"]) == (suggestion["id"], suggestion["similarity_score"])


async def test_what_is_being_accepted_is_left_alone(service: Any, catalog: Any) -> None:
    suggestion = await below_the_threshold(service, catalog)
    catalog.answers_with = 503
    await service.post(f"/suggestions/{suggestion['id']}/accept", status=503)
    await service.rescore_sweep.sweep()
    catalog.answers_with = None
    await service.reconcile()
    (accepted,) = await service.suggestions(status="accepted")
    assert (accepted["id"], accepted["similarity_score"]) == (suggestion["id"], suggestion["similarity_score"])


async def test_what_was_to_stand_beside_the_scale_keeps_its_own(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(f"{PUMP} and the lamp burns in the hall")
    await service.generate(algorithm="keyword", rescore=False)
    before = await service.suggestions()
    catalog.requirement("the door is red")
    await service.follow()
    await service.rescore_sweep.sweep()
    assert await service.suggestions() == before


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore_sweep, "_QUIET", 0)


@pytest.mark.usefixtures("impatient")
async def test_it_is_done_once_after_changes_also_over_a_restart(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    await service.score()
    assert await service.rescore_sweep.sweep_if_due()
    catalog.test_case(PUMP)
    await service.follow()
    assert not await service.rescore_sweep.sweep_if_due(), "an item is still to be scored"
    await service.score()
    assert await service.rescore_sweep.sweep_if_due()
    # Only a sweep would find it missing.
    await service.rows("DELETE FROM suggestions")
    service.start()
    assert await service.rescore_sweep.sweep_if_due()
    assert await service.suggestions() == []
    catalog.requirement(LAMP)
    await service.score()
    assert await service.rescore_sweep.sweep_if_due()
    assert len(await service.suggestions()) == 1


async def test_it_waits_for_changes_to_come_to_rest(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    await service.score()
    assert not await service.rescore_sweep.sweep_if_due()


@pytest.mark.usefixtures("impatient")
async def test_after_a_few_changes_it_rests_and_after_many_it_does_not(
    service: Any, catalog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescore_sweep, "_PAUSE_FACTOR", 1_000_000)
    monkeypatch.setattr(rescore_sweep, "_MANY", 0.5)
    for _ in range(5):
        catalog.requirement(LAMP)
    await service.score()
    assert await service.rescore_sweep.sweep_if_due()
    catalog.test_case(PUMP)
    await service.score()
    assert not await service.rescore_sweep.sweep_if_due()
    with monkeypatch.context() as patched:
        patched.setattr(rescore_sweep, "_MANY", 0.0)
        assert not await service.rescore_sweep.sweep_if_due(), "what has not changed is counted again"
    for _ in range(9):
        catalog.test_case(PUMP)
    await service.score()
    assert await service.rescore_sweep.sweep_if_due()


async def test_a_worker_sweeps_by_itself(service: Any, catalog: Any, eventually: Any) -> None:
    suggestion = await below_the_threshold(service, catalog)
    async with service.working():

        async def gone() -> bool:
            return suggestion["id"] not in {found["id"] for found in await service.suggestions()}

        await eventually(gone)

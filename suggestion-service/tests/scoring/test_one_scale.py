"""After a run, what is pending is what the run alone would have suggested: one queue has one scale."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from suggestion_service.scoring import run_loop, shard_scoring

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall"
METHODS = {"tfidf": "semantic_similarity", "keyword": "keyword_match", "hybrid": "hybrid"}
WORDS = (
    *("pump", "tank", "valve", "lamp", "door", "hall", "gate", "motor", "sensor", "alarm", "cable", "switch"),
    *("filter", "belt", "brake", "crane", "drum", "engine", "fan", "gear", "hose", "joint", "lever", "meter"),
)

Queue = dict[tuple[str, str], dict[str, Any]]


def a_record(catalog: Any, number: int = 30) -> None:
    """Requirements and test cases of which some are alike, by chance: always the same."""
    chance = random.Random(5)

    def text() -> str:
        return " ".join(WORDS[min(int(chance.expovariate(0.12)), len(WORDS) - 1)] for _ in range(7))

    for _ in range(number):
        catalog.requirement(text(), module=chance.choice(["pumps", "lamps", None]))
        catalog.test_case(
            text(), module=chance.choice(["pumps", "lamps", None]), priority=chance.choice(["low", "high"])
        )


async def pending(service: Any) -> Queue:
    rows = await service.rows("SELECT * FROM suggestions WHERE status = 'pending'")
    return {(row["requirement_id"], row["test_case_id"]): row for row in rows}


def said(queue: Queue) -> dict[tuple[str, str], list[Any]]:
    """What a queue tells of its pairs."""
    told = ("similarity_score", "suggestion_method", "suggestion_reason", "suggestion_metadata")
    return {pair: [row[name] for name in told] for pair, row in queue.items()}


async def ask(service: Any, **params: Any) -> str:
    response = await service.http.post("/suggestions/generate", params=params, headers={"Prefer": "respond-async"})
    return str(response.json()["id"])


async def work_off(*services: Any) -> None:
    while any(await asyncio.gather(*(service.runs.work_off_next() for service in services))):
        pass


@pytest.mark.parametrize("threshold", [0, 0.3, *(pytest.param(one, marks=pytest.mark.long) for one in (0.5, 1))])
@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
async def test_after_a_run_the_queue_is_that_of_the_run_from_the_start(
    serve: Callable[..., Awaitable[Any]], catalog: Any, algorithm: str, threshold: float
) -> None:
    service = await serve()
    # In two steps: the scores of the first are those of fewer items.
    a_record(catalog, 15)
    await service.score()
    a_record(catalog, 15)
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.score()
    fresh = await serve(auto_suggestions_enabled=False)
    alone = await fresh.generate(algorithm=algorithm, threshold=threshold)
    before = await pending(service)
    run = await service.generate(algorithm=algorithm, threshold=threshold)
    after = await pending(service)

    assert said(after) == said(await pending(fresh)) != said(before)
    kept = after.keys() & before.keys()
    for pair in kept:
        assert [after[pair][name] for name in ("id", "created_at")] == [
            before[pair][name] for name in ("id", "created_at")
        ]
    changed = [pair for pair in kept if said(after)[pair] != said(before)[pair]]
    assert (run["suggestions_created"], run["suggestions_updated"]) == (len(after.keys() - kept), len(changed))
    assert run["suggestions_withdrawn"] == len(before.keys() - kept)
    assert run["suggestions_skipped"] == len(kept) - len(changed)
    assert (
        run["suggestions_created"] + run["suggestions_updated"] + run["suggestions_skipped"]
        == (alone["suggestions_created"])
    )
    again = await service.generate(algorithm=algorithm, threshold=threshold)
    counts = ("suggestions_created", "suggestions_updated", "suggestions_withdrawn", "suggestions_skipped")
    assert [again[name] for name in counts] == [0, 0, 0, len(after)]


async def test_what_is_below_the_threshold_is_withdrawn_and_comes_back_with_a_run_that_has_it_above(
    service: Any, catalog: Any
) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(f"{PUMP} and {LAMP}")
    await service.score()
    (before,) = await service.suggestions()
    run = await service.generate(threshold=0.95)
    assert (run["suggestions_withdrawn"], run["suggestions_skipped"]) == (1, 0)
    (withdrawn,) = await service.suggestions(status="expired")
    assert (withdrawn["id"], withdrawn["reviewed_at"], withdrawn["reviewed_by"]) == (before["id"], None, None)
    assert f"tfidf gives this pair {before['similarity_score']:g}, below the threshold of 0.95" in withdrawn["feedback"]
    # One event tells of the run, whatever it withdrew.
    assert await service.events("suggestion.suggestions.expired") == []
    (event,) = await service.events("suggestion.run.finished")
    assert (event["data"]["suggestions_withdrawn"], event["data"]["suggestions_updated"]) == (1, 0)

    await service.rows("UPDATE suggestions SET created_at = now() - interval '31 days'")
    run = await service.generate(threshold=0.1)
    assert (run["suggestions_created"], run["suggestions_updated"], run["suggestions_skipped"]) == (1, 0, 0)
    (back,) = await service.suggestions()
    assert (back["id"], back["status"], back["feedback"]) == (before["id"], "pending", None)
    await service.withdraw_old()
    assert len(await service.suggestions(status="pending")) == 1, "its 30 days begin anew"


async def test_pairs_that_have_nothing_in_common_are_withdrawn_at_a_threshold_of_0(service: Any, catalog: Any) -> None:
    requirement, _ = catalog.requirement(PUMP), catalog.test_case(PUMP)
    await service.generate()
    catalog.change(requirement, title=LAMP, description=LAMP)
    await service.score()
    run = await service.generate(threshold=0)
    assert run["suggestions_withdrawn"] == 1
    (withdrawn,) = await service.suggestions(status="expired")
    assert "nothing in common" in withdrawn["feedback"]


@pytest.mark.parametrize("how", ["reject", "accept"])
async def test_what_was_reviewed_is_neither_scored_anew_nor_suggested_again(service: Any, how: str) -> None:
    suggestion = await service.pair(PUMP)
    await service.post(f"/suggestions/{suggestion['id']}/{how}")
    before = await service.rows("SELECT * FROM suggestions")
    for threshold in (1, 0):
        run = await service.generate(algorithm="hybrid", threshold=threshold)
        assert (run["suggestions_created"], run["suggestions_updated"], run["suggestions_withdrawn"]) == (0, 0, 0)
    assert await service.rows("SELECT * FROM suggestions") == before


async def test_what_is_being_accepted_is_left_alone(service: Any, catalog: Any) -> None:
    suggestion = await service.pair(PUMP)
    catalog.requirement(LAMP)
    catalog.answers_with = 503
    await service.post(f"/suggestions/{suggestion['id']}/accept", status=503)
    catalog.answers_with = None
    for params in ({"algorithm": "hybrid", "threshold": 0}, {"algorithm": "keyword", "threshold": 1}):
        await service.generate(**params)
    await service.reconcile()
    (accepted,) = await service.suggestions(status="accepted")
    assert accepted["similarity_score"] == suggestion["similarity_score"]
    assert accepted["suggestion_method"] == "semantic_similarity"


async def test_a_run_leaves_pending_ones_alone_when_it_shall(service: Any, catalog: Any) -> None:
    a_record(catalog)
    await service.score()
    before = await pending(service)
    run = await service.generate(algorithm="hybrid", threshold=0, rescore=False)
    after = await pending(service)
    assert {pair: after[pair] for pair in before} == before
    assert run["rescore"] is False
    assert run["suggestions_created"] == len(after) - len(before) > 0
    assert (run["suggestions_updated"], run["suggestions_withdrawn"]) == (0, 0)
    assert 0 < run["suggestions_skipped"] <= len(before)


# What comes later


async def test_what_changes_after_a_run_is_scored_by_its_algorithm_at_the_configured_threshold(
    service: Any, catalog: Any
) -> None:
    a_record(catalog)
    await service.score()
    await service.generate(algorithm="hybrid", threshold=0.95)
    known, before = set(catalog.items), await pending(service)
    a_record(catalog)
    await service.score()
    await service.rescore_sweep.sweep()
    found = await pending(service)
    assert {one["suggestion_method"] for one in found.values()} == {"hybrid"}
    below = {pair for pair, one in found.items() if one["similarity_score"] < 0.95} - before.keys()
    assert len(below) > 20
    assert not any(known.issuperset(pair) for pair in below)
    assert min(found[pair]["similarity_score"] for pair in below) >= 0.3
    events = await service.events("suggestion.item.generated")
    assert (events[-1]["data"]["algorithm"], events[-1]["data"]["threshold"]) == ("hybrid", 0.3)


async def test_what_a_run_left_out_stays_out_until_a_text_changes(service: Any, catalog: Any) -> None:
    requirement = catalog.requirement(PUMP)
    catalog.test_case(f"{PUMP} and {LAMP}")
    await service.score()
    (before,) = await service.suggestions()
    await service.generate(threshold=0.95)
    catalog.change(requirement, tags=["wet"])
    await service.score()
    await service.rescore_sweep.sweep()
    assert await service.suggestions(status="pending") == []
    catalog.change(requirement, title="the pump stops")
    await service.score()
    (back,) = await service.suggestions(status="pending")
    assert back["id"] == before["id"]


async def test_what_a_run_took_in_below_the_configured_threshold_stays(service: Any, catalog: Any) -> None:
    a_record(catalog)
    await service.score()
    await service.generate(threshold=0.1)
    before = await pending(service)
    assert min(row["similarity_score"] for row in before.values()) < 0.3
    await service.rescore_sweep.sweep()
    assert said(await pending(service)) == said(before)


async def test_once_changes_have_come_to_rest_the_queue_is_that_of_the_run_from_the_start(
    serve: Callable[..., Awaitable[Any]], service: Any, catalog: Any
) -> None:
    a_record(catalog, 15)
    await service.score()
    await service.generate(algorithm="hybrid")
    known = list(catalog.items)
    a_record(catalog, 30)
    for item in known[:5]:
        catalog.change(item, title=f"{PUMP} {LAMP}")
    await service.score()
    await service.rescore_sweep.sweep()
    fresh = await serve(auto_suggestions_enabled=False)
    await fresh.generate(algorithm="hybrid")
    expected = said(await pending(fresh))
    # What a run has suggested stays, whatever its score is by now.
    assert expected.items() <= said(await pending(service)).items()
    assert {row["suggestion_method"] for row in (await pending(service)).values()} == {"hybrid"}


async def test_the_setting_decides_again_once_it_has_been_changed(
    serve: Callable[..., Awaitable[Any]], service: Any, catalog: Any
) -> None:
    a_record(catalog)
    await service.score()
    await service.generate()
    changed = type(service)(
        service.settings.model_copy(update={"auto_suggestions_algorithm": "keyword"}), service.database, catalog
    )
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await changed.score()
    (found,) = await changed.suggestions(search="tank is full", min_score=0.95)
    assert found["suggestion_method"] == "keyword_match"
    await changed.rescore_sweep.sweep()
    assert {row["suggestion_method"] for row in (await pending(changed)).values()} == {"keyword_match"}


async def test_scores_of_the_scale_before_are_not_stored_once_a_run_has_begun(
    service: Any, catalog: Any, eventually: Any
) -> None:
    a_record(catalog)
    await service.follow()
    run_id = await ask(service, algorithm="hybrid")
    waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with service.database.transaction() as connection:
        await connection.execute("SELECT head FROM corpus_head FOR UPDATE")
        scoring = asyncio.create_task(service.scoring.score_waiting())
        await eventually(lambda: service.rows(waiting))
        # As the run does, which waits for the lock itself.
        await connection.execute("UPDATE runs SET status = 'running', seen = 1000 WHERE id = %s", (run_id,))
    await scoring
    assert {row["suggestion_method"] for row in (await pending(service)).values()} == {"hybrid"}


# Runs that do not go straight to their end


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight requirements a part, ten suggestions a chunk."""
    monkeypatch.setattr(run_loop, "_SHARD_REQUIREMENTS", 8)
    monkeypatch.setattr(shard_scoring, "CHUNK", 10)


@pytest.fixture
async def other(service: Any, serve: Callable[..., Awaitable[Any]]) -> Any:
    """A second worker over the same database."""
    return type(service)(service.settings, service.database, service.catalog)


@pytest.mark.usefixtures("small")
async def test_two_workers_leave_the_queue_that_one_leaves(
    serve: Callable[..., Awaitable[Any]], service: Any, other: Any, catalog: Any
) -> None:
    a_record(catalog)
    for one in (lone := await serve(), service):
        await one.generate(threshold=0.7)
        await one.generate(threshold=0.5, algorithm="keyword", rescore=False)
    expected = await lone.generate(algorithm="hybrid", threshold=0.4)
    assert 0 not in [expected[f"suggestions_{name}"] for name in ("created", "updated", "withdrawn")]
    run_id = await ask(service, algorithm="hybrid", threshold=0.4)
    await work_off(service, other)
    run = await service.read(f"/suggestions/runs/{run_id}")
    for name in ("pairs_analyzed", "created", "updated", "withdrawn", "skipped"):
        name = name if name == "pairs_analyzed" else f"suggestions_{name}"
        assert (name, run[name]) == (name, expected[name])
    assert said(await pending(service)) == said(await pending(lone))


async def stop_while_scoring_anew(service: Any) -> None:
    """Stop a worker when it has scored some of what is pending anew."""
    async with service.stalling_after(1, "UPDATE", "suggestion_method = 'hybrid' AND status = 'pending'") as stalled:
        working = asyncio.create_task(work_off(service))
        await stalled()
        working.cancel()
        await asyncio.wait([working])


@pytest.mark.usefixtures("small")
async def test_a_run_that_another_worker_takes_up_counts_each_pair_once(
    serve: Callable[..., Awaitable[Any]], service: Any, other: Any, catalog: Any
) -> None:
    a_record(catalog)
    lone = await serve()
    await lone.score()
    await service.score()
    expected = await lone.generate(algorithm="hybrid", threshold=0.4)
    run_id = await ask(service, algorithm="hybrid", threshold=0.4)
    # Every pair is pending that hybrid finds, so that it only scores anew.
    await stop_while_scoring_anew(service)
    # As a crash leaves it: nobody gave the claim back.
    await service.rows(
        "UPDATE run_parts SET claim = gen_random_uuid(), claimed_until = now() - interval '1 second' WHERE NOT done"
    )
    await work_off(other)
    run = await service.read(f"/suggestions/runs/{run_id}")
    counts = [f"suggestions_{name}" for name in ("created", "updated", "withdrawn", "skipped")]
    assert {name: run[name] for name in counts} == {name: expected[name] for name in counts}
    assert said(await pending(service)) == said(await pending(lone))


@pytest.mark.usefixtures("small")
async def test_a_run_that_is_cancelled_half_way_leaves_one_scale_once_all_is_at_rest(
    service: Any, catalog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_record(catalog)
    await service.score()
    await service.rescore_sweep.sweep()
    before = said(await pending(service))
    run_id = await ask(service, algorithm="hybrid", threshold=0.6)
    assert await service.runs.work_off_next()
    cancelled = await service.post(f"/suggestions/runs/{run_id}/cancel")
    assert 0 < cancelled["suggestions_withdrawn"] < len(before)
    mixed = await pending(service)
    assert {row["suggestion_method"] for row in mixed.values()} == {"hybrid", "semantic_similarity"}
    expired = await service.suggestions(status="expired", limit=500)
    assert len(expired) == cancelled["suggestions_withdrawn"]

    monkeypatch.setattr("suggestion_service.scoring.rescore_sweep._QUIET", 0)
    assert await service.rescore_sweep.sweep_if_due()
    now = said(await pending(service))
    assert before.items() <= now.items()
    assert {told[1] for told in now.values()} == {"semantic_similarity"}
    assert await service.rescore_sweep.sweep_if_due()


async def test_a_review_during_a_run_stands(service: Any, catalog: Any) -> None:
    a_record(catalog)
    await service.score()
    best, second = (await service.suggestions(sort="score:desc"))[:2]
    await ask(service, algorithm="hybrid", threshold=0)
    async with service.stalling_after(0, "INSERT") as stalled:
        working = asyncio.create_task(work_off(service))
        await stalled()
        await service.post(f"/suggestions/{best['id']}/reject")
        await service.post(f"/suggestions/{second['id']}/accept")
    await working
    for reviewed in (best, second):
        now = await service.read(f"/suggestions/{reviewed['id']}")
        assert now["status"] in ("rejected", "accepted")
        assert now["similarity_score"] == reviewed["similarity_score"]
        pair = (UUID(reviewed["requirement_id"]), UUID(reviewed["test_case_id"]))
        assert pair not in await pending(service)

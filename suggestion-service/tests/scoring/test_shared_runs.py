"""A run's parts are shared among workers: each is done once, whoever dies, and the whole is that of one worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from chassis.db import leased_jobs
from chassis.db.database import Database
from chassis.messaging.bus.in_process import InProcessBus
from suggestion_service.scoring import run_loop
from suggestion_service.scoring.run_progress import RunProgress

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four requirements a part."""
    monkeypatch.setattr(run_loop, "_SHARD_REQUIREMENTS", 4)


@pytest.fixture
def thirty_pairs(catalog: Any) -> int:
    """Requirements and test cases of which many are alike; gives how many pairs there are to look at."""
    for number in range(30):
        catalog.requirement(f"{PUMP} {number % 7}")
        catalog.test_case(f"{PUMP if number % 2 else LAMP} {number % 5}")
    return 30 * 30


@pytest.fixture
async def other(service: Any) -> AsyncIterator[Any]:
    """A second worker: another process over the same database."""
    database = Database(service.database.url)
    await database.open()
    yield type(service)(service.settings, database, service.catalog)
    await database.close()


async def ask(service: Any, **params: Any) -> str:
    response = await service.http.post("/suggestions/generate", params=params, headers={"Prefer": "respond-async"})
    return str(response.json()["id"])


async def read(service: Any, run_id: str) -> dict[str, Any]:
    run: dict[str, Any] = await service.read(f"/suggestions/runs/{run_id}")
    return run


async def suggested(service: Any) -> list[tuple[str, str, float]]:
    rows = await service.rows("SELECT requirement_id, test_case_id, similarity_score FROM suggestions ORDER BY 1, 2")
    return [tuple(row.values()) for row in rows]


async def work_off(service: Any) -> int:
    """Do all there is to do; return how many parts that were."""
    done = 0
    while await service.runs.work_off_next():
        done += 1
    return done


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
async def test_two_workers_give_what_one_gives(
    serve: Callable[..., Awaitable[Any]], service: Any, other: Any, thirty_pairs: int, algorithm: str
) -> None:
    lone = await serve()
    expected = await lone.generate(algorithm=algorithm)
    assert expected["suggestions_created"] > 100

    run_id = await ask(service, algorithm=algorithm)
    assert await service.runs.work_off_next()
    done = await asyncio.gather(work_off(service), work_off(other))
    assert (min(done) > 0, sum(done)) == (True, 7)
    counts = ("status", "progress", "pairs_analyzed", "suggestions_created", "suggestions_skipped", "error")
    run = await read(service, run_id)
    assert {name: run[name] for name in counts} == {name: expected[name] for name in counts}
    assert run["pairs_analyzed"] == thirty_pairs
    assert await suggested(service) == await suggested(lone)
    assert len(await service.events("suggestion.run.finished")) == 1
    assert await service.rows("SELECT FROM run_parts") == []


async def test_what_one_worker_has_done_shows_while_others_go_on(service: Any, other: Any, thirty_pairs: int) -> None:
    run_id = await ask(service)
    for done in range(1, 4):
        assert await (service if done % 2 else other).runs.work_off_next()
        run = await read(service, run_id)
        assert (run["status"], run["pairs_analyzed"]) == ("running", done * 4 * 30)
        assert run["progress"] == pytest.approx(done / 8)
        assert run["suggestions_created"] == len(await suggested(service))
    (listed,) = (await service.read("/suggestions/runs"))["items"]
    assert listed == run
    assert await work_off(other) == 5
    assert (await read(service, run_id))["pairs_analyzed"] == thirty_pairs


async def stop_in_the_second_part(service: Any, run_id: str) -> None:
    """Stop a worker, gracefully, while it stores what it found in the second part of a run."""
    assert await service.runs.work_off_next()
    async with service.stalling_after(len(await suggested(service))) as stalled:
        working = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        working.cancel()
        await asyncio.wait([working])
    assert (await read(service, run_id))["status"] == "running"


async def test_a_part_whose_worker_was_stopped_is_done_by_another_at_once(
    service: Any, other: Any, thirty_pairs: int
) -> None:
    run_id = await ask(service)
    await stop_in_the_second_part(service, run_id)
    assert await work_off(other) == 7
    run = await read(service, run_id)
    assert (run["status"], run["pairs_analyzed"], run["suggestions_skipped"]) == ("completed", thirty_pairs, 0)
    assert run["suggestions_created"] == len(await suggested(service))


async def test_a_part_whose_worker_died_is_done_by_another_without_doubles(
    serve: Callable[..., Awaitable[Any]], service: Any, other: Any, thirty_pairs: int
) -> None:
    lone = await serve()
    await lone.generate()
    run_id = await ask(service)
    await stop_in_the_second_part(service, run_id)
    # As a crash leaves it: nobody gave the claim back, and what was counted last was not all that there is.
    await service.rows(
        "UPDATE run_parts SET claim = gen_random_uuid(), claimed_until = now() + interval '15 seconds', attempts = 1,"
        " pairs_analyzed = 7, suggestions_skipped = 3 WHERE number = 1"
    )
    assert await work_off(other) == 6
    run = await read(service, run_id)
    assert (run["status"], run["pairs_analyzed"]) == ("running", thirty_pairs - 4 * 30 + 7)
    await service.rows("UPDATE run_parts SET claimed_until = now() - interval '1 second' WHERE number = 1")
    assert await work_off(other) == 1
    run = await read(service, run_id)
    assert (run["status"], run["pairs_analyzed"], run["suggestions_skipped"]) == ("completed", thirty_pairs, 0)
    assert await suggested(service) == await suggested(lone)
    assert run["suggestions_created"] == len(await suggested(service))
    assert len(await service.events("suggestion.run.finished")) == 1


async def test_a_worker_that_was_taken_for_dead_ends_nothing(
    service: Any, other: Any, thirty_pairs: int, eventually: Any
) -> None:
    run_id = await ask(service)
    assert await service.runs.work_off_next()
    async with service.stalling_after(len(await suggested(service))) as stalled:
        slow = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        await service.rows("UPDATE run_parts SET claimed_until = now() - interval '1 second' WHERE NOT done")
        taking_over = asyncio.create_task(work_off(other))
        await eventually(lambda: service.rows("SELECT FROM run_parts WHERE number = 1 AND attempts = 2"))
    await asyncio.gather(slow, taking_over)
    run = await read(service, run_id)
    assert (run["status"], run["pairs_analyzed"], run["suggestions_skipped"]) == ("completed", thirty_pairs, 0)
    assert run["suggestions_created"] == len(await suggested(service))
    assert len(await service.events("suggestion.run.finished")) == 1


async def test_a_run_that_is_cancelled_between_parts_keeps_what_they_have_counted(
    service: Any, other: Any, thirty_pairs: int
) -> None:
    run_id = await ask(service)
    assert await service.runs.work_off_next()
    assert await other.runs.work_off_next()
    before = await read(service, run_id)
    cancelled = await service.post(f"/suggestions/runs/{run_id}/cancel")
    assert cancelled == before | {"status": "cancelled", "finished_at": cancelled["finished_at"]}
    assert cancelled == await read(service, run_id)
    assert cancelled["pairs_analyzed"] == 2 * 4 * 30
    assert cancelled["suggestions_created"] == len(await suggested(service)) > 0
    assert await work_off(service) == await work_off(other) == 0
    (event,) = await service.events("suggestion.run.finished")
    assert event["data"]["suggestions_created"] == cancelled["suggestions_created"]


async def test_how_far_a_run_is_is_told_when_that_has_changed(service: Any, other: Any, thirty_pairs: int) -> None:
    progress = RunProgress(service.database)

    async def told() -> list[dict[str, Any]]:
        await progress.tell()
        return [event["data"] for event in await service.events("suggestion.run.progressed")]

    run_id = await ask(service)
    assert await told() == []
    assert await service.runs.work_off_next()
    (begun,) = await told()
    assert (begun["run_id"], begun["pairs_analyzed"]) == (run_id, 4 * 30)
    assert begun["progress"] == (await read(service, run_id))["progress"] == 1 / 8
    assert len(await told()) == 1
    assert await other.runs.work_off_next()
    assert [one["progress"] for one in await told()] == [1 / 8, 2 / 8]
    cancelled = await service.post(f"/suggestions/runs/{run_id}/cancel")
    assert len(await told()) == 2
    (ended,) = await service.events("suggestion.run.finished")
    assert ended["data"]["progress"] == cancelled["progress"] == 2 / 8


async def test_when_a_part_fails_the_run_does_and_says_so(service: Any, other: Any, thirty_pairs: int) -> None:
    await service.follow()
    # Nobody can store a suggestion of the last part.
    (last,) = await service.rows("SELECT id FROM items WHERE side = 'requirement' ORDER BY id DESC LIMIT 1")
    await service.rows(f"ALTER TABLE suggestions ADD CONSTRAINT broken CHECK (requirement_id <> '{last['id']}')")
    run_id = await ask(service, threshold=0)
    await asyncio.gather(work_off(service), work_off(other))
    run = await read(service, run_id)
    assert run["status"] == "failed"
    assert "Something went wrong on our side" in run["error"]
    assert run["suggestions_created"] == len(await suggested(service)) > 0
    (event,) = await service.events("suggestion.run.finished")
    assert (event["data"]["status"], event["data"]["error"]) == ("failed", run["error"])
    assert await work_off(service) == 0


async def test_a_part_whose_process_ends_every_time_fails_the_run(service: Any, thirty_pairs: int) -> None:
    run_id = await ask(service)
    assert await service.runs.work_off_next()
    await service.rows(
        "UPDATE run_parts SET attempts = 4, claimed_until = now() - interval '1 second' WHERE number = 1"
    )
    await service.runs.work_off_next()
    run = await read(service, run_id)
    assert run["status"] == "failed"
    assert "4 times" in run["error"]


async def test_a_part_whose_process_ended_three_times_is_done_after_a_quiet_time(
    service: Any, thirty_pairs: int
) -> None:
    run_id = await ask(service)
    assert await service.runs.work_off_next()
    await service.rows("UPDATE run_parts SET attempts = 3, claimed_until = now() - interval '1 minute' WHERE NOT done")
    assert not await service.runs.work_off_next(), "what ended it may still go on"
    await service.rows("UPDATE run_parts SET claimed_until = now() - interval '6 minutes' WHERE NOT done")
    while await service.runs.work_off_next():
        pass
    assert (await read(service, run_id))["status"] == "completed"


async def test_a_requirement_that_comes_during_a_run_is_in_one_part(
    service: Any, other: Any, catalog: Any, thirty_pairs: int
) -> None:
    run_id = await ask(service, threshold=0.5)
    assert await service.runs.work_off_next()
    # The first part is done already: one of these comes into a part that is not.
    late = {catalog.requirement(LAMP) for _ in range(12)}
    catalog.test_case(LAMP)
    await service.follow()
    assert await work_off(other) == 7
    assert (await read(service, run_id))["status"] == "completed"
    pairs = [pair[:2] for pair in await suggested(service)]
    assert late & {requirement for requirement, _ in pairs}
    assert len(pairs) == len(set(pairs))


async def test_runs_are_done_one_after_another_and_the_last_one_asked_for_decides(
    service: Any, other: Any, thirty_pairs: int
) -> None:
    first = await ask(service)
    assert await service.runs.work_off_next()
    second = await ask(service, algorithm="keyword")
    assert await other.runs.work_off_next()
    assert [(await read(service, run_id))["status"] for run_id in (first, second)] == ["running", "queued"]
    while any(await asyncio.gather(service.runs.work_off_next(), other.runs.work_off_next())):
        pass
    assert [(await read(service, run_id))["status"] for run_id in (first, second)] == ["completed", "completed"]
    methods = await service.rows("SELECT DISTINCT suggestion_method FROM suggestions WHERE status = 'pending'")
    assert [row["suggestion_method"] for row in methods] == ["keyword_match"]


async def test_parts_are_small_when_there_are_many_test_cases(
    service: Any, thirty_pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_loop, "_SHARD_PAIRS", 70)
    await ask(service)
    assert await service.runs.work_off_next()
    assert len(await service.rows("SELECT FROM run_parts")) == 15


async def test_a_worker_hears_of_parts_by_jobs(
    service: Any, other: Any, thirty_pairs: int, eventually: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leased_jobs, "_POLL", 1000)
    bus = InProcessBus()
    jobs: list[bytes] = []

    async def hear(job: bytes) -> None:
        jobs.append(job)
        await other.runs.on_wakeup(job)

    bus.take_part(run_loop.QUEUE, hear)
    await bus.start()
    planner = run_loop.RunLoop(service.database, service.corpora, service.feed, bus)

    async def completed() -> bool:
        return {run["status"] for run in (await service.read("/suggestions/runs"))["items"]} == {"completed"}

    look, looked = other.runs.work_off_next, asyncio.Event()

    async def work_off_next() -> bool:
        found: bool = await look()
        looked.set()
        return found

    monkeypatch.setattr(other.runs, "work_off_next", work_off_next)
    working = asyncio.create_task(other.runs.run())
    await looked.wait()  # and it has found nothing: from now on it waits, and of a commit elsewhere it does not learn
    await ask(service)
    assert await planner.work_off_next()
    await eventually(completed)
    assert len(jobs) == 7, "the planner does the first part"
    working.cancel()
    await asyncio.wait([working])
    await bus.stop()

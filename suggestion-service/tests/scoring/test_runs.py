"""A run sees everything that was answered before it was asked for, and ends right whatever happens."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from chassis.core.identity import Identity, Role
from chassis.core.problems import Unavailable
from suggestion_service.engine import Query
from testing.service import ok, problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
PUMP = "the pump stops when the tank is full"


async def ask(service: Any, **params: Any) -> str:
    response = await service.http.post("/suggestions/generate", params=params, headers={"Prefer": "respond-async"})
    assert response.status_code == 202, response.text
    run_id = response.json()["id"]
    assert response.headers["location"] == f"/api/v1/suggestions/runs/{run_id}"
    return str(run_id)


def many_pairs(catalog: Any, number: int) -> None:
    for _ in range(number):
        catalog.requirement(PUMP)
        catalog.test_case(PUMP)


async def test_a_run_sees_what_no_event_has_brought_yet(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 150)
    catalog.delete(next(iter(catalog.items)))
    run = await service.generate(threshold=0)
    assert (run["status"], run["progress"], run["error"]) == ("completed", 1, None)
    assert run["pairs_analyzed"] == run["suggestions_created"] == 149 * 150
    assert (await service.read("/suggestions", limit=1))["total"] == 149 * 150


async def test_an_event_that_nobody_can_read_holds_up_no_run(service: Any, catalog: Any) -> None:
    catalog.feed.append(
        b'{"sequence":1,"id":"0b6ff60c-4fd0-4f1c-8a1f-1c9c4d6f0001","source":"/traceline/catalog",'
        b'"type":"catalog.thing.unheard","time":"2026-01-01T00:00:00Z","actor":"system","data":{}}'
    )
    many_pairs(catalog, 1)
    for _ in range(2):
        run = await service.generate()
        assert run["status"] == "completed"
    assert len(await service.suggestions()) == 1


async def test_runs_are_listed_that_have_changed_since(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 1)
    first, second = await service.generate(), await service.generate()
    waiting = await ask(service)

    async def changed_since(moment: str) -> tuple[int, list[str]]:
        listed = await service.read("/suggestions/runs", updated_since=moment)
        return listed["total"], [run["id"] for run in listed["items"]]

    assert await changed_since(first["finished_at"]) == (3, [waiting, second["id"], first["id"]])
    assert await changed_since(second["finished_at"]) == (2, [waiting, second["id"]])
    assert await changed_since("2100-01-01") == (1, [waiting])


async def test_the_answer_is_the_finished_run(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 1)
    working = asyncio.create_task(service.runs.run())
    run = await service.post("/suggestions/generate")
    working.cancel()
    assert (run["status"], run["algorithm"], run["threshold"]) == ("completed", "tfidf", 0.3)
    assert (run["suggestions_created"], run["suggestions_skipped"], run["pairs_analyzed"]) == (1, 0, 1)
    assert run["created_by"] == "reviewer@example.test"
    (event,) = await service.events("suggestion.run.finished")
    assert event["actor"] == "reviewer@example.test"
    assert event["data"] == {
        "run_id": run["id"],
        "status": "completed",
        "progress": 1.0,
        "algorithm": "tfidf",
        "threshold": 0.3,
        "pending_only": False,
        "advised_threshold": None,
        "pairs_analyzed": 1,
        "suggestions_created": 1,
        "suggestions_updated": 0,
        "suggestions_withdrawn": 0,
        "suggestions_skipped": 0,
        "error": None,
    }
    assert await service.events("suggestion.item.generated") == []


async def test_a_threshold_of_0_is_0(service: Any, catalog: Any) -> None:
    catalog.requirement("the pump stops when the big green tank over the old cellar is full of cold water")
    catalog.test_case("paint the tank and carry twelve long ladders through both narrow gates before noon")
    assert (await service.generate())["suggestions_created"] == 0
    run = await service.generate(threshold="-0")
    assert (str(run["threshold"]), run["suggestions_created"]) == ("0.0", 1)
    assert (await service.generate(threshold=0))["suggestions_skipped"] == 1


@pytest.mark.parametrize(
    ("algorithm", "method"),
    [("tfidf", "semantic_similarity"), ("keyword", "keyword_match"), ("hybrid", "hybrid")],
)
async def test_each_algorithm_has_its_method_and_explains_itself(
    service: Any, catalog: Any, algorithm: str, method: str
) -> None:
    catalog.requirement(PUMP, "water", module="pumps", tags=["wet"])
    catalog.test_case(PUMP, "steam", module="pumps", priority="high")
    await service.generate(algorithm=algorithm)
    (found,) = await service.suggestions()
    assert found["suggestion_method"] == method
    assert "pump" in found["suggestion_reason"]
    metadata = found["suggestion_metadata"]
    assert metadata["algorithm"] == algorithm
    score = sum(part["score"] * part["weight"] for part in metadata["components"].values())
    assert found["similarity_score"] == pytest.approx(score, abs=1e-6)
    assert found["similarity_score"] == round(found["similarity_score"], 6)


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
async def test_the_score_of_each_suggestion_of_a_record_adds_up(service: Any, catalog: Any, algorithm: str) -> None:
    words = ["pump", "tank", "valve", "lamp", "50 Hz", "SHA2", "rx_parity_err", "泵停止"]
    for number in range(8):
        said = f"{words[number]} {words[(number + 1) % 8]} {words[(number + 3) % 8]}"
        catalog.requirement(said, module=f"module{number % 3}", tags=["wet", f"tag{number % 2}"])
        catalog.test_case(said.title(), f"{said} {words[number - 1]}", module=f"module{number % 2}", tags=["wet"])
    await service.generate(algorithm=algorithm, threshold=0)
    found = await service.suggestions(limit=500)
    assert len(found) > 40
    for suggestion in found:
        parts = suggestion["suggestion_metadata"]["components"].values()
        assert sum(part["weight"] for part in parts) == pytest.approx(1.0, abs=1e-6)
        assert sum(part["contribution"] for part in parts) == pytest.approx(suggestion["similarity_score"], abs=1e-6)
        assert all(part["contribution"] == pytest.approx(part["weight"] * part["score"], abs=1e-8) for part in parts)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"threshold": "nan"}, "threshold"),
        ({"threshold": "inf"}, "threshold"),
        ({"threshold": "1.01"}, "threshold"),
        ({"threshold": "-0.01"}, "threshold"),
        ({"algorithm": "magic"}, "algorithm"),
        ({"algorithm": ""}, "algorithm"),
    ],
)
async def test_what_no_run_can_be_is_refused(service: Any, params: dict[str, str], field: str) -> None:
    response = await service.http.post("/suggestions/generate", params=params)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == f"/query/{field}"


async def test_the_same_idempotency_key_gives_the_same_run(service: Any) -> None:
    headers = {"Prefer": "respond-async", "Idempotency-Key": "one"}
    first, second = [await service.http.post("/suggestions/generate", headers=headers) for _ in range(2)]
    assert first.json()["id"] == second.json()["id"]
    assert (await service.read("/suggestions/runs"))["total"] == 1


async def test_each_user_has_one_run_that_waits(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 2)
    headers = {"Prefer": "respond-async"}
    first = ok(await service.http.post("/suggestions/generate", headers=headers), 202)
    problem(await service.http.post("/suggestions/generate", headers=headers), 409, "run_queued")
    other = service.client(Identity(3, "other@example.test", Role.REVIEWER))
    ok(await other.post("/suggestions/generate", headers=headers), 202)
    ok(await service.http.post(f"/suggestions/runs/{first['id']}/cancel"))
    ok(await service.http.post("/suggestions/generate", headers=headers), 202)


async def test_a_viewer_reads_runs_and_starts_none(service: Any, viewer: Any) -> None:
    await service.generate()
    (run,) = (await viewer.get("/suggestions/runs")).json()["items"]
    assert (await viewer.get(f"/suggestions/runs/{run['id']}")).json() == run
    assert (await viewer.post("/suggestions/generate")).status_code == 403
    assert (await viewer.post(f"/suggestions/runs/{run['id']}/cancel")).status_code == 403


async def test_a_queued_run_is_cancelled_and_not_begun(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 1)
    run_id = await ask(service)
    cancelled = await service.post(f"/suggestions/runs/{run_id}/cancel")
    assert cancelled["status"] == "cancelled"
    assert await service.runs.work_off_next() is False
    again = await service.post(f"/suggestions/runs/{run_id}/cancel", status=409)
    assert again["code"] == "run_ended"
    await service.post(f"/suggestions/runs/{UNKNOWN}/cancel", status=404)
    assert (await service.http.get(f"/suggestions/runs/{UNKNOWN}")).status_code == 404
    (event,) = await service.events("suggestion.run.finished")
    assert event["data"]["status"] == "cancelled"


async def test_a_running_run_stops_where_it_is_when_it_is_cancelled(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 60)
    run_id = await ask(service, threshold=0)
    async with service.stalling_after(2000) as stalled:
        working = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        await service.post(f"/suggestions/runs/{run_id}/cancel")
    await working
    run = await service.read(f"/suggestions/runs/{run_id}")
    assert (run["status"], run["suggestions_created"]) == ("cancelled", 2000)
    assert 0 < run["progress"] < 1
    assert (await service.read("/suggestions", limit=1))["total"] == 2000
    assert len(await service.events("suggestion.run.finished")) == 1


async def stop_halfway(service: Any) -> None:
    """Stop a worker, gracefully, that works on a run and has stored 2000 suggestions."""
    async with service.stalling_after(2000) as stalled:
        working = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        working.cancel()
        await asyncio.wait([working])
    service.start()


async def test_a_worker_that_is_stopped_leaves_its_run_to_others_at_once(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 60)
    run_id = await ask(service, threshold=0)
    await stop_halfway(service)
    (row,) = await service.rows("SELECT attempts FROM run_parts")
    assert row["attempts"] == 0, "being stopped is no failure"
    assert await service.runs.work_off_next()
    run = await service.read(f"/suggestions/runs/{run_id}")
    assert (run["status"], run["suggestions_created"], run["suggestions_skipped"]) == ("completed", 3600, 0)


async def test_a_run_is_taken_up_again_after_a_crash_and_ends_right(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 60)
    run_id = await ask(service, threshold=0)
    await stop_halfway(service)
    # As a crash leaves it: nobody gave the claim back.
    claimed = "UPDATE run_parts SET claim = gen_random_uuid(), attempts = 1, claimed_until = now() + interval '15 s'"
    await service.rows(claimed)
    run = await service.read(f"/suggestions/runs/{run_id}")
    assert (run["status"], run["suggestions_created"]) == ("running", 2000)
    assert await service.runs.work_off_next() is False, "the dead worker's claim still stands"
    await service.rows("UPDATE run_parts SET claimed_until = now() - interval '1 second'")
    assert await service.runs.work_off_next()

    run = await service.read(f"/suggestions/runs/{run_id}")
    assert (run["status"], run["error"]) == ("completed", None)
    assert (run["suggestions_created"], run["suggestions_skipped"], run["pairs_analyzed"]) == (3600, 0, 3600)
    assert (await service.read("/suggestions", limit=1))["total"] == 3600
    assert len(await service.events("suggestion.run.finished")) == 1


async def test_a_worker_that_was_taken_for_dead_stores_nothing_more(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 60)
    run_id = await ask(service, threshold=0)
    async with service.stalling_after(2000) as stalled:
        slow = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        await service.rows("UPDATE run_parts SET claim = gen_random_uuid()")
    await slow
    run = await service.read(f"/suggestions/runs/{run_id}")
    assert (run["status"], run["suggestions_created"]) == ("running", 2000)
    assert (await service.read("/suggestions", limit=1))["total"] == 2000


async def test_an_item_that_is_deleted_during_a_run_gets_no_suggestion_any_more(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 60)
    run_id = await ask(service, threshold=0)
    async with service.stalling_after(2000) as stalled:
        working = asyncio.create_task(service.runs.work_off_next())
        await stalled()
        gone = next(item for item, state in catalog.items.items() if "steps" in state)
        catalog.delete(gone)
        deleting = asyncio.create_task(service.inbox.receive(catalog.feed[-1:]))
    await asyncio.gather(working, deleting)
    assert (await service.read(f"/suggestions/runs/{run_id}"))["status"] == "completed"
    assert await service.suggestions(test_case_id=str(gone)) == []
    assert (await service.read("/suggestions", limit=1))["total"] == 59 * 60


async def test_a_run_whose_process_ends_every_time_is_given_up(service: Any) -> None:
    run_id = await ask(service)
    await service.rows("UPDATE runs SET status = 'running', attempts = 4, claimed_until = now() - interval '1 second'")
    await service.runs.work_off_next()
    run = await service.read(f"/suggestions/runs/{run_id}")
    assert run["status"] == "failed"
    assert "4 times" in run["error"]


async def test_a_run_whose_process_ended_three_times_is_done_after_a_quiet_time(service: Any) -> None:
    run_id = await ask(service)
    await service.rows("UPDATE runs SET status = 'running', attempts = 3, claimed_until = now() - interval '1 minute'")
    assert not await service.runs.work_off_next(), "what ended it may still go on"
    await service.rows("UPDATE runs SET claimed_until = now() - interval '6 minutes'")
    while await service.runs.work_off_next():
        pass
    assert (await service.read(f"/suggestions/runs/{run_id}"))["status"] == "completed"


async def test_a_run_fails_in_words_when_catalog_is_away(service: Any, catalog: Any) -> None:
    catalog.answers_with = 503
    run = await service.generate()
    assert run["status"] == "failed"
    assert "catalog-service" in run["error"]
    (event,) = await service.events("suggestion.run.finished")
    assert (event["data"]["status"], event["data"]["error"]) == ("failed", run["error"])


async def test_two_workers_never_take_the_same_run(service: Any, serve: Any) -> None:
    for _ in range(3):
        await ask(service)
        worked = await asyncio.gather(*(service.runs.work_off_next() for _ in range(6)))
        assert sum(worked) == 1
    assert {run["status"] for run in (await service.read("/suggestions/runs"))["items"]} == {"completed"}


async def test_two_runs_at_once_suggest_each_pair_once(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 40)
    runs = [await ask(service, threshold=0)]
    other = service.client(Identity(3, "other@example.test", Role.REVIEWER))
    headers = {"Prefer": "respond-async"}
    runs.append(ok(await other.post("/suggestions/generate", params={"threshold": 0}, headers=headers), 202)["id"])
    while any(await asyncio.gather(*(service.runs.work_off_next() for _ in runs))):
        pass
    ended = [await service.read(f"/suggestions/runs/{run_id}") for run_id in runs]
    assert sum(run["suggestions_created"] for run in ended) == 1600
    assert sum(run["suggestions_skipped"] for run in ended) == 1600


async def test_the_corpus_of_another_process_catches_up_with_what_this_one_applied(service: Any, catalog: Any) -> None:
    many_pairs(catalog, 2)
    await service.score()
    behind = service.corpora
    service.start()
    changed = next(iter(catalog.items))
    catalog.change(changed, title="a lamp burns in the hall", description="it is dark")
    gone = list(catalog.items)[2]
    catalog.delete(gone)
    await service.follow()
    view = await behind.refresh()
    assert view.text_sequences == {
        UUID(row["id"]): row["text_sequence"]
        for row in await service.rows("SELECT id::text, text_sequence FROM items WHERE NOT deleted")
    }
    assert gone not in view.text_sequences
    compared = {item for block in view.scorer.score(Query("tfidf", 0)) for item in block.requirement_ids}
    assert compared == {item for item, state in catalog.items.items() if "steps" not in state} - {changed}


async def test_catching_up_says_when_catalog_refuses(service: Any, catalog: Any) -> None:
    catalog.answers_with = 401
    with pytest.raises(Unavailable, match="401"):
        await service.feed.catch_up()


async def test_a_run_that_leaves_more_than_anybody_reads_says_which_threshold_leaves_three(
    service: Any, catalog: Any
) -> None:
    many_pairs(catalog, 12)
    run = await service.generate(threshold=0)
    assert run["suggestions_created"] == 144
    score = (await service.suggestions(limit=1))[0]["similarity_score"]
    assert score <= run["advised_threshold"] < score + 0.01
    (event,) = await service.events("suggestion.run.finished")
    assert event["data"]["advised_threshold"] == run["advised_threshold"]
    few = await service.generate(threshold=1)
    assert few["advised_threshold"] is None

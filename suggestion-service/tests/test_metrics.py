"""What those who run this service see of it: each figure after what it counts has really happened."""

from typing import Any

from testing.metrics import measured, rises

PUMP = "the pump stops when the tank is full"
OTHERS = ("a driver opens both doors at once", "every invoice shows its total", "lamps burn red before trains pass")
METHOD = "semantic_similarity"


def reviewed(decision: str) -> str:
    return f'traceline_suggestions_reviewed_total{{decision="{decision}",method="{METHOD}"}}'


async def test_a_run_counts_with_its_pairs_its_time_and_what_it_suggested(service: Any, catalog: Any) -> None:
    for _ in range(3):
        catalog.requirement(PUMP)
    for _ in range(2):
        catalog.test_case(PUMP)
    before = await measured()
    run = await service.generate()
    risen = rises(before, await measured())
    assert risen['traceline_generation_runs_total{algorithm="tfidf",status="completed"}'] == 1
    assert risen["traceline_generation_pairs_total"] == run["pairs_analyzed"] == 6
    assert 0 < risen["traceline_generation_seconds_total"] < 60
    assert risen[f'traceline_suggestions_created_total{{method="{METHOD}"}}'] == run["suggestions_created"] == 6


async def test_runs_that_fail_and_that_are_cancelled_count_as_such(service: Any, catalog: Any) -> None:
    before = await measured()
    queued = await service.http.post("/suggestions/generate", headers={"Prefer": "respond-async"})
    await service.post(f"/suggestions/runs/{queued.json()['id']}/cancel")
    catalog.answers_with = 503
    await service.generate(algorithm="hybrid")
    risen = rises(before, await measured())
    assert {name: number for name, number in risen.items() if name.startswith("traceline_generation_runs")} == {
        'traceline_generation_runs_total{algorithm="tfidf",status="cancelled"}': 1,
        'traceline_generation_runs_total{algorithm="hybrid",status="failed"}': 1,
    }


async def test_what_the_background_and_the_rescore_sweep_suggest_counts(service: Any, catalog: Any) -> None:
    before = await measured()
    await service.pair()
    assert rises(before, await measured())[f'traceline_suggestions_created_total{{method="{METHOD}"}}'] == 1
    await service.rows("DELETE FROM suggestions")
    before = await measured()
    await service.rescore_sweep.sweep()
    assert rises(before, await measured())[f'traceline_suggestions_created_total{{method="{METHOD}"}}'] == 1


async def test_each_review_counts_once_by_its_decision(service: Any, catalog: Any) -> None:
    before = await measured()
    pairs = [await service.pair(text) for text in (PUMP, *OTHERS)]
    ids = [pair["id"] for pair in pairs]
    await service.post(f"/suggestions/{ids[0]}/accept")
    await service.post(f"/suggestions/{ids[0]}/accept", status=409)
    await service.post(f"/suggestions/{ids[1]}/reject")
    await service.post("/suggestions/bulk-review", {"action": "accept", "ids": [ids[2], ids[0]]})
    await service.post("/suggestions/bulk-review", {"action": "reject", "ids": [ids[3], ids[1]]})
    risen = rises(before, await measured())
    assert (risen[reviewed("accepted")], risen[reviewed("rejected")]) == (2, 2)


async def test_an_acceptance_that_is_finished_later_counts_then(service: Any, catalog: Any) -> None:
    suggestion = await service.pair()
    catalog.answers_with = 503
    before = await measured()
    await service.post(f"/suggestions/{suggestion['id']}/accept", status=503)
    assert reviewed("accepted") not in rises(before, await measured())
    catalog.answers_with = None
    await service.reconcile()
    assert rises(before, await measured())[reviewed("accepted")] == 1

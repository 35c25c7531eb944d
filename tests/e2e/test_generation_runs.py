"""Generation over everything, as a run that can be watched, listed and cancelled."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

UNKNOWN = "00000000-0000-4000-8000-000000000000"
STATUSES = {"queued", "running", "completed", "failed", "cancelled"}


def test_a_finished_run_says_what_it_did(reviewer: Traceline) -> None:
    reviewer.create_pair()
    run = reviewer.generate(algorithm="tfidf", threshold=0.4)
    assert (run["status"], run["algorithm"], run["threshold"]) == ("completed", "tfidf", 0.4)
    assert run["progress"] == 1
    assert run["pairs_analyzed"] > 0
    assert run["suggestions_created"] + run["suggestions_skipped"] > 0
    assert run["started_at"] <= run["finished_at"]
    assert run["finished_at"].endswith("Z")
    assert run["error"] is None
    assert ok(reviewer.get(f"/suggestions/runs/{run['id']}")) == run


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
def test_every_algorithm_can_be_asked_for(reviewer: Traceline, algorithm: str) -> None:
    run = reviewer.generate(algorithm=algorithm, threshold=0.5)
    assert (run["algorithm"], run["threshold"]) == (algorithm, 0.5)


def test_an_algorithm_is_tfidf_at_0_3_unless_something_else_is_said(reviewer: Traceline) -> None:
    run = reviewer.generate()
    assert (run["algorithm"], run["threshold"]) == ("tfidf", 0.3)


def test_a_run_may_go_on_after_the_answer(reviewer: Traceline) -> None:
    response = reviewer.post("/suggestions/generate", headers={"Prefer": "respond-async"})
    queued = ok(response, 202)
    assert queued["status"] in STATUSES
    path = response.headers["location"]
    assert path.endswith(f"/api/v1/suggestions/runs/{queued['id']}")

    def finished() -> Json | None:
        run = reviewer.read(path.removeprefix("/api/v1"))
        return run if run["status"] == "completed" else None

    assert eventually(finished, "the end of the run")["progress"] == 1


def test_several_runs_at_once_suggest_no_pair_twice(reviewer: Traceline) -> None:
    pairs = [reviewer.create_pair() for _ in range(5)]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(reviewer.generate) for _ in range(3)]
    assert len({run.result()["id"] for run in runs}) == 3
    for requirement, test_case in pairs:
        assert len(reviewer.suggestions_for(requirement["id"], test_case["id"])) == 1


def test_runs_are_listed_newest_first(reviewer: Traceline) -> None:
    made = [reviewer.generate()["id"] for _ in range(2)]
    listed = [run["id"] for run in reviewer.read("/suggestions/runs", limit=10)["items"]]
    assert listed.index(made[1]) < listed.index(made[0])


def test_a_finished_run_cannot_be_cancelled(reviewer: Traceline) -> None:
    run = reviewer.generate()
    problem(reviewer.post(f"/suggestions/runs/{run['id']}/cancel"), 409)
    assert reviewer.read(f"/suggestions/runs/{run['id']}")["status"] == "completed"


def test_a_run_that_goes_on_can_be_cancelled(reviewer: Traceline) -> None:
    """It may be over before the cancellation arrives: then it says so, and is what it was."""
    run = ok(reviewer.post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)
    response = reviewer.post(f"/suggestions/runs/{run['id']}/cancel")
    if response.status_code == 409:
        problem(response, 409)
        final = {"completed"}
    else:
        assert response.status_code in {200, 202}
        final = {"cancelled", "completed"}
    eventually(lambda: reviewer.read(f"/suggestions/runs/{run['id']}")["status"] in final, "the end of the run")


def test_a_run_that_does_not_exist_is_not_found(reviewer: Traceline) -> None:
    problem(reviewer.get(f"/suggestions/runs/{UNKNOWN}"), 404)
    problem(reviewer.post(f"/suggestions/runs/{UNKNOWN}/cancel"), 404)


@pytest.mark.parametrize(
    "params",
    [
        {"threshold": "-0.1"},
        {"threshold": "1.01"},
        {"threshold": "nan"},
        {"threshold": "1e999"},
        {"threshold": "high"},
        {"algorithm": "magic"},
        {"algorithm": ""},
    ],
)
def test_what_no_algorithm_knows_is_refused(reviewer: Traceline, params: dict[str, Any]) -> None:
    problem(reviewer.post("/suggestions/generate", params=params), 422, field=next(iter(params)))

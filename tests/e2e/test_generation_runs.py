"""Generation over everything, as a run that can be watched, listed and cancelled."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-SUGG-1")


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
def test_a_finished_run_says_what_it_did(reviewer: Traceline, algorithm: str) -> None:
    reviewer.create_pair()
    run = reviewer.generate(algorithm=algorithm, threshold=0.4)
    assert (run["status"], run["algorithm"], run["threshold"]) == ("completed", algorithm, 0.4)
    assert (run["progress"], run["error"]) == (1, None)
    assert run["pairs_analyzed"] > 0
    assert run["suggestions_created"] + run["suggestions_skipped"] > 0
    assert run["started_at"] <= run["finished_at"]
    assert ok(reviewer.get(f"/suggestions/runs/{run['id']}")) == run
    assert reviewer.read("/suggestions/runs", limit=1)["items"] == [run]
    problem(reviewer.post(f"/suggestions/runs/{run['id']}/cancel"), 409)


def test_a_run_may_go_on_after_the_answer(reviewer: Traceline) -> None:
    response = reviewer.post("/suggestions/generate", headers={"Prefer": "respond-async"})
    queued = ok(response, 202)
    path = response.headers["location"]
    assert path == f"{reviewer.api}/suggestions/runs/{queued['id']}"

    def finished() -> Json | None:
        run = reviewer.read(path.removeprefix("/api/v1"))
        return run if run["status"] == "completed" else None

    assert eventually(finished, "the end of the run")["progress"] == 1


def test_several_runs_at_once_suggest_no_pair_twice(admin: Traceline, reviewer: Traceline) -> None:
    pairs = [reviewer.create_pair() for _ in range(5)]
    # Of each user one may wait for its turn.
    askers = [reviewer, *(admin.new_user("reviewer") for _ in range(2))]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(asker.generate) for asker in askers]
    assert len({run.result()["id"] for run in runs}) == 3
    for requirement, test_case in pairs:
        assert len(reviewer.suggestions_for(requirement["id"], test_case["id"])) == 1


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

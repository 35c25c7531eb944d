"""Uploads of results over HTTP, in the stack: from POST until what they say can be read."""

import statistics
import time
from http import HTTPStatus
from pathlib import Path

from acceptance.client import Traceline, ok
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from benchmarks.engine.table import header, row, seconds
from benchmarks.exchange import junit_file

_PAUSE = 0.05
_SMALL = 1000
_TIMES = 20


def main(folder: Path, cases: int) -> None:
    """Print what a report of so many test cases takes, unknown and known, and what a small one does."""
    with fresh_folder() as place, RunningStack(place) as running, Traceline(running.base_url) as client:
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        header("From POST to visible state, in the stack", "s", "goal")
        for number, what in enumerate(("tests that nobody knew", "the same tests, another run")):
            path = folder / f"run-{number}.xml"
            junit_file.write(path, cases, number)
            row(f"{cases:,}: {what}", seconds(_visible(admin, path, cases)), "10")
        times = []
        for number in range(_TIMES):
            path = folder / f"small-{number}.xml"
            junit_file.write(path, _SMALL, number)
            times.append(_visible(admin, path, _SMALL))
        row(f"{_SMALL:,}: median of {_TIMES}", seconds(statistics.median(times)), "0.3")
        row(f"{_SMALL:,}: the slowest", seconds(max(times)))


def _visible(admin: Traceline, path: Path, cases: int) -> float:
    """Return the seconds until the run of a report has all its results, in each state of a test, too."""
    began = time.perf_counter()
    answer = admin.post("/test-results", content=path.read_bytes(), params={"name": path.stem}, headers=_XML)
    body = ok(answer, answer.status_code)
    if answer.status_code == HTTPStatus.ACCEPTED:
        job = body
        while job["status"] not in {"completed", "failed"}:
            time.sleep(_PAUSE)
            job = admin.read(f"/test-results/{job['id']}")
        body = job["results"]
    run = admin.read(f"/test-runs/{body['run']['id']}")
    tests = admin.read("/automated-tests", limit=1)["total"]
    took = time.perf_counter() - began
    if run["counts"]["tests"] != cases or tests < cases:
        raise RuntimeError(f"{path.name}: {run['counts']}, {tests} tests, not {cases}.")
    return took


_XML = {"Content-Type": "application/xml"}

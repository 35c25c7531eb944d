"""Workers are killed while they read, plan and apply an import: it ends as if nothing had happened, and once."""

from collections.abc import Iterable
from uuid import uuid4

import orjson
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, said
from acceptance.faults.invariants import Hold
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

ROWS = 5000
MANY = 20_000
ENDED = {"planned", "applied", "failed", "cancelled"}


def records(prefix: str) -> Iterable[Json]:
    fields = {"type": "functional", "priority": "high", "module": prefix}
    fields["description"] = "All doors shall be closed before departure. " * 5
    for number in range(ROWS):
        yield {"kind": "requirement", "external_id": f"{prefix}-{number}", "title": f"Door {number}", **fields}


@pytest.mark.parametrize(
    "phase", ["applying", *(pytest.param(name, marks=pytest.mark.long) for name in ("reading", "planning", "parts"))]
)
def test_an_import_survives_the_end_of_its_worker(
    stack: RunningStack, admin: Traceline, hold: Hold, phase: str
) -> None:
    prefix = uuid4().hex
    content = b"".join(orjson.dumps(record) + b"\n" for record in records(prefix))
    headers = {"Content-Type": "application/x-ndjson", "Prefer": "respond-async"}
    answer = admin.post("/imports", content=content, headers=headers)
    assert answer.status_code == 202, said(answer)
    place = f"/imports/{answer.json()['id']}"
    if phase in {"reading", "planning"}:
        kill_in(stack, admin, place, phase)
    planned = wait(admin, place)
    assert planned["counts"]["requirements"]["create"] == ROWS, planned
    asked = {"expect": planned["plan_hash"], "atomic": phase != "parts"}
    applying = admin.post(f"{place}/apply", json=asked, headers={"Prefer": "respond-async"})
    assert applying.status_code in {200, 202}, said(applying)
    if phase in {"applying", "parts"}:
        kill_in(stack, admin, place, "applying")
    applied = wait(admin, place, "planned")
    assert (applied["status"], applied["counts"]) == ("applied", planned["counts"]), applied
    made = {admin.read(f"/requirements/by-external-id/{prefix}-{number}")["title"] for number in (0, ROWS - 1)}
    assert made == {"Door 0", f"Door {ROWS - 1}"}
    assert admin.read("/requirements", module=prefix, limit=1)["total"] == ROWS
    stack.wait_ready()
    hold()


def kill_in(stack: RunningStack, admin: Traceline, place: str, phase: str) -> None:
    """Kill the worker as soon as the import is in a phase; one that is faster than the look at it is as good."""
    eventually(lambda: admin.read(place)["phase"] == phase or admin.read(place)["status"] in ENDED, phase)
    stack.kill("catalog-worker")


def wait(admin: Traceline, place: str, *going_on: str) -> Json:
    """Return an import when it waits for nothing any more."""
    waiting = {"received", "reading", "applying", *going_on}
    eventually(lambda: admin.read(place)["status"] not in waiting, "the end of an import")
    return admin.read(place)


@pytest.mark.long
def test_what_a_large_import_brings_is_scored_by_one_run_and_copied(admin: Traceline, hold: Hold) -> None:
    prefix = uuid4().hex
    fields = {"type": "functional", "priority": "high", "module": prefix}
    items = [
        {"kind": kind, "external_id": f"{prefix}-{number}", "title": texts.words(3), "description": words, **fields}
        for number in range(MANY // 2)
        for words in (texts.words(12),)
        for kind in ("requirement", "test_case")
    ]
    runs = admin.read("/suggestions/runs", limit=1)["total"]
    applied = admin.plan_import(items, apply="always")
    assert applied["status"] == "applied", applied

    def completed() -> bool:
        newest = admin.read("/suggestions/runs", limit=1)
        return bool(newest["total"] > runs and newest["items"][0]["status"] == "completed")

    eventually(completed, "the run over what was imported", seconds=240)
    hold()
    assert admin.read("/suggestions/runs", limit=1)["total"] == runs + 1
    for number in (0, MANY // 2 - 1):
        ends = [
            admin.read(f"/{kind}/by-external-id/{prefix}-{number}")["id"] for kind in ("requirements", "test-cases")
        ]
        assert [found["status"] for found in admin.suggestions_for(*ends)] == ["pending"]

"""The data folder of an installation of version 0.1.0, started by this version: nothing of it is lost."""

from collections.abc import Iterator
from typing import Any

import pytest

from acceptance.client import Traceline, ok, requirement
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually
from chassis.local.postgres import Postgres
from testing import older

# What is there was made on one day of 2026.
OLD = {"RESULTS_STALE_DAYS": "3650", "RESULTS_RETENTION_DAYS": "3650", "FEED_RETENTION_DAYS": "36500"}
COUNTED = ("requirements", "test-cases", "links", "test-runs")


@pytest.fixture(scope="module")
def admin() -> Iterator[Traceline]:
    """The admin of before, with the password of before."""
    with fresh_folder() as place:
        place.mkdir()
        server = Postgres(place / "postgresql", {"fsync": "off"})
        try:
            for package in older.SCHEMAS:
                older.restore(package, server.database(package))
        finally:
            server.stop()
        with (
            RunningTraceline(place, **OLD) as running,
            Traceline(running.base_url, project="DEMO") as anyone,
        ):
            yield anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


def total(admin: Traceline, path: str, **query: Any) -> int:
    return int(ok(admin.get(path, params={"limit": 1, **query}))["total"])


def test_the_record_is_there(admin: Traceline) -> None:
    assert {path: total(admin, f"/{path}") for path in COUNTED} == {
        "requirements": 64,
        "test-cases": 94,
        "links": 42,
        "test-runs": 2,
    }


def test_pending_suggestions_are_scored_anew_and_nobody_loses_a_review(admin: Traceline) -> None:
    assert total(admin, "/suggestions", status="accepted") == 0
    eventually(lambda: total(admin, "/suggestions", status="pending") > 0, "suggestions on the new scale")


def test_verdicts_are_those_of_the_results_that_are_there(admin: Traceline) -> None:
    summary = ok(admin.get("/reports/verification", params={"limit": 1}))["summary"]
    assert summary["requirements"] == {
        "uncovered": 36,
        "failed": 1,
        "flaky": 1,
        "partial": 2,
        "not_run": 6,
        "stale": 0,
        "passed": 18,
    }


def test_the_audit_log_goes_on(admin: Traceline) -> None:
    assert total(admin, "/audit-log") > 0
    made = ok(admin.post("/requirements", json=requirement()), 201)
    eventually(lambda: total(admin, "/audit-log", resource_id=made["id"]), "the entry", equals=1)

"""The failing tests of requirements, as the verification report names them: with message, run, commit and person."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, cast
from uuid import UUID

from catalog_service.verdict_states import Severity
from catalog_service.verdicts import COUNTS_FOR, Basis, states_that_count
from chassis.core.wording import counted
from chassis.db.database import Connection
from chassis.db.erasure import without_pseudonyms
from chassis.web.listing import Row

_OF_REQUIREMENTS = "AND s.test_case_id IN (SELECT test_case_id FROM links WHERE requirement_id = ANY(%(ids)s))"
_MOST_NAMED = 20
"""Of one requirement; that there are more is said."""


class FailingTest(TypedDict):
    """A failing test of a requirement; `run` is the key of the run that it failed in last."""

    test_case: str | None
    class_name: str
    name: str
    at: datetime
    commit: str | None
    environment: str | None
    by_hand: bool
    run: str | None
    recorded_by: str | None
    message: str | None


def _failing(basis: Basis) -> str:
    return f"""
        WITH {states_that_count(_OF_REQUIREMENTS, basis)}
        SELECT l.requirement_id, coalesce(t.external_id, t.title) AS test_case, a.class_name, a.name,
               a.is_manual AS by_hand, s.at, s.commit, nullif(s.environment, '') AS environment, ran.key AS run,
               ran.recorded_by, said.message
        FROM states_that_count s JOIN automated_tests a ON a.id = s.test_id
        JOIN test_cases t ON t.id = s.test_case_id
        JOIN links l ON l.test_case_id = t.id AND l.requirement_id = ANY(%(ids)s) AND {COUNTS_FOR}
        LEFT JOIN LATERAL (
            SELECT e.run_id, e.at, r.key, CASE WHEN a.is_manual THEN r.created_by END AS recorded_by
            FROM executions e JOIN test_runs r ON r.id = e.run_id
            WHERE e.test_id = s.test_id AND e.context_id = s.context_id AND e.at <= s.at
            AND e.status IN ('failed', 'flaky') ORDER BY e.at DESC, e.run_id LIMIT 1
        ) AS ran ON true
        LEFT JOIN LATERAL (
            SELECT f.message FROM execution_failures f
            WHERE f.test_id = s.test_id AND f.at = ran.at AND f.run_id = ran.run_id LIMIT 1
        ) AS said ON true
        WHERE s.severity = {Severity.FAILED}
        ORDER BY l.requirement_id, t.external_id, t.id, a.class_name, a.name, s.lane, s.environment, a.id
    """


async def add_failing(connection: Connection, rows: Sequence[Row], basis: Basis, *, has_people: bool) -> None:
    """Add to requirements their `failing` tests, in place; to those that do not fail, none."""
    ids = [row["id"] for row in rows if row["counts"]["failed"]]
    found: dict[UUID, list[FailingTest]] = {}
    if ids:
        cursor = await connection.execute(_failing(basis), {"ids": ids, **basis.parameters})
        for row in await cursor.fetchall():
            row["recorded_by"] = without_pseudonyms(row["recorded_by"]) if row["recorded_by"] and has_people else None
            found.setdefault(row.pop("requirement_id"), []).append(cast(FailingTest, row))
    for row in rows:
        row["failing"] = found.get(row["id"], [])


def tell_failing(row: Mapping[str, Any]) -> list[str]:
    """Return a line a failing test of a requirement, which says that there are more where these are many."""
    tests: Sequence[FailingTest] = row["failing"]
    more = len(tests) - _MOST_NAMED
    return [*map(_tell, tests[:_MOST_NAMED]), *([f"and {counted(more, 'more test')} that fail"] if more > 0 else [])]


def _tell(test: FailingTest) -> str:
    where = ", ".join(place_of(test))
    return f"{name_of(test)} fails{f': {message}' if (message := first_line(test)) else ''} ({where})"


def name_of(test: FailingTest) -> str:
    """Return the name of a test with that of its class."""
    return " ".join(filter(None, (test["class_name"], test["name"])))


def first_line(test: FailingTest) -> str:
    """Return the first line of the message that a test failed with."""
    return (test["message"] or "").strip().partition("\n")[0].strip()


def place_of(test: FailingTest) -> list[str]:
    """Return in which run a test failed, at which commit, where, when, and who recorded it."""
    # The run of a person has no name but an id.
    parts = [
        ("run", None if test["by_hand"] else test["run"]),
        ("commit", test["commit"]),
        ("environment", test["environment"]),
    ]
    by = f"recorded by {test['recorded_by']}" if test["recorded_by"] else ""
    return [*(f"{name} {value}" for name, value in parts if value), *filter(None, [by]), f"{test['at']:%Y-%m-%d}"]

"""Stores a year of results, asks what pages ask for, and prints that beside the same made of the raw rows.

Takes some minutes and 5 GB of disk; ends by itself.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import psycopg

from acceptance.process import RunningTraceline, fresh_folder
from benchmarks.engine.table import header, row, seconds
from benchmarks.results.record import BRANCH, FULL, Year, fill, requirement, test_case
from benchmarks.running import log_in
from benchmarks.scale.reads import measure
from catalog_service.executions import retention
from chassis.core.projects import MAIN
from chassis.db.database import Database
from chassis.db.isolation import ENTER, state

_TIMES = 3
_MONTH_GOAL = 5.0
_LAST = """
    SELECT DISTINCT ON (e.test_id) e.test_id, c.test_case_id, e.status FROM executions e
    JOIN automated_test_cases c ON c.test_id = e.test_id JOIN run_contexts x ON x.id = e.context_id
    WHERE x.branch = %(branch)s {of_tests} ORDER BY e.test_id, e.at DESC
"""
_VERDICTS = """
    SELECT count(*) FROM (
        SELECT l.requirement_id FROM links l JOIN ({last}) AS last USING (test_case_id) {of_requirements}
        GROUP BY l.requirement_id HAVING bool_or(last.status = 'failed')) AS failed
"""
_OF_PAGE = """AND e.test_id = ANY(ARRAY(SELECT c.test_id FROM automated_test_cases c JOIN links USING (test_case_id)
    WHERE requirement_id = ANY(%(page)s)))"""
_PAGE = 50


def main() -> int:
    """Run it. Gives 1 when a goal was missed, and says which."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("--tests", type=int, default=FULL.tests, help=f"and requirements; default {FULL.tests:,}")
    parser.add_argument("--runs", type=int, default=FULL.runs_a_day, help=f"a day; default {FULL.runs_a_day}")
    parser.add_argument("--days", type=int, default=FULL.days, help=f"of results; default {FULL.days}")
    given = parser.parse_args()
    missed = compare(Year(given.tests, given.runs, given.days))
    for one in missed:
        print(f"Missed: {one}.")
    return 1 if missed else 0


def compare(year: Year) -> list[str]:
    """Print the figures of a year; return which goals were missed."""
    missed: list[str] = []
    with fresh_folder() as data, RunningTraceline(data) as running:
        url = running.database_url("catalog-service")
        header(f"The record: {year}", "s")
        began = time.perf_counter()
        asyncio.run(fill(url, year))
        row("filled, beside the API", seconds(time.perf_counter() - began))
        header("Quiet: one read after the other, ms", "p50", "worst", "goal p50", "raw rows")
        raw = _raw(url, year)
        for one in measure(running.base_url, log_in(running.base_url), _asked(year)):
            goal = "" if one.goal is None else f"{one.goal:.0f}"
            row(
                one.name,
                f"{one.median:.1f}",
                f"{one.worst:.1f}",
                goal,
                f"{raw[one.name]:,.0f}" if one.name in raw else "",
            )
            if one.goal is not None and one.median > one.goal:
                missed.append(f"{one.name}: {one.median:.0f} ms, not {one.goal:.0f}")
        header("A month that is over", "s", "goal", "raw rows")
        deleted, dropped = _month(url, year)
        row("dropped", seconds(dropped), f"{_MONTH_GOAL:.0f}", seconds(deleted))
        if dropped > _MONTH_GOAL:
            missed.append(f"a month is dropped in {dropped:.1f} s, not {_MONTH_GOAL:.0f}")
    return missed


def _asked(year: Year) -> list[tuple[str, str, float | None]]:
    """Return the reads: name, path, and the milliseconds that each may take where that is said."""
    some = year.tests // 2
    return [
        ("verdicts of a page of requirements", f"/reports/traceability-matrix?results=true&limit={_PAGE}", 50.0),
        ("results of a requirement", f"/requirements/{requirement(some)}/results", 50.0),
        ("history of a test case", f"/test-cases/{test_case(some)}/results", 10.0),
        ("trend of 30 days", "/reports/result-trend?days=30", 50.0),
        ("gate", "/reports/gate?max_failed=0", 150.0),
        ("gate with coverage and verified", "/reports/gate?min_coverage=80&min_verified=75&max_failed=0", None),
        ("verification of everything", f"/reports/verification?limit={_PAGE}", None),
        ("flaky tests", f"/reports/flaky-tests?limit={_PAGE}", None),
    ]


def _raw(url: str, year: Year) -> dict[str, float]:
    """Return the milliseconds of the SQL that would answer a read of the rows of executions alone, by its name."""
    some = year.tests // 2
    every = _VERDICTS.format(last=_LAST.format(of_tests=""), of_requirements="")
    of_page = _VERDICTS.format(
        last=_LAST.format(of_tests=_OF_PAGE), of_requirements="WHERE l.requirement_id = ANY(%(page)s)"
    )
    first = min(_PAGE, some)
    asked: list[tuple[str, str, Mapping[str, Any]]] = [
        ("verdicts of a page of requirements", of_page, {"page": [requirement(n) for n in range(1, first + 1)]}),
        ("results of a requirement", of_page, {"page": [requirement(some)]}),
        (
            "history of a test case",
            "SELECT e.* FROM executions e JOIN automated_test_cases USING (test_id) WHERE test_case_id = %(test_case)s"
            " ORDER BY at DESC LIMIT 50",
            {"test_case": test_case(some)},
        ),
        (
            "trend of 30 days",
            "SELECT (at AT TIME ZONE 'UTC')::date, status, count(*), sum(duration_ms) FROM executions"
            " WHERE at >= now() - interval '30 days' GROUP BY 1, 2",
            {},
        ),
        ("gate", every, {}),
        (
            "flaky tests",
            "SELECT test_id, count(*) FROM executions WHERE status = 'flaky' GROUP BY test_id ORDER BY 2 DESC LIMIT 50",
            {},
        ),
    ]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ENTER, state(MAIN))
        return {name: _timed(connection, sql, {"branch": BRANCH, **more}) for name, sql, more in asked}


def _timed(connection: psycopg.Connection[Any], sql: str, parameters: Mapping[str, Any]) -> float:
    times = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        connection.execute(sql, parameters).fetchall()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def _month(url: str, year: Year) -> tuple[float, float]:
    """Return the seconds in which the rows of a whole month are deleted, and in which the month is dropped."""
    first, end = year.months[min(1, len(year.months) - 1)]
    with psycopg.connect(url, autocommit=True) as connection:
        began = time.perf_counter()
        with connection.transaction(force_rollback=True):
            for table in ("executions", "execution_failures"):
                connection.execute(f"DELETE FROM {table} WHERE at >= %s AND at < %s", (first, end))
            deleted = time.perf_counter() - began
    return deleted, asyncio.run(_drop(url, end))


async def _drop(url: str, end: datetime) -> float:
    database = Database(url)
    await database.open()
    try:
        began = time.perf_counter()
        await retention.prune(database, end, retention=timedelta(), default_branch=BRANCH)
        return time.perf_counter() - began
    finally:
        await database.close()


if __name__ == "__main__":
    sys.exit(main())

"""Fills the catalog with a year of results as CI leaves it, in SQL: by uploads it would take hours.

Each requirement has a few test cases, each test case one test, and each run has every test. States are made by the
product itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from benchmarks.engine.record import opened
from catalog_service.executions import states
from chassis.db.isolation import SETTING

LINKS_OF_REQUIREMENT = 3
CONTEXT, BRANCH = 1, "main"


@dataclass(frozen=True)
class Year:
    """So many test cases, as many requirements and tests, and so many runs a day for so many days."""

    tests: int
    runs_a_day: int
    days: int

    @property
    def results(self) -> int:
        return self.tests * self.runs_a_day * self.days

    @property
    def began(self) -> datetime:
        return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=self.days)

    @property
    def months(self) -> list[tuple[datetime, datetime]]:
        """The months that it is in, each with its beginning and its end."""
        return list(_months(self.began, self.began + timedelta(days=self.days)))

    def __str__(self) -> str:
        return (
            f"{self.results:,} results: {self.tests:,} tests, {self.runs_a_day} runs a day for {self.days} days;"
            f" {self.tests:,} requirements, {LINKS_OF_REQUIREMENT * self.tests:,} links"
        )


FULL = Year(tests=10_000, runs_a_day=5, days=365)


def requirement(number: int) -> UUID:
    """Return the id of a requirement; they are numbered from 1."""
    return UUID(f"aaaaaaaa-0000-4000-8000-{number:012d}")


def test_case(number: int) -> UUID:
    """Return the id of a test case; they are numbered from 1."""
    return UUID(f"bbbbbbbb-0000-4000-8000-{number:012d}")


_REQUIREMENT = "('aaaaaaaa-0000-4000-8000-' || lpad(({})::text, 12, '0'))::uuid"
_TEST_CASE = "('bbbbbbbb-0000-4000-8000-' || lpad(({})::text, 12, '0'))::uuid"
_RUN = "('cccccccc-0000-4000-8000-' || lpad(({})::text, 12, '0'))::uuid"
_ITEM = """
    INSERT INTO {table} (id, external_id, title, description, type, priority, status, module, created_by, created_at,
                         updated_at {more})
    SELECT {id}, '{prefix}-' || n, 'The {prefix} number ' || n, 'What it is about.', 'functional', 'high', '{status}',
           'module ' || n %% 50, 'bench@traceline.local', %(began)s, %(began)s {values}
    FROM generate_series(1, %(tests)s) n
"""
_ITEMS = (
    _ITEM.format(
        table="requirements", id=_REQUIREMENT.format("n"), prefix="REQ", status="approved", more="", values=""
    ),
    _ITEM.format(
        table="test_cases",
        id=_TEST_CASE.format("n"),
        prefix="TC",
        status="ready",
        more=", automation_status",
        values=", 'automated'",
    ),
    f"""
    INSERT INTO links (id, requirement_id, test_case_id, link_type, link_source, created_at, requirement_version,
                       test_case_version)
    SELECT gen_random_uuid(), {_REQUIREMENT.format("n")}, {_TEST_CASE.format("(n * 7 + of * 13) %% %(tests)s + 1")},
           'verifies', 'imported', %(began)s, 1, 1
    FROM generate_series(1, %(tests)s) n CROSS JOIN generate_series(1, {LINKS_OF_REQUIREMENT}) of
    """,
    """
    INSERT INTO automated_tests (id, fingerprint, class_name, name, suite, file, first_seen, last_seen)
    OVERRIDING SYSTEM VALUE
    SELECT n, sha256(n::text::bytea), 'com.example.Class' || n / 20, 'test_' || n, 'suite', '', %(began)s, now()
    FROM generate_series(1, %(tests)s) n
    """,
    f"""
    INSERT INTO automated_test_cases (test_id, test_case_id, matched_by, named_at)
    SELECT n, {_TEST_CASE.format("n")}, 'named', %(began)s FROM generate_series(1, %(tests)s) n
    """,
    f"""
    INSERT INTO run_contexts (id, branch, environment, lane, last_run_at) OVERRIDING SYSTEM VALUE
    VALUES ({CONTEXT}, '{BRANCH}', '', 'ci/tests', now())
    """,
    f"""
    INSERT INTO test_runs (id, key, branch, environment, commit, at, position, status, counts, created_by,
                           created_at, updated_at, finished_at)
    SELECT {_RUN.format("k")}, 'bench:' || k, '{BRANCH}', '', md5(k::text), moment, moment, 'completed', '{{}}',
           'bench@traceline.local', moment, moment, moment
    FROM generate_series(1, %(runs)s) k
    CROSS JOIN LATERAL (SELECT %(began)s::timestamptz + (k - 1) * %(pause)s::interval AS moment) AS run
    """,
    f"""
    INSERT INTO run_lanes (run_id, context_id, position, health, is_partial, is_whole)
    SELECT id, {CONTEXT}, position, '{{}}', false, true FROM test_runs
    """,
)
# Of a hundred tests, two fail in a run, one is flaky, two are skipped. Rows come in the order of their runs.
_MONTH = (
    """
    INSERT INTO executions (test_id, context_id, at, run_id, duration_ms, status, outcomes)
    SELECT n, %(context)s, r.at, r.id, 5 + n %% 100,
           CASE WHEN dice < 2 THEN 'failed' WHEN dice < 3 THEN 'flaky' WHEN dice < 5 THEN 'skipped' ELSE 'passed' END,
           CASE WHEN dice < 2 THEN '4' WHEN dice < 3 THEN '3' WHEN dice < 5 THEN '1' ELSE '2' END
    FROM (SELECT * FROM test_runs WHERE at >= %(first)s AND at < %(end)s ORDER BY at) r
    CROSS JOIN generate_series(1, %(tests)s) n
    CROSS JOIN LATERAL (SELECT abs(hashint8extended(n, extract(epoch FROM r.at)::bigint)) %% 100 AS dice) AS thrown
    """,
    """
    INSERT INTO execution_failures (test_id, at, run_id, attempt, message, trace, iterations)
    SELECT test_id, at, run_id, 1, 'expected 2 doors, found ' || test_id, repeat('at com.example.Class.test ', 10), '{}'
    FROM executions WHERE at >= %(first)s AND at < %(end)s AND status IN ('failed', 'flaky')
    """,
    """
    UPDATE test_runs r SET duration_ms = e.duration_ms, counts = json_build_object(
        'tests', tests, 'passed', passed, 'failed', failed, 'flaky', flaky, 'skipped', skipped)
    FROM (
        SELECT run_id, count(*) AS tests, count(*) FILTER (WHERE status = 'passed') AS passed,
               count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'flaky') AS flaky,
               count(*) FILTER (WHERE status = 'skipped') AS skipped, sum(duration_ms) AS duration_ms
        FROM executions WHERE at >= %(first)s AND at < %(end)s GROUP BY run_id
    ) AS e WHERE e.run_id = r.id
    """,
)


async def fill(url: str, year: Year) -> None:
    """Put a year into an empty catalog. Args: ``url`` is its database, as of the owner."""
    runs = year.runs_a_day * year.days
    parameters = {
        "tests": year.tests,
        "context": CONTEXT,
        "runs": runs,
        "began": year.began,
        "pause": timedelta(days=1) / year.runs_a_day,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET {SETTING} = 'MAIN'")
        for statement in _ITEMS:
            connection.execute(statement, parameters)
        for first, end in year.months:
            connection.execute("SELECT make_execution_months(%s)", (first,))
            for statement in _MONTH:
                connection.execute(statement, {**parameters, "first": first, "end": end})
        connection.execute("VACUUM (ANALYZE)")
    async with opened(url) as catalog, catalog.transaction() as connection:
        numbers = range(1, year.tests + 1)
        await states.refresh(connection, [states.Affected(test_case(n), n, CONTEXT) for n in numbers])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) test_states")


def _months(first: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    while first < end:
        after = (first.replace(day=1) + timedelta(days=31)).replace(day=1)
        yield first, min(after, end)
        first = after

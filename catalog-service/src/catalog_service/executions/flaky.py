"""Test cases that pass and fail with the same code."""

from datetime import datetime

from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page

WORST_FIRST = Order(
    "flips:desc", (By("s.flips", int, True), By("s.at", datetime, True, member="last_run_at"), By("s.id", str))
)
_SOURCE = """(
    SELECT x.*, x.test_case_id || '-' || x.context_id AS id FROM test_case_state x
    WHERE x.status = 'flaky' OR x.flips > 0 OR position('3' in x.outcomes) > 0) s"""
_COLUMNS = """
    s.id,
    json_build_object('id', t.id, 'external_id', t.external_id, 'title', t.title, 'module', t.module) AS test_case,
    c.branch, nullif(c.environment, '') AS environment, s.status AS last_result, s.at AS last_run_at, s.flips,
    length(s.outcomes) AS runs, translate(s.outcomes, '1234', 'spkf') AS outcomes,
    round((length(s.outcomes) - length(replace(s.outcomes, '4', '')))::numeric
          / greatest(length(replace(s.outcomes, '1', '')), 1), 4)::float AS failure_rate,
    (SELECT min(a.first_seen) FROM automated_test_cases m JOIN automated_tests a ON a.id = m.test_id
     WHERE m.test_case_id = s.test_case_id) AS first_seen,
    (SELECT f.message FROM automated_test_cases m JOIN execution_failures f ON f.test_id = m.test_id
     JOIN test_runs r ON r.id = f.run_id AND r.context_id = s.context_id
     WHERE m.test_case_id = s.test_case_id ORDER BY f.at DESC, f.run_id, f.message COLLATE "C" LIMIT 1) AS last_message
"""
_JOINED = "JOIN test_cases t ON t.id = s.test_case_id JOIN run_contexts c ON c.id = s.context_id"


async def page(connection: Connection, branch: str, environment: str | None, wanted: PageRequest) -> Fetched:
    """Return a page of the test cases that are flaky on a branch, those that change most often first."""
    conditions = Conditions()
    conditions.add(
        "s.context_id IN (SELECT id FROM run_contexts WHERE branch = %(branch)s"
        " AND (%(environment)s::text IS NULL OR environment = %(environment)s))",
        branch=branch,
        environment=environment,
    )
    return await fetch_page(connection, _COLUMNS, _SOURCE, conditions, wanted, joined=_JOINED)

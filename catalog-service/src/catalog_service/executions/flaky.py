"""Tests that pass and fail with the same code, or change often."""

from datetime import datetime

from catalog_service.verdicts import UNSTEADY_AFTER
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page

WORST_FIRST = Order(
    "flips:desc",
    (By("s.changes", int, True, member="flips"), By("s.at", datetime, True, member="last_run_at"), By("s.id", str)),
)
_SOURCE = f"""(
    SELECT x.*, x.test_case_id || '-' || x.test_id || '-' || x.context_id AS id FROM test_states x
    WHERE x.status = 'flaky' OR x.changes >= {UNSTEADY_AFTER} OR strpos(x.outcomes, '3') > 0) s"""
_COLUMNS = f"""
    s.id,
    json_build_object('id', t.id, 'external_id', t.external_id, 'title', t.title, 'module', t.module) AS test_case,
    json_build_object('id', a.id, 'class_name', a.class_name, 'name', a.name) AS test,
    c.branch, nullif(c.environment, '') AS environment, c.lane, s.status AS last_result, s.at AS last_run_at,
    s.changes AS flips, s.changes >= {UNSTEADY_AFTER} AS unsteady,
    length(s.outcomes) AS runs, translate(s.outcomes, '1234', 'spkf') AS outcomes,
    round((length(s.outcomes) - length(replace(s.outcomes, '4', '')))::numeric
          / greatest(length(replace(s.outcomes, '1', '')), 1), 4)::float AS failure_rate,
    a.first_seen,
    (SELECT f.message FROM execution_failures f
     JOIN executions e ON (e.test_id, e.at, e.run_id) = (f.test_id, f.at, f.run_id) AND e.context_id = s.context_id
     WHERE f.test_id = s.test_id ORDER BY f.at DESC, f.run_id, f.message COLLATE "C" LIMIT 1) AS last_message
"""
_JOINED = (
    "JOIN test_cases t ON t.id = s.test_case_id JOIN run_contexts c ON c.id = s.context_id"
    " JOIN automated_tests a ON a.id = s.test_id"
)


async def page(connection: Connection, branch: str, environment: str | None, wanted: PageRequest) -> Fetched:
    """Return a page of the tests that are flaky or unsteady on a branch, those that change most often first."""
    conditions = Conditions()
    conditions.add(
        "s.context_id IN (SELECT id FROM run_contexts WHERE branch = %(branch)s"
        " AND (%(environment)s::text IS NULL OR environment = %(environment)s))",
        branch=branch,
        environment=environment,
    )
    return await fetch_page(connection, _COLUMNS, _SOURCE, conditions, wanted, joined=_JOINED)

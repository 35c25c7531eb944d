"""What was executed: of a run, of a test case, of a requirement."""

from datetime import datetime

from catalog_service.verdict_states import IS_BLOCKED
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page

NEWEST_FIRST = Order("at:desc", (By("e.at", datetime, True), By("e.id", str)))
_WORST_FIRST = "array_position(ARRAY['failed', 'flaky', 'blocked', 'skipped', 'passed'], {})"
WORST_FIRST = Order("status", (By("e.status", str, expression=_WORST_FIRST), By("e.id", str)))
"""For what one run executed, all of it at one time."""

_EXECUTION = f"""
    x.test_id, x.context_id, x.at, x.run_id, x.duration_ms, x.outcomes, x.iterations,
    CASE WHEN {IS_BLOCKED.format("x")} THEN 'blocked' ELSE x.status END AS status,
    x.test_id || '-' || x.context_id || '-' || x.run_id AS id"""
OF_RUN = f"(SELECT {_EXECUTION} FROM executions x WHERE x.run_id = %(run)s) e"
OF_TEST_CASE = f"""(SELECT {_EXECUTION} FROM executions x WHERE x.test_id IN (
    SELECT test_id FROM automated_test_cases WHERE test_case_id = %(test_case)s)) e"""
OF_REQUIREMENT = f"""(SELECT {_EXECUTION} FROM executions x WHERE x.test_id IN (
    SELECT c.test_id FROM automated_test_cases c JOIN links l ON l.test_case_id = c.test_case_id
    WHERE l.requirement_id = %(requirement)s)) e"""
"""What is a page of; each takes a parameter."""

_COLUMNS = """
    e.id, e.at, e.status, greatest(length(replace(e.outcomes, '0', '')), 1) AS attempts, e.duration_ms,
    f.message, f.trace,
    coalesce(f.iterations, '{}') AS iterations,
    json_build_object('id', t.id, 'class_name', t.class_name, 'name', t.name) AS test,
    json_build_object('id', r.id, 'key', r.key, 'branch', x.branch, 'commit', r.commit,
        'environment', nullif(x.environment, ''), 'build_url', r.build_url,
        'recorded_by', CASE WHEN t.is_manual THEN r.created_by END) AS run,
    coalesce((SELECT json_agg(json_build_object('id', c.id, 'external_id', c.external_id, 'title', c.title,
                'module', c.module) ORDER BY c.external_id, c.id)
              FROM automated_test_cases m JOIN test_cases c ON c.id = m.test_case_id WHERE m.test_id = e.test_id), '[]'
    ) AS test_cases
"""
_JOINED = """
    JOIN automated_tests t ON t.id = e.test_id JOIN test_runs r ON r.id = e.run_id
    JOIN run_contexts x ON x.id = e.context_id
    LEFT JOIN LATERAL (
        SELECT said.message, said.trace, said.iterations FROM execution_failures said
        WHERE said.test_id = e.test_id AND said.at = e.at AND said.run_id = e.run_id
        AND (e.status IN ('failed', 'flaky') OR t.is_manual) LIMIT 1
    ) f ON true
"""
# One failure after the other: a plan that is kept for all pages joined them with those of all months and all tests.


async def page(connection: Connection, source: str, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of executions of `source` under conditions on `e`."""
    return await fetch_page(connection, _COLUMNS, source, conditions, wanted, joined=_JOINED)

"""The SQL of how the last runs of test cases ended."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.db.rows import fetch_all

_LAST_RUNS = 10
_LOOKED_AT = 100
"""Executions of a test case, of which several may be of one run: of so many the last runs are told."""


class LastRun(TypedDict):
    """How a test case ended in a run: the worst of its tests."""

    test_case_id: UUID
    run_id: UUID
    at: datetime
    status: str


async def last_runs(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, list[LastRun]]:
    """Return the last runs of test cases on the branch, the newest last; those that never ran there are left out."""
    rows = await fetch_all(
        connection,
        LastRun,
        f"""
        SELECT asked.id AS test_case_id, runs.* FROM unnest(%(ids)s::uuid[]) AS asked (id) CROSS JOIN LATERAL (
            SELECT x.run_id, max(x.at) AS at,
                (ARRAY['failed', 'flaky', 'passed', 'skipped'])[min(array_position(
                    ARRAY['failed', 'flaky', 'passed', 'skipped'], x.status))] AS status
            FROM (
                SELECT e.run_id, e.at, e.status FROM automated_test_cases m
                JOIN executions e ON e.test_id = m.test_id JOIN run_contexts c ON c.id = e.context_id
                WHERE m.test_case_id = asked.id AND c.branch = %(branch)s ORDER BY e.at DESC LIMIT {_LOOKED_AT}
            ) AS x GROUP BY x.run_id ORDER BY at DESC, x.run_id LIMIT {_LAST_RUNS}
        ) AS runs ORDER BY runs.at, runs.run_id
        """,
        {"ids": list(ids), "branch": basis.branch},
    )
    found: dict[UUID, list[LastRun]] = {}
    for row in rows:
        found.setdefault(row["test_case_id"], []).append(row)
    return found

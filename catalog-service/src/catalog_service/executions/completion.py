"""The end of a run: it is told once, with the requirements that have begun or ceased to fail."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from catalog_service.executions import runs
from catalog_service.executions.acceptances import service as acceptances
from catalog_service.verdict_states import CONTEXTS
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_all, fetch_column
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent
from contracts.catalog import TestRunCompleted

ENDS_AFTER = timedelta(minutes=60)
"""After its last upload, a run that nobody ends is over."""
_MOST_TOLD = 100

# Whether a requirement fails now, and whether it did before this run: by the last outcome and the one before it of each
# of its test cases that the run had, and by the last of the others.
_CHANGED = f"""
WITH contexts AS MATERIALIZED (
    SELECT id, missing_before FROM ({CONTEXTS}) AS x WHERE branch = %(branch)s
), touched AS (
    SELECT DISTINCT l.requirement_id FROM test_states s JOIN links l ON l.test_case_id = s.test_case_id
    WHERE s.run_id = %(run)s AND l.link_type <> 'related'
), failing AS (
    SELECT l.requirement_id, bool_or(right(s.outcomes, 1) = '4') AS now,
           bool_or(CASE WHEN s.run_id = %(run)s THEN left(right(s.outcomes, 2), 1) ELSE right(s.outcomes, 1) END = '4'
                   AND (s.run_id <> %(run)s OR length(s.outcomes) > 1)) AS before
    FROM touched JOIN links l USING (requirement_id) JOIN test_cases t ON t.id = l.test_case_id
    JOIN test_states s ON s.test_case_id = t.id JOIN contexts c ON c.id = s.context_id
    WHERE l.link_type <> 'related' AND t.status <> 'deprecated'
    AND coalesce(s.position >= c.missing_before, true) GROUP BY l.requirement_id
)
SELECT requirement_id FROM failing WHERE now = %(now_fails)s AND before <> %(now_fails)s
ORDER BY requirement_id LIMIT %(most)s
"""


async def complete(
    connection: Connection,
    run_id: UUID,
    actor: Actor,
    now: datetime,
    default_branch: str,
    *,
    by_shards: bool = False,
    is_forgotten: bool = False,
) -> None:
    """End a run, and tell it; one that has ended already is told again, since it has changed."""
    await runs.end(connection, run_id, now, by_shards=by_shards, is_forgotten=is_forgotten)
    await acceptances.settle(connection, run_id, now)
    run = await runs.read(connection, run_id)
    asked: dict[str, Any] = {"run": run_id, "branch": run["branch"], "most": _MOST_TOLD}
    event = TestRunCompleted(
        run_id=run_id,
        key=run["key"],
        name=run["name"],
        branch=run["branch"],
        commit=run["commit"],
        environment=run["environment"],
        build_url=run["build_url"],
        is_default_branch=run["branch"] == default_branch,
        counts=run["counts"],
        newly_failed=await fetch_column(connection, _CHANGED, {**asked, "now_fails": True}),
        newly_passed=await fetch_column(connection, _CHANGED, {**asked, "now_fails": False}),
    )
    await outbox.record(connection, [NewEvent(event, str(run_id), actor)])


class _Forgotten(NamedTuple):
    id: UUID
    project_id: str


async def end_forgotten(database: Database, default_branch: str, now: datetime) -> None:
    """End the runs that nobody has ended in time: they are over, and not the whole until somebody says so."""
    async with database.across() as connection:
        forgotten = await fetch_all(
            connection,
            _Forgotten,
            "SELECT id, project_id FROM test_runs WHERE status = 'running' AND updated_at < %s LIMIT 100",
            (now - ENDS_AFTER,),
        )
    for one in forgotten:
        with projects.within(one.project_id):
            async with database.transaction() as connection:
                run = await runs.lock(connection, one.id)
                if run["status"] == "running":
                    await complete(connection, one.id, SYSTEM, now, default_branch, is_forgotten=True)

"""What of results is not kept: old executions, by whole months, and states of branches that nobody runs any more."""

from datetime import datetime, timedelta

from catalog_service.executions import jobs
from chassis.db.database import Database

_QUIET = timedelta(days=30)
_MOST_BRANCHES = 1000


async def prune(database: Database, now: datetime, *, retention: timedelta, default_branch: str) -> None:
    """Drop the months that are over, and the states of branches without a run for a month: never the default branch's.

    Of more than a thousand branches of a project, those that ran last are left. Runs are kept for ever, with the counts
    of their results.
    """
    async with database.across() as connection:
        await jobs.prune(connection, now)
        await connection.execute("SELECT drop_execution_months(%s)", (now - retention,))
        # What is remembered of test cases that are deleted; nothing of theirs is in answers.
        for table in ("automated_test_cases", "test_case_state"):
            await connection.execute(
                f"DELETE FROM {table} known WHERE NOT EXISTS (SELECT FROM test_cases t WHERE t.id = known.test_case_id)"
            )
        await connection.execute(
            """
            WITH branches AS (
                SELECT project_id, branch, max(last_run_at) AS last_run_at,
                       row_number() OVER (PARTITION BY project_id ORDER BY max(last_run_at) DESC, branch) AS place
                FROM run_contexts GROUP BY project_id, branch
            )
            DELETE FROM test_case_state WHERE context_id IN (
                SELECT c.id FROM run_contexts c JOIN branches b USING (project_id, branch)
                WHERE c.branch <> %(default)s AND (b.last_run_at < %(quiet)s OR b.place > %(most)s))
            """,
            {"default": default_branch, "quiet": now - _QUIET, "most": _MOST_BRANCHES},
        )

"""What of results is not kept: old executions, by whole months, and states of branches that nobody runs any more."""

from datetime import UTC, datetime, timedelta

from catalog_service.executions import jobs
from chassis.db.database import Connection, Database

_QUIET = timedelta(days=30)
_MOST_BRANCHES = 1000


async def prune(database: Database, now: datetime, *, retention: timedelta, default_branch: str) -> None:
    """Drop the months that are over, and the states of branches without a run for a month: never the default branch's.

    Of more than a thousand branches of a project, those that ran last are left. Runs are kept for ever, and of the
    executions that go how often each test ended how on each day.
    """
    async with database.across() as connection:
        await jobs.prune(connection, now)
        await _count_days(connection, now - retention)
        await connection.execute("SELECT drop_execution_months(%s)", (now - retention,))
        # What is remembered of test cases that are deleted; nothing of theirs is in answers.
        for table in ("automated_test_cases", "test_states"):
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
            DELETE FROM test_states WHERE context_id IN (
                SELECT c.id FROM run_contexts c JOIN branches b USING (project_id, branch)
                WHERE c.branch <> %(default)s AND (b.last_run_at < %(quiet)s OR b.place > %(most)s))
            """,
            {"default": default_branch, "quiet": now - _QUIET, "most": _MOST_BRANCHES},
        )


async def _count_days(connection: Connection, before: datetime) -> None:
    """Store in `daily_counts` what is dropped with the months that end by then; done again, it comes to the same."""
    first = before.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    async with connection.transaction():
        # A month of many tests takes longer than a request may.
        await connection.execute("SET LOCAL statement_timeout = '15min'")
        # What does not fit is grouped and sorted on disk: a month of 10,000 tests needs 50 MB.
        await connection.execute("SET LOCAL work_mem = '64MB'")
        await connection.execute(
            """
            DELETE FROM daily_counts WHERE day < %(end)s AND day >= (
                SELECT min((at AT TIME ZONE 'UTC')::date) FROM executions WHERE at < %(first)s)
            """,
            {"first": first, "end": first.date()},
        )
        await connection.execute(
            """
            INSERT INTO daily_counts
                (project_id, day, context_id, test_id, passed, failed, flaky, skipped, duration_ms)
            SELECT project_id, (at AT TIME ZONE 'UTC')::date, context_id, test_id,
                   count(*) FILTER (WHERE status = 'passed'), count(*) FILTER (WHERE status = 'failed'),
                   count(*) FILTER (WHERE status = 'flaky'), count(*) FILTER (WHERE status = 'skipped'),
                   coalesce(sum(duration_ms), 0)
            FROM executions WHERE at < %(first)s GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4
            """,
            {"first": first},
        )

"""Lanes: the lines of runs that a test runs in, such as a workflow and its job; where commits stand among each other.

A test that a lane had, and that its last whole run did not have, is missing. A run is whole in a lane when it has ended
there, each of its files tells the whole, and its caller does not say that it is partial.
"""

from datetime import datetime
from uuid import UUID

from catalog_service.executions.states import Affected, Executed
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_value

MANUAL = "manual"
"""The lane of what people execute, which is never missing."""


async def find_context(connection: Connection, branch: str, environment: str, lane: str, at: datetime) -> int:
    """Return the id of a branch, environment and lane, made where it is new."""
    parameters = {"branch": branch, "environment": environment, "lane": lane, "at": at}
    find = """
        SELECT id FROM run_contexts
        WHERE branch = %(branch)s AND environment = %(environment)s AND lane = %(lane)s"""
    context_id = await fetch_value(connection, find, parameters)
    if context_id is None:
        await connection.execute(
            "INSERT INTO run_contexts (branch, environment, lane, last_run_at)"
            " VALUES (%(branch)s, %(environment)s, %(lane)s, %(at)s) ON CONFLICT DO NOTHING",
            parameters,
        )
        context_id = await fetch_value(connection, find, parameters)
    else:
        # Not each time: all runs of a branch would wait for one another.
        await connection.execute(
            "UPDATE run_contexts SET last_run_at = greatest(last_run_at, %(at)s), is_former = false"
            " WHERE id = %(id)s AND (is_former OR last_run_at < %(at)s - interval '1 hour')",
            {**parameters, "id": context_id},
        )
    assert isinstance(context_id, int), "it is there now"
    return context_id


async def place(connection: Connection, run_id: UUID) -> list[Affected]:
    """Put a run with a commit where that stands on its branch: at the first run of it, which this one may be.

    Return whose states may be others by that: those of all that ran in the runs that have moved.
    """
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtext(project_id || ' ' || branch), hashtext(commit)) FROM test_runs"
        " WHERE id = %s",
        (run_id,),
    )
    return await _move(connection, run_id, "true")


async def place_by_hand(connection: Connection, run_id: UUID, test_id: int, context_id: int) -> None:
    """Put an execution by hand where it stands among those of its test case: it is the newest, as people look again.

    But one of an older commit than the last was of stands behind that, and one of the same commit beside it.
    """
    await connection.execute(
        """
        WITH commits AS (
            SELECT s.position, r.commit = s.commit AS is_same, (
                SELECT min(o.position) FROM test_runs o
                WHERE o.branch = r.branch AND o.commit = r.commit AND NOT o.is_manual
            ) AS own, (
                SELECT min(o.position) FROM test_runs o
                WHERE o.branch = r.branch AND o.commit = s.commit AND NOT o.is_manual
            ) AS last
            FROM test_runs r JOIN test_states s ON s.test_id = %(test)s AND s.context_id = %(context)s
            WHERE r.id = %(run)s
        )
        UPDATE test_runs r SET position = CASE WHEN c.is_same THEN c.position
            ELSE least(c.own, c.position - interval '1 microsecond') END
        FROM commits c WHERE r.id = %(run)s AND (c.is_same OR c.own < c.last)
        """,
        {"run": run_id, "test": test_id, "context": context_id},
    )


async def remove_from_commit(connection: Connection, run_id: UUID) -> list[Affected]:
    """Put the other runs of the commit of a run where they stand without it; return whose states may be others."""
    return await _move(connection, run_id, "o.id <> r.id")


async def _move(connection: Connection, run_id: UUID, which: str) -> list[Affected]:
    moved = await fetch_column(
        connection,
        f"""
        WITH runs AS (
            SELECT o.id, min(coalesce(o.placed_at, o.at)) OVER () AS first FROM test_runs r
            JOIN test_runs o ON o.branch = r.branch AND o.commit = r.commit AND NOT o.is_manual
            WHERE r.id = %(run)s AND NOT r.is_manual AND {which}
        )
        UPDATE test_runs r SET position = runs.first FROM runs
        WHERE runs.id = r.id AND r.position <> runs.first RETURNING r.id
        """,
        {"run": run_id},
    )
    if not moved:
        return []
    await connection.execute(
        "UPDATE run_lanes l SET position = r.position FROM test_runs r WHERE r.id = l.run_id AND r.id = ANY(%s)",
        (moved,),
    )
    return await fetch_all(
        connection,
        Affected,
        "SELECT DISTINCT c.test_case_id, c.test_id, e.context_id FROM executions e"
        " JOIN automated_test_cases c ON c.test_id = e.test_id WHERE e.run_id = ANY(%s)",
        (moved,),
    )


async def judge(connection: Connection, run_id: UUID) -> None:
    """Say anew of each lane of a run what its files tell together, and whether that is the whole.

    It is not where nobody has ended the run. Of a job that was repeated the last attempt of each of its files counts:
    one that did not come again is not mended, nor is what a file without a result came after.
    """
    await connection.execute(
        """
        INSERT INTO run_lanes AS known (run_id, context_id, position, health, is_partial, is_whole)
        SELECT r.id, f.context_id, r.position, h.health, f.is_partial,
               r.status = 'completed' AND NOT f.is_partial AND h.health = '{}'
        FROM test_runs r JOIN (
            SELECT u.context_id, bool_or(u.is_partial) AS is_partial
            FROM run_uploads u WHERE u.run_id = %(run)s AND u.context_id IS NOT NULL GROUP BY u.context_id
        ) AS f ON true CROSS JOIN LATERAL (
            SELECT coalesce(array_agg(DISTINCT reason ORDER BY reason), '{}') AS health FROM (
                SELECT unnest(u.health) AS reason FROM (
                    SELECT health, attempt, has_results, max(attempt) OVER same AS last,
                           max(attempt) FILTER (WHERE has_results) OVER same AS last_full
                    FROM run_uploads CROSS JOIN LATERAL (
                        SELECT (counts ->> 'results')::bigint > 0 AS has_results) AS it
                    WHERE run_id = %(run)s AND context_id = f.context_id
                    WINDOW same AS (PARTITION BY job, shard, shards, file_name)
                ) AS u WHERE u.attempt = CASE WHEN u.has_results THEN u.last_full ELSE u.last END
                UNION ALL
                SELECT 'shards_missing' FROM run_uploads WHERE run_id = %(run)s AND context_id = f.context_id
                AND shards IS NOT NULL GROUP BY shards HAVING count(DISTINCT shard) < shards
                UNION ALL
                SELECT 'not_finished' WHERE r.is_forgotten
            ) AS found
        ) AS h
        WHERE r.id = %(run)s ORDER BY f.context_id
        ON CONFLICT (run_id, context_id) DO UPDATE SET position = excluded.position, health = excluded.health,
            is_partial = excluded.is_partial, is_whole = excluded.is_whole
        """,
        {"run": run_id},
    )


async def bring_back(connection: Connection, run: Executed) -> None:
    """Count retired tests again that a file has run, unless they ran later before."""
    await connection.execute(
        """
        DELETE FROM retired_tests d USING incoming_tests i
        WHERE d.context_id = %(context)s AND d.test_id = i.test_id AND NOT EXISTS (
            SELECT FROM executions e WHERE e.test_id = d.test_id AND e.context_id = d.context_id AND e.at > %(at)s)
        """,
        {"context": run.context_id, "at": run.at},
    )


async def replace_former(connection: Connection, run: Executed) -> None:
    """Leave of the tests of a file what they were in runs from before lanes: they stand in the lane of the run now."""
    await connection.execute(
        """
        DELETE FROM test_states s USING run_contexts former, run_contexts own, incoming_tests i
        WHERE own.id = %(context)s AND (former.branch, former.environment) = (own.branch, own.environment)
        AND former.is_former AND s.context_id = former.id AND s.test_id = i.test_id
        """,
        {"context": run.context_id},
    )

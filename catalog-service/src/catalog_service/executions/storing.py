"""Puts the results of a file into the record: which tests they are of, how these ended in the run, what that makes.

All of it is one transaction of few statements over temporary tables (`incoming`), however many results there are. What
it leaves depends on what was sent alone, not on the order in which it came: outcomes are put together by their weight,
what names a test case by the time of its run. Rows that several runs share are locked in the order of their keys.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.errors import UniqueViolation

from catalog_service.executions import lanes, states
from catalog_service.executions.read import FAILED, FLAKY, PASSED, SKIPPED
from catalog_service.executions.states import Affected
from catalog_service.verdict_states import match_iterations
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value

MOST_ITERATIONS = 50
"""Names of failed iterations that are kept of a test."""
LAST_SEEN = """greatest({test}.last_seen, (
    SELECT max(seen.at) FROM executions seen WHERE seen.test_id = {id} AND seen.at >= {test}.last_seen))"""
"""The SQL of when a test ran last. What is stored of it may be a day older, for not every run writes all tests anew."""


_NOT_RUN = "0"
"""The outcome of an execution by hand that could not be made."""


@dataclass(frozen=True, slots=True)
class Run:
    """The run that results are stored in."""

    id: UUID
    context_id: int
    at: datetime


MERGE_EXECUTIONS = """
    ON CONFLICT (test_id, context_id, at, run_id) DO UPDATE SET (duration_ms, outcomes, iterations, status) = (
        SELECT greatest(e.duration_ms, excluded.duration_ms), outcomes, iterations,
               CASE WHEN iterations IS NULL THEN outcome_status(outcomes)
                    ELSE status_of_iterations(ARRAY[iterations]) END
        FROM (
            SELECT merged_outcomes(e.outcomes, excluded.outcomes) AS outcomes,
                   CASE WHEN num_nonnulls(e.iterations, excluded.iterations) > 0 THEN merged_iterations(ARRAY[
                       coalesce(e.iterations, jsonb_build_object('', e.outcomes)),
                       coalesce(excluded.iterations, jsonb_build_object('', excluded.outcomes))], 0) END AS iterations
        ) AS merged)
"""
"""The SQL that puts what several files say of a test in one run together."""


async def lock_forms(connection: Connection) -> None:
    """Wait for others who store several files in one transaction: what these lock together is in no order."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtext('forms of results in ' || current_setting('traceline.project', true)))"
    )


async def store(connection: Connection, run: Run, attempt: int, *, is_first: bool, is_aside: bool = False) -> None:
    """Store the tests, whom they count for and how they ended; then bring states and the counts of the run.

    `is_first`: nothing has been stored in the run yet. `is_aside`: it is of another branch than the default one, or a
    selection of the tests: what it names counts, too, and takes nothing from what others named.
    """
    await _store_tests(connection, run)
    changed = await _store_matches(connection, run, is_aside=is_aside)
    await _store_executions(connection, run, attempt, is_first=is_first)
    await _store_failures(connection, run, attempt)
    await lanes.bring_back(connection, run)
    await states.follow(connection, run, await _had(connection, run), changed)
    await lanes.replace_former(connection, run)
    await count_run(connection, run.id)


REWRITTEN_AFTER = "interval '1 day'"
"""A known test is written anew when it was last seen so long before; until then its executions say when it ran last."""

_INSERT_TESTS = """
    INSERT INTO automated_tests (id, fingerprint, class_name, name, suite, file, full_name, first_seen, last_seen)
    OVERRIDING SYSTEM VALUE
    SELECT test_id, fingerprint, class_name, name, suite, file, full_name, %(at)s, %(at)s
    FROM incoming_tests WHERE is_new ORDER BY fingerprint
"""
# All known tests are locked, which takes a third of writing them: whoever merges or assigns one of them waits.
_STORE_KNOWN = f"""
    WITH known AS MATERIALIZED (
        SELECT t.id, i.fingerprint, coalesce(t.merged_into, t.id) AS counts_as, i.suite, i.file, i.full_name,
               t.first_seen, t.last_seen, (t.suite, t.file, t.full_name) IS DISTINCT FROM (i.suite, i.file, i.full_name)
               AS differs
        FROM incoming_tests i JOIN automated_tests t USING (fingerprint) WHERE i.is_new = %(is_new)s
        ORDER BY t.fingerprint FOR NO KEY UPDATE OF t
    ), written AS (
        SELECT k.*, seen.at AS seen_at FROM known k CROSS JOIN LATERAL (SELECT CASE WHEN k.differs THEN
            {LAST_SEEN.format(test="k", id="k.counts_as")} ELSE k.last_seen END AS at) AS seen
        WHERE k.differs AND seen.at <= %(at)s OR k.first_seen > %(at)s
           OR k.last_seen <= %(at)s - {REWRITTEN_AFTER}
    ), rewritten AS (
        UPDATE automated_tests t SET
            suite = CASE WHEN %(at)s > w.seen_at THEN w.suite
                WHEN %(at)s = w.seen_at THEN least(w.suite, t.suite) ELSE t.suite END,
            file = CASE WHEN %(at)s > w.seen_at THEN w.file
                WHEN %(at)s = w.seen_at THEN least(w.file, t.file) ELSE t.file END,
            full_name = CASE WHEN %(at)s > w.seen_at THEN w.full_name
                WHEN %(at)s = w.seen_at THEN least(w.full_name COLLATE "C", t.full_name COLLATE "C")
                ELSE t.full_name END,
            first_seen = least(t.first_seen, %(at)s),
            last_seen = greatest(t.last_seen, %(at)s)
        FROM written w WHERE w.id = t.id
    )
    UPDATE incoming_tests i SET test_id = k.counts_as FROM known k
    WHERE k.fingerprint = i.fingerprint AND k.counts_as <> i.test_id
"""


async def _store_tests(connection: Connection, run: Run) -> None:
    """Store the tests; one that another file has stored meanwhile keeps the id that it has there."""
    at = {"at": run.at}
    await connection.execute(_STORE_KNOWN, {**at, "is_new": False})
    try:
        # To look for conflicts takes half as long again, and there are hardly ever any.
        async with connection.transaction():
            await connection.execute(_INSERT_TESTS, at)
    except UniqueViolation:
        await connection.execute(f"{_INSERT_TESTS} ON CONFLICT (project_id, fingerprint) DO NOTHING", at)
        await connection.execute(_STORE_KNOWN, {**at, "is_new": True})


_MOST_NAMING = 1000
"""Of a test case that more iterations of a test name, it is the whole test that does."""
_NAMING = "SELECT DISTINCT i.test_id FROM incoming_tests i JOIN incoming_matches m USING (fingerprint)"
_STORE_NAMED = f"""
    INSERT INTO automated_test_cases AS known (test_id, test_case_id, matched_by, named_at, is_aside, iterations)
    SELECT i.test_id, m.test_case_id, min(m.matched_by), %(at)s, %(is_aside)s,
           CASE WHEN bool_and(i.full_name IS NOT NULL AND m.iterations IS NOT NULL) THEN array_agg(DISTINCT n.name) END
    FROM incoming_matches m JOIN incoming_tests i USING (fingerprint)
    LEFT JOIN LATERAL unnest(m.iterations) AS n (name) ON true
    WHERE NOT EXISTS (
        SELECT FROM automated_test_cases newer
        WHERE newer.test_id = i.test_id AND NOT newer.is_aside AND newer.named_at > %(at)s)
    OR EXISTS (
        SELECT FROM automated_test_cases c WHERE (c.test_id, c.test_case_id) = (i.test_id, m.test_case_id))
    GROUP BY i.test_id, m.test_case_id ORDER BY i.test_id, m.test_case_id
    ON CONFLICT (test_id, test_case_id) DO UPDATE SET
        named_at = CASE WHEN known.is_aside = excluded.is_aside THEN greatest(known.named_at, excluded.named_at)
            WHEN known.is_aside THEN excluded.named_at ELSE known.named_at END,
        matched_by = CASE WHEN known.named_at = excluded.named_at THEN least(known.matched_by, excluded.matched_by)
            WHEN known.named_at < excluded.named_at AND (known.is_aside OR NOT excluded.is_aside)
            THEN excluded.matched_by ELSE known.matched_by END,
        iterations = CASE
            WHEN known.iterations IS NULL AND known.named_at < excluded.named_at AND NOT excluded.is_aside
            THEN excluded.iterations
            WHEN excluded.iterations IS NULL AND (known.named_at > excluded.named_at OR excluded.is_aside)
            THEN known.iterations
            WHEN num_nulls(known.iterations, excluded.iterations) = 0 THEN (
                SELECT CASE WHEN count(*) <= {_MOST_NAMING} THEN array_agg(name) END
                FROM (SELECT unnest(known.iterations) UNION SELECT unnest(excluded.iterations)) AS both_of (name)) END,
        is_aside = known.is_aside AND excluded.is_aside
    WHERE known.is_aside OR NOT excluded.is_aside OR NOT excluded.iterations <@ known.iterations
"""
# What the file has of the test that older ones named a test case by, and that names it no more.
_TAKE_ITERATIONS = f"""
    UPDATE automated_test_cases c SET iterations = left_over.names
    FROM (
        SELECT k.test_id, k.test_case_id, ARRAY(
            SELECT unnest(k.iterations) EXCEPT SELECT split_part(come.key, '.', 1) FROM incoming_tests i
            CROSS JOIN LATERAL jsonb_object_keys(i.iterations) AS come (key) WHERE i.test_id = k.test_id
        ) AS names
        FROM automated_test_cases k
        WHERE k.test_id IN ({_NAMING}) AND k.iterations IS NOT NULL AND k.named_at < %(at)s AND NOT EXISTS (
            SELECT FROM automated_test_cases newer
            WHERE newer.test_id = k.test_id AND NOT newer.is_aside AND newer.named_at > %(at)s)
    ) AS left_over
    WHERE (c.test_id, c.test_case_id) = (left_over.test_id, left_over.test_case_id)
    AND cardinality(left_over.names) < cardinality(c.iterations)
"""
_DELETE_NAMED = f"""
    DELETE FROM automated_test_cases c USING (
        SELECT test_id, max(named_at) FILTER (WHERE NOT is_aside) AS named_at
        FROM automated_test_cases WHERE test_id IN ({_NAMING}) GROUP BY test_id
    ) AS known
    WHERE c.test_id = known.test_id AND c.named_at < known.named_at AND (
        c.iterations IS NULL OR c.iterations = '{{}}'
        OR EXISTS (SELECT FROM incoming_tests i WHERE i.test_id = c.test_id AND i.iterations IS NULL))
"""


async def _store_matches(connection: Connection, run: Run, *, is_aside: bool) -> list[Affected]:
    """Store whom the tests count for; return where this changes what older runs said.

    What the newest run of the default branch names is what counts: it replaces what older ones named, and a run that is
    older than what is known names nothing new. What runs aside name since is counted beside it. What an iteration has
    named that has not come stays: it is missing.
    """
    has_matches = await fetch_value(connection, "SELECT EXISTS (SELECT FROM incoming_matches)")
    if not has_matches:
        return []
    parameters = {"at": run.at, "is_aside": is_aside}
    old = await _read_named(connection)
    await connection.execute(_STORE_NAMED, parameters)
    if not is_aside:
        await connection.execute(_TAKE_ITERATIONS, parameters)
    await connection.execute(_DELETE_NAMED)
    changed = {(test_id, test_case_id) for test_id, test_case_id, _ in old ^ await _read_named(connection)}
    if not changed:
        return []
    return await fetch_all(
        connection,
        Affected,
        """
        SELECT DISTINCT pair.test_case_id, pair.test_id, e.context_id
        FROM unnest(%(tests)s::bigint[], %(cases)s::uuid[]) AS pair (test_id, test_case_id)
        JOIN executions e ON e.test_id = pair.test_id
        """,
        {"tests": [test for test, _ in changed], "cases": [case for _, case in changed]},
    )


async def _read_named(connection: Connection) -> set[tuple[int, UUID, frozenset[str] | None]]:
    """Return the test cases that tests of the file count for which name any, with the iterations that name them."""
    cursor = await connection.execute(
        f"SELECT test_id, test_case_id, iterations FROM automated_test_cases WHERE test_id IN ({_NAMING})"
    )
    return {
        (row["test_id"], row["test_case_id"], row["iterations"] and frozenset(row["iterations"]))
        for row in await cursor.fetchall()
    }


async def _store_executions(connection: Connection, run: Run, attempt: int, *, is_first: bool) -> None:
    """Store how the tests of the file ended. What an attempt does not run again of a test has not passed by it."""
    await connection.execute("SELECT make_execution_months(%s)", (run.at,))
    await connection.execute(
        f"""
        INSERT INTO executions AS e (test_id, context_id, at, run_id, duration_ms, status, outcomes, iterations)
        SELECT test_id, %(context)s, %(at)s, %(run)s, max(duration_ms), {states.status_of("max(outcome)")},
               repeat('0', %(attempt)s - 1) || max(outcome),
               CASE WHEN count(*) = 1 AND %(attempt)s = 1 OR count(iterations) = 0 THEN (array_agg(iterations))[1]
                    ELSE merged_iterations(
                        array_agg(coalesce(iterations, jsonb_build_object('', outcome))), %(attempt)s - 1) END
        FROM incoming_tests GROUP BY test_id ORDER BY test_id {"" if is_first else MERGE_EXECUTIONS}
        """,
        {"context": run.context_id, "at": run.at, "run": run.id, "attempt": attempt},
    )


async def _store_failures(connection: Connection, run: Run, attempt: int) -> None:
    await connection.execute(
        f"""
        INSERT INTO execution_failures AS known (test_id, at, run_id, attempt, message, trace, iterations)
        SELECT t.test_id, %(at)s, %(run)s, %(attempt)s, said.message, said.trace, said.iterations
        FROM (
            SELECT i.test_id,
                   (array_agg(ARRAY[f.message, f.trace]
                    ORDER BY f.message COLLATE "C" NULLS LAST, f.trace COLLATE "C" NULLS LAST))[1:1] AS first,
                   (array_agg(DISTINCT f.iteration COLLATE "C" ORDER BY f.iteration COLLATE "C")
                    FILTER (WHERE f.iteration <> ''))[1:{MOST_ITERATIONS}] AS iterations
            FROM incoming f JOIN incoming_tests i USING (fingerprint)
            WHERE f.outcome IN ('{FLAKY}', '{FAILED}') GROUP BY i.test_id
        ) AS t CROSS JOIN LATERAL (
            SELECT t.first[1][1] AS message, t.first[1][2] AS trace, coalesce(t.iterations, '{{}}') AS iterations
        ) AS said
        ON CONFLICT (test_id, at, run_id) DO UPDATE SET (attempt, message, trace, iterations) = (
            SELECT best.attempt, best.message, best.trace,
                   CASE WHEN known.attempt = excluded.attempt THEN ARRAY(
                       SELECT DISTINCT name COLLATE "C" FROM unnest(known.iterations || excluded.iterations) AS name
                       ORDER BY name COLLATE "C" LIMIT {MOST_ITERATIONS}) ELSE best.iterations END
            FROM (VALUES (known.attempt, known.message, known.trace, known.iterations),
                         (excluded.attempt, excluded.message, excluded.trace, excluded.iterations)
            ) AS best (attempt, message, trace, iterations)
            ORDER BY best.attempt DESC, best.message COLLATE "C" NULLS LAST, best.trace COLLATE "C" NULLS LAST LIMIT 1)
        """,
        {"at": run.at, "run": run.id, "attempt": attempt},
    )


async def _had(connection: Connection, run: Run) -> list[Affected]:
    """Return the tests of the file with the test cases that they count for."""
    return await fetch_all(
        connection,
        Affected,
        f"""
        SELECT DISTINCT c.test_case_id, c.test_id, %(context)s::integer AS context_id
        FROM incoming_tests i JOIN automated_test_cases c ON c.test_id = i.test_id
        WHERE {match_iterations("i.iterations", "c.iterations")}
        """,
        {"context": run.context_id},
    )


async def count_run(connection: Connection, run_id: UUID) -> None:
    """Count the tests of a run anew."""
    await connection.execute(
        """
        UPDATE test_runs SET (counts, duration_ms) = (
            SELECT json_build_object('tests', count(*), 'passed', count(*) FILTER (WHERE status = 'passed'),
                'failed', count(*) FILTER (WHERE status = 'failed'), 'flaky', count(*) FILTER (WHERE status = 'flaky'),
                'skipped', count(*) FILTER (WHERE status = 'skipped')), coalesce(sum(duration_ms), 0)
            FROM executions WHERE run_id = %(run)s AND at = test_runs.at)
        WHERE id = %(run)s
        """,
        {"run": run_id},
    )


async def delete_run(connection: Connection, run_id: UUID) -> None:
    """Delete a run with its executions; states are made again from what is left."""
    affected = await fetch_all(
        connection,
        Affected,
        "SELECT DISTINCT c.test_case_id, c.test_id, e.context_id FROM executions e"
        " JOIN automated_test_cases c ON c.test_id = e.test_id WHERE e.run_id = %s",
        (run_id,),
    )
    await connection.execute("DELETE FROM executions WHERE run_id = %s", (run_id,))
    await connection.execute("DELETE FROM execution_failures WHERE run_id = %s", (run_id,))
    moved = await lanes.remove_from_commit(connection, run_id)
    await connection.execute("DELETE FROM test_runs WHERE id = %s", (run_id,))
    await states.refresh(connection, [*affected, *moved])


async def store_manual(connection: Connection, run: Run, test_case_id: UUID, status: str, notes: str | None) -> None:
    """Store what a person found: a test stands for the test case, and is no test of CI."""
    parameters = {
        "case": test_case_id,
        "at": run.at,
        "context": run.context_id,
        "run": run.id,
        "status": "skipped" if status == "blocked" else status,
        "outcome": {"passed": PASSED, "failed": FAILED, "blocked": _NOT_RUN}.get(status, SKIPPED),
        "notes": notes,
    }
    await connection.execute("SELECT make_execution_months(%(at)s)", parameters)
    test_id: int = await fetch_value(
        connection,
        """
        INSERT INTO automated_tests AS known
            (fingerprint, class_name, name, suite, file, is_manual, first_seen, last_seen)
        VALUES (sha256(convert_to('manual ' || %(case)s::uuid, 'UTF8')), '', 'by hand', '', '', true, %(at)s, %(at)s)
        ON CONFLICT (project_id, fingerprint) DO UPDATE SET last_seen = greatest(known.last_seen, excluded.last_seen)
        RETURNING id
        """,
        parameters,
    )
    parameters["test"] = test_id
    await connection.execute(
        """
        INSERT INTO automated_test_cases (test_id, test_case_id, matched_by, named_at)
        VALUES (%(test)s, %(case)s, 'person', %(at)s) ON CONFLICT DO NOTHING
        """,
        parameters,
    )
    await lanes.place_by_hand(connection, run.id, test_id, run.context_id)
    await connection.execute(
        "DELETE FROM retired_tests WHERE test_id = %(test)s AND context_id = %(context)s", parameters
    )
    await connection.execute(
        """
        INSERT INTO executions (test_id, context_id, at, run_id, status, outcomes)
        VALUES (%(test)s, %(context)s, %(at)s, %(run)s, %(status)s, %(outcome)s)
        """,
        parameters,
    )
    if notes is not None:
        await connection.execute(
            """
            INSERT INTO execution_failures (test_id, at, run_id, attempt, message, iterations)
            VALUES (%(test)s, %(at)s, %(run)s, 1, %(notes)s, '{}')
            """,
            parameters,
        )
    await states.refresh(connection, [Affected(test_case_id, test_id, run.context_id)])
    await count_run(connection, run.id)

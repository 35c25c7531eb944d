"""Makes tests the former names of others: what they did, and whom they counted for, becomes that of the others."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from catalog_service.executions import states, storing, tests
from chassis.core.problems import Conflict
from chassis.core.wording import shown
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.listing import Row

_PAIRS = "unnest(%(old)s::bigint[], %(new)s::bigint[]) AS pair (old, new)"


async def merge(connection: Connection, test_id: int, into: int) -> Row:
    """Make a test the former name of another, which is returned as it is answered; raise NotFound and Conflict."""
    if test_id == into:
        raise Conflict("A test cannot be merged with itself; name the other one.", code="same_test")
    await _check_test_cases(connection, test_id, into)
    await merge_all(connection, {into: [test_id]})
    return await tests.read(connection, into)


async def _check_test_cases(connection: Connection, test_id: int, into: int) -> None:
    """Raise Conflict where a test case would be left without the test: nothing would say that it has lost it."""
    lost = await fetch_value(
        connection,
        """
        SELECT coalesce(t.external_id, t.title) FROM automated_test_cases c JOIN test_cases t ON t.id = c.test_case_id
        WHERE c.test_id = %(old)s AND EXISTS (SELECT FROM automated_test_cases n WHERE n.test_id = %(new)s)
        AND NOT EXISTS (
            SELECT FROM automated_test_cases n WHERE n.test_id = %(new)s AND n.test_case_id = c.test_case_id)
        ORDER BY 1 LIMIT 1
        """,
        {"old": test_id, "new": into},
    )
    if lost is not None:
        detail = f"The test counts for {shown(lost)}, which the other one does not: assign one of them anew first."
        raise Conflict(detail, code="different_test_cases")


async def merge_all(connection: Connection, former: Mapping[int, Sequence[int]]) -> None:
    """Make tests the former names of others, by whose ids they stand; raise NotFound."""
    olds = [old for ids in former.values() for old in ids]
    if not olds:
        return
    # Runs before tests, as files lock them that come meanwhile.
    runs = await fetch_column(
        connection,
        "SELECT id FROM test_runs WHERE id = ANY(ARRAY(SELECT run_id FROM executions WHERE test_id = ANY(%s)))"
        " ORDER BY id FOR UPDATE",
        (olds,),
    )
    await tests.lock(connection, *olds, *former)
    before = {*await tests.affected(connection, *olds, *former)}
    # Of each test one former name at a time: rows of two would meet in one statement.
    for at_once in zip_longest(*former.values()):
        pairs = [(old, new) for old, new in zip(at_once, former, strict=True) if old is not None]
        await _move(connection, {"old": [old for old, _ in pairs], "new": [new for _, new in pairs]})
    for run_id in runs:
        await storing.count_run(connection, run_id)
    await states.refresh(connection, {*before, *await tests.affected(connection, *former)})


async def _move(connection: Connection, ids: dict[str, Any]) -> None:
    """Move all of tests `old` to those at the same places of `new`."""
    for statement in _STATEMENTS:
        await connection.execute(statement, ids)


_STATEMENTS = (
    f"""
    INSERT INTO automated_test_cases AS known (test_id, test_case_id, matched_by, named_at, iterations)
    SELECT pair.new, c.test_case_id, c.matched_by, c.named_at, c.iterations
    FROM {_PAIRS} JOIN automated_test_cases c ON c.test_id = pair.old
    ON CONFLICT (test_id, test_case_id) DO UPDATE SET
        iterations = CASE WHEN num_nulls(known.iterations, excluded.iterations) = 0
            THEN known.iterations || excluded.iterations END
    """,
    "DELETE FROM automated_test_cases WHERE test_id = ANY(%(old)s)",
    # What is accepted of it goes with it, unless something is of the other, too.
    f"""
    UPDATE accepted_failures a SET test_id = pair.new FROM {_PAIRS}
    WHERE a.test_id = pair.old AND (a.ended_at IS NOT NULL
    OR NOT EXISTS (SELECT FROM accepted_failures o WHERE o.test_id = pair.new AND o.ended_at IS NULL))
    """,
    # Of a run that had both, the outcomes are put together.
    f"""
    INSERT INTO executions AS e (test_id, context_id, at, run_id, duration_ms, status, outcomes, iterations)
    SELECT pair.new, o.context_id, o.at, o.run_id, o.duration_ms, o.status, o.outcomes, o.iterations
    FROM {_PAIRS} JOIN executions o ON o.test_id = pair.old {storing.MERGE_EXECUTIONS}
    """,
    f"""
    INSERT INTO execution_failures (test_id, at, run_id, attempt, message, trace, iterations)
    SELECT pair.new, o.at, o.run_id, o.attempt, o.message, o.trace, o.iterations
    FROM {_PAIRS} JOIN execution_failures o ON o.test_id = pair.old ON CONFLICT DO NOTHING
    """,
    "DELETE FROM executions WHERE test_id = ANY(%(old)s)",
    "DELETE FROM execution_failures WHERE test_id = ANY(%(old)s)",
    f"""
    UPDATE automated_tests t SET first_seen = least(t.first_seen, o.first_seen),
        last_seen = greatest(t.last_seen, o.last_seen)
    FROM {_PAIRS} JOIN automated_tests o ON o.id = pair.old WHERE t.id = pair.new
    """,
    # Of both at once, each test would be held against each pair.
    f"UPDATE automated_tests t SET merged_into = pair.new FROM {_PAIRS} WHERE t.merged_into = pair.old",
    f"UPDATE automated_tests t SET merged_into = pair.new FROM {_PAIRS} WHERE t.id = pair.old",
)

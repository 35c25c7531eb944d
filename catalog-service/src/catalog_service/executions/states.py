"""How a test case ended last on a branch and environment, worked out of its executions."""

from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from chassis.db.database import Connection

WINDOW = 20
"""Runs whose outcomes are kept in a state."""
FLIPS_OF = 10
"""Runs among which changes without a change of commit are counted."""


class Affected(Protocol):
    """A test case on a branch and environment."""

    @property
    def test_case_id(self) -> UUID:
        """The test case."""
        ...

    @property
    def context_id(self) -> int:
        """Branch and environment."""
        ...


# A test case may have several tests: of a run that had several of them, the worst counts. Everything is in the order of
# time, so that it is sorted once.
_REFRESH = f"""
WITH affected AS (
    SELECT * FROM unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case_id, context_id)
), runs AS (
    SELECT a.test_case_id, a.context_id, e.at, e.run_id, r.commit,
           max(CASE e.status WHEN 'failed' THEN '4' WHEN 'flaky' THEN '3' WHEN 'passed' THEN '2' ELSE '1' END)
           AS outcome
    FROM affected a
    JOIN automated_test_cases c ON c.test_case_id = a.test_case_id
    CROSS JOIN LATERAL (
        SELECT at, run_id, status FROM executions
        WHERE test_id = c.test_id AND context_id = a.context_id ORDER BY at DESC, run_id DESC LIMIT {WINDOW}
    ) AS e
    JOIN test_runs r ON r.id = e.run_id
    GROUP BY a.test_case_id, a.context_id, e.at, e.run_id, r.commit
), gathered AS (
    SELECT test_case_id, context_id, count(*)::integer AS n, string_agg(outcome, '' ORDER BY at, run_id) AS outcomes,
           array_agg(at ORDER BY at, run_id) AS ats, array_agg(run_id ORDER BY at, run_id) AS run_ids,
           array_agg(commit ORDER BY at, run_id) AS commits
    FROM runs GROUP BY test_case_id, context_id
), states AS (
    SELECT test_case_id, context_id, right(outcomes, 1) AS outcome, run_ids[n] AS run_id, commits[n] AS commit,
           ats[n] AS at, ats[greatest(n - {WINDOW - 1}, 1)] AS oldest, right(outcomes, {WINDOW}) AS outcomes,
           right(outcomes, {FLIPS_OF}) AS last_outcomes, commits[greatest(n - {FLIPS_OF - 1}, 1):] AS last_commits,
           CASE WHEN right(outcomes, {WINDOW}) ~ '[23]' THEN ats[n - length(substring(outcomes from '[14]*$'))] END
           AS last_pass_at
    FROM gathered
)
"""


def status_of(outcome: str) -> str:
    """Return the SQL of the status that one outcome is; of several see the function `outcome_status`."""
    return f"CASE {outcome} WHEN '4' THEN 'failed' WHEN '3' THEN 'flaky' WHEN '2' THEN 'passed' ELSE 'skipped' END"


# Most test cases always end alike.
_FLIPS = """
    CASE WHEN s.last_outcomes LIKE '%%4%%' AND s.last_outcomes ~ '[23]' THEN (
        SELECT count(*) FROM (
            SELECT (outcome = '4') <> (lag(outcome) OVER older = '4') AND commit = lag(commit) OVER older AS flipped
            FROM unnest(string_to_array(s.last_outcomes, NULL), s.last_commits)
            WITH ORDINALITY AS one (outcome, commit, n)
            WHERE outcome <> '1' WINDOW older AS (ORDER BY n)) AS pairs WHERE flipped)
    ELSE 0 END"""
_STORE = f"""
UPDATE test_case_state known SET
    status = {status_of("s.outcome")},
    run_id = s.run_id, commit = s.commit, at = s.at, outcomes = s.outcomes,
    flips = {_FLIPS},
    last_pass_at = coalesce(s.last_pass_at, (
        SELECT max(older.at) FROM automated_test_cases c CROSS JOIN LATERAL (
            SELECT e.at FROM executions e WHERE e.test_id = c.test_id AND e.context_id = s.context_id
            AND e.at < s.oldest AND e.status IN ('passed', 'flaky') ORDER BY e.at DESC LIMIT 1) AS older
        WHERE c.test_case_id = s.test_case_id)),
    test_case_version = coalesce((SELECT max(v.version) FROM item_revisions v
                                  WHERE v.item_id = s.test_case_id AND v.changed_at <= s.at), 1)
FROM states s WHERE known.test_case_id = s.test_case_id AND known.context_id = s.context_id
"""


async def refresh(connection: Connection, affected: Iterable[Affected]) -> None:
    """Work the states of test cases out anew, in the caller's transaction.

    The rows are locked first, in the order of their keys: who comes second reads what the first has stored.
    """
    ordered = sorted(affected, key=lambda one: (one.test_case_id, one.context_id))
    if not ordered:
        return
    parameters = {
        "cases": [one.test_case_id for one in ordered],
        "contexts": [one.context_id for one in ordered],
    }
    await connection.execute(
        """
        INSERT INTO test_case_state (test_case_id, context_id, status, run_id, at, test_case_version, outcomes, flips)
        SELECT test_case_id, context_id, 'skipped', gen_random_uuid(), now(), 1, '', 0
        FROM unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case_id, context_id)
        ON CONFLICT (test_case_id, context_id) DO UPDATE SET outcomes = ''
        """,
        parameters,
    )
    await connection.execute(_REFRESH + _STORE, parameters)
    # Of a test case that no execution is left of, there is no state.
    await connection.execute(
        """
        DELETE FROM test_case_state USING unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case, context)
        WHERE test_case_id = one.test_case AND context_id = one.context AND outcomes = ''
        """,
        parameters,
    )

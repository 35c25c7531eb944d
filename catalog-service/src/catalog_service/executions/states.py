"""How a test case ended last on a branch and environment, worked out of its executions."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_column

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


_OUTCOME = "CASE e.status WHEN 'failed' THEN '4' WHEN 'flaky' THEN '3' WHEN 'passed' THEN '2' ELSE '1' END"
_VERSION = """coalesce((SELECT max(v.version) FROM item_revisions v
                 WHERE v.item_id = s.test_case_id AND v.changed_at <= {at}), 1)"""
_MAY_FLIP = "({outcomes} LIKE '%%4%%' AND {outcomes} ~ '[23]')"

# A test case may have several tests: of a run that had several of them, the worst counts. Everything is in the order of
# time, so that it is sorted once.
_REFRESH = f"""
WITH affected AS (
    SELECT * FROM unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case_id, context_id)
), runs AS (
    SELECT a.test_case_id, a.context_id, e.at, e.run_id, r.commit, max({_OUTCOME}) AS outcome
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
_FLIPS = f"""
    CASE WHEN {_MAY_FLIP.format(outcomes="s.last_outcomes")} THEN (
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
    test_case_version = {_VERSION.format(at="s.at")}
FROM states s WHERE known.test_case_id = s.test_case_id AND known.context_id = s.context_id
"""

# A run that is newer than all that a state knows adds an outcome to it. What did not always end alike is left out: how
# often it flipped is told by the commits of older runs.
_FOLLOW = f"""
WITH ended AS (
    SELECT c.test_case_id, max(e.outcome) AS outcome
    FROM unnest(%(cases)s::uuid[]) AS one (test_case_id) JOIN automated_test_cases c USING (test_case_id)
    CROSS JOIN LATERAL (
        SELECT e.run_id, {_OUTCOME} AS outcome FROM executions e
        WHERE e.test_id = c.test_id AND e.context_id = %(context)s AND e.at >= %(at)s
        ORDER BY e.at DESC, e.run_id DESC LIMIT 1) AS e
    WHERE e.run_id = %(run)s GROUP BY c.test_case_id
)
UPDATE test_case_state known SET
    status = {status_of("s.outcome")},
    run_id = r.id, commit = r.commit, at = r.at, outcomes = right(known.outcomes || s.outcome, {WINDOW}), flips = 0,
    last_pass_at = CASE WHEN s.outcome IN ('2', '3') THEN r.at ELSE known.last_pass_at END,
    test_case_version = {_VERSION.format(at="r.at")}
FROM ended s CROSS JOIN test_runs r
WHERE known.test_case_id = s.test_case_id AND known.context_id = %(context)s AND r.id = %(run)s AND known.at < r.at
AND NOT {_MAY_FLIP.format(outcomes=f"right(known.outcomes || s.outcome, {FLIPS_OF})")}
RETURNING known.test_case_id
"""


class Executed(Protocol):
    """A run on its branch and environment."""

    @property
    def id(self) -> UUID:
        """The run."""
        ...

    @property
    def context_id(self) -> int:
        """Branch and environment."""
        ...

    @property
    def at(self) -> datetime:
        """Where it stands among others."""
        ...


async def follow(
    connection: Connection, run: Executed, had: Collection[Affected], changed: Collection[Affected]
) -> None:
    """Bring states up to a run that has executions of test cases, in the transaction that stored these.

    Args: `had` are the test cases that the run had, `changed` those whose tests are others than before.
    """
    ordered = await _lock(connection, [*had, *changed])
    if not ordered:
        return
    anew = {_key(one) for one in changed}
    parameters = {
        "cases": [one.test_case_id for one in had if _key(one) not in anew],
        "context": run.context_id,
        "at": run.at,
        "run": run.id,
    }
    followed = {(one, run.context_id) for one in await fetch_column(connection, _FOLLOW, parameters)}
    await _work_out(connection, [one for one in ordered if one not in followed])


async def refresh(connection: Connection, affected: Iterable[Affected]) -> None:
    """Work the states of test cases out anew, in the caller's transaction."""
    await _work_out(connection, await _lock(connection, affected))


_Key = tuple[UUID, int]


def _key(one: Affected) -> _Key:
    return one.test_case_id, one.context_id


async def _lock(connection: Connection, affected: Iterable[Affected]) -> list[_Key]:
    """Lock states in the order of their keys, which are returned: who comes second reads what the first has stored.

    Of a test case that has none, a state is made that is newer than any run, since older runs are to be looked for.
    """
    keys = sorted({_key(one) for one in affected})
    if keys:
        await connection.execute(
            """
            INSERT INTO test_case_state
                (test_case_id, context_id, status, run_id, at, test_case_version, outcomes, flips)
            SELECT test_case_id, context_id, 'skipped', gen_random_uuid(), 'infinity', 1, '', 0
            FROM unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case_id, context_id)
            ON CONFLICT (test_case_id, context_id) DO UPDATE SET outcomes = '' WHERE false
            """,
            _columns(keys),
        )
    return keys


async def _work_out(connection: Connection, keys: list[_Key]) -> None:
    """Work states out of their executions; they are locked."""
    if not keys:
        return
    parameters = _columns(keys)
    stored = await connection.execute(_REFRESH + _STORE, parameters)
    if stored.rowcount < len(keys):
        # Of a test case that no execution is left of, there is no state.
        await connection.execute(
            """
            DELETE FROM test_case_state known
            USING unnest(%(cases)s::uuid[], %(contexts)s::integer[]) AS one (test_case, context)
            WHERE test_case_id = one.test_case AND context_id = one.context AND NOT EXISTS (
                SELECT FROM automated_test_cases c JOIN executions e ON e.test_id = c.test_id
                WHERE c.test_case_id = known.test_case_id AND e.context_id = known.context_id)
            """,
            parameters,
        )


def _columns(keys: list[_Key]) -> dict[str, list[UUID] | list[int]]:
    return {"cases": [case for case, _ in keys], "contexts": [context for _, context in keys]}

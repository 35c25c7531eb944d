"""How an automated test ended last on a branch, environment and lane, worked out of its executions.

The last result is that of the last commit, whichever of its runs came last: what a test did at one commit is put
together, and is flaky if it failed and passed. Where it is in doubt which commit is the last, the worse counts. Whether
a test is missing is not stored: `verdicts` compares where it stands with the last whole run of its lane.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from catalog_service.verdict_states import STATUS_OF_COMMIT, match_iterations
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value

WINDOW = 20
"""Runs whose outcomes are kept in a state."""


class Affected(NamedTuple):
    """A test on a branch, environment and lane, for a test case that it counts for: its state may be another now."""

    test_case_id: UUID
    test_id: int
    context_id: int


_OUTCOME = "CASE e.status WHEN 'failed' THEN '4' WHEN 'flaky' THEN '3' WHEN 'passed' THEN '2' ELSE '1' END"
_ASKED = """
    unnest(%(cases)s::uuid[], %(tests)s::bigint[], %(contexts)s::integer[])
    AS one (test_case_id, test_id, context_id)"""

_NAMED = "automated_test_cases c ON (c.test_id, c.test_case_id) = (one.test_id, one.test_case_id)"
# A run counts that had an iteration which names the test case: without any the test is missing there.
_OF_ONE = f"""
    e.test_id = one.test_id AND e.context_id = one.context_id AND {match_iterations("e.iterations", "c.iterations")}"""
# A test that a lane has now does not stand in the runs from before lanes any more.
_COUNTS = """
    NOT EXISTS (
        SELECT FROM retired_tests d WHERE d.test_id = one.test_id AND d.context_id = one.context_id)
    AND NOT EXISTS (
        SELECT FROM run_contexts former JOIN run_contexts x
            ON (x.branch, x.environment) = (former.branch, former.environment)
        JOIN executions e ON e.test_id = one.test_id AND e.context_id = x.id
        WHERE former.id = one.context_id AND former.is_former AND NOT x.is_former)"""


def _began(place: str, run: str) -> str:
    """Return the condition that what stands at the place of a run there began then, by the clock of its pipeline."""
    return f"""EXISTS (
        SELECT FROM test_runs o WHERE o.at = {place}
        AND (o.id = {run}.id OR o.commit = {run}.commit AND o.branch = {run}.branch))"""


# Two commits of one time are in no order. Nor are one that stands where it began and one that stands before it by the
# time of its commit, and ran later: nobody says which of the commits was made first.
_IN_DOUBT = f"""(
    r.position = last.position OR r.position < last.position AND NOT r.is_manual AND {_began("last.position", "last")}
    AND NOT EXISTS (
        SELECT FROM test_runs o WHERE o.branch = r.branch AND (o.id = r.id OR o.commit = r.commit)
        AND NOT o.is_manual AND o.at <= last.position))"""

# Executions are in the order of their runs, and no commit stands behind any of its runs: those since the position of
# the newest run hold all of the last commit.
_FOUND = f"""
    SELECT one.test_case_id, one.test_id, one.context_id, s.status, s.run_id, s.commit, last.position, s.at,
           coalesce(s.last_pass_at, before.at) AS last_pass_at, shown.outcomes
    FROM {_ASKED} JOIN {_NAMED} CROSS JOIN LATERAL (
        SELECT r.position FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE {_OF_ONE} ORDER BY e.at DESC LIMIT 1
    ) AS newest CROSS JOIN LATERAL (
        SELECT r.position, r.commit, r.branch, r.id FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE {_OF_ONE} AND e.at >= newest.position
        ORDER BY r.position DESC, r.created_at DESC, r.id DESC LIMIT 1
    ) AS last CROSS JOIN LATERAL (
        SELECT {STATUS_OF_COMMIT} AS status,
               (array_agg(e.run_id ORDER BY e.at DESC, e.run_id DESC))[1] AS run_id, max(r.commit) AS commit,
               max(e.at) AS at, max(e.at) FILTER (WHERE e.status IN ('passed', 'flaky')) AS last_pass_at
        FROM executions e JOIN test_runs r ON r.id = e.run_id CROSS JOIN LATERAL (
            SELECT coalesce(r.id = last.id OR r.position = last.position AND r.commit = last.commit, false) AS is_it
        ) AS of_last
        WHERE {_OF_ONE} AND e.at >= last.position
        AND (of_last.is_it OR {_IN_DOUBT})
        GROUP BY of_last.is_it, coalesce(r.commit, r.id::text)
        ORDER BY array_position(ARRAY['failed', 'flaky', 'skipped', 'passed'], {STATUS_OF_COMMIT}), of_last.is_it DESC,
                 max(e.at) DESC LIMIT 1
    ) AS s LEFT JOIN LATERAL (
        SELECT e.at FROM executions e WHERE s.last_pass_at IS NULL AND {_OF_ONE}
        AND e.at < s.at AND e.status IN ('passed', 'flaky')
        ORDER BY e.at DESC LIMIT 1
    ) AS before ON true CROSS JOIN LATERAL (
        SELECT string_agg(o.outcome, '' ORDER BY o.at, o.run_id) AS outcomes FROM (
            SELECT e.at, e.run_id, {_OUTCOME} AS outcome FROM executions e WHERE {_OF_ONE}
            ORDER BY e.at DESC, e.run_id DESC LIMIT {WINDOW}) AS o
    ) AS shown
    WHERE {_COUNTS}
"""
_STORE = f"""
UPDATE test_states known SET
    status = s.status, run_id = s.run_id, commit = s.commit, position = s.position, at = s.at,
    last_pass_at = s.last_pass_at, outcomes = s.outcomes, changes = changes_of(s.outcomes)
FROM ({_FOUND}) AS s
WHERE (known.test_case_id, known.test_id, known.context_id) = (s.test_case_id, s.test_id, s.context_id)
"""
_DROP = f"""
DELETE FROM test_states known USING {_ASKED}
WHERE (known.test_case_id, known.test_id, known.context_id) = (one.test_case_id, one.test_id, one.context_id)
AND NOT (
    EXISTS (SELECT FROM executions e JOIN {_NAMED} WHERE {_OF_ONE}) AND {_COUNTS})
"""

# The first run of a commit behind all that a state knows takes its place; it is the newest of all, too.
_FOLLOW = f"""
UPDATE test_states known SET
    status = e.status, run_id = r.id, commit = r.commit, position = r.position, at = r.at,
    outcomes = right(known.outcomes || {_OUTCOME}, {WINDOW}),
    changes = changes_of(right(known.outcomes || {_OUTCOME}, {WINDOW})),
    last_pass_at = CASE WHEN e.status IN ('passed', 'flaky') THEN r.at ELSE (
        SELECT p.at FROM executions p WHERE p.test_id = one.test_id AND p.context_id = one.context_id AND p.at < r.at
        AND p.status IN ('passed', 'flaky') ORDER BY p.at DESC LIMIT 1) END
FROM {_ASKED} JOIN test_runs r ON r.id = %(run)s
JOIN executions e ON e.test_id = one.test_id AND e.context_id = one.context_id AND e.at = r.at AND e.run_id = r.id
WHERE (known.test_case_id, known.test_id, known.context_id) = (one.test_case_id, one.test_id, one.context_id)
AND known.position < r.position AND NOT EXISTS (
    SELECT FROM executions n WHERE n.test_id = one.test_id AND n.context_id = one.context_id
    AND n.at > %(since)s AND n.run_id <> r.id)
RETURNING known.test_case_id, known.test_id, known.context_id
"""
_SINCE = f"""
SELECT CASE WHEN {_began("r.position", "r")} THEN r.position ELSE r.at END FROM test_runs r WHERE r.id = %(run)s"""
"""The query of since when a run knows of all that comes behind its commit: what is later is to be looked at."""


def status_of(outcome: str) -> str:
    """Return the SQL of the status that one outcome is; of several see the function `outcome_status`."""
    return f"CASE {outcome} WHEN '4' THEN 'failed' WHEN '3' THEN 'flaky' WHEN '2' THEN 'passed' ELSE 'skipped' END"


class Executed(Protocol):
    """A run on one branch, environment and lane."""

    @property
    def id(self) -> UUID:
        """The run."""
        ...

    @property
    def context_id(self) -> int:
        """Branch, environment and lane."""
        ...

    @property
    def at(self) -> datetime:
        """Where it stands among others."""
        ...


async def follow(
    connection: Connection, run: Executed, had: Collection[Affected], changed: Collection[Affected]
) -> None:
    """Bring states up to a run that has executions of test cases, in the transaction that stored these.

    Args: `had` are the tests that the run had, `changed` those that count for others than before.
    """
    ordered = await _lock(connection, [*had, *changed])
    if not ordered:
        return
    anew = {*changed}
    since = await fetch_value(connection, _SINCE, {"run": run.id})
    parameters = {**_columns([one for one in ordered if one not in anew]), "run": run.id, "since": since}
    followed = {*await fetch_all(connection, Affected, _FOLLOW, parameters)}
    await _work_out(connection, [one for one in ordered if one not in followed])


async def refresh(connection: Connection, affected: Iterable[Affected]) -> None:
    """Work states out anew, in the caller's transaction."""
    await _work_out(connection, await _lock(connection, affected))


async def _lock(connection: Connection, affected: Iterable[Affected]) -> list[Affected]:
    """Lock states in the order of their keys, which are returned: who comes second reads what the first has stored.

    Of a test that has none, a state is made that is newer than any run, since older runs are to be looked for.
    """
    keys = sorted({*affected})
    if keys:
        await connection.execute(
            f"""
            INSERT INTO test_states (test_case_id, test_id, context_id, status, run_id, position, at, outcomes, changes)
            SELECT test_case_id, test_id, context_id, 'skipped', gen_random_uuid(), 'infinity', 'infinity', '', 0
            FROM {_ASKED}
            ON CONFLICT (test_case_id, test_id, context_id) DO UPDATE SET outcomes = '' WHERE false
            """,
            _columns(keys),
        )
    return keys


async def _work_out(connection: Connection, keys: list[Affected]) -> None:
    """Work states out of their executions; they are locked."""
    if not keys:
        return
    parameters = _columns(keys)
    stored = await connection.execute(_STORE, parameters)
    if stored.rowcount < len(keys):
        # Of a test that no execution is left of, or that does not count, there is no state.
        await connection.execute(_DROP, parameters)


def _columns(keys: list[Affected]) -> dict[str, list[UUID] | list[int]]:
    return {
        "cases": [one.test_case_id for one in keys],
        "tests": [one.test_id for one in keys],
        "contexts": [one.context_id for one in keys],
    }

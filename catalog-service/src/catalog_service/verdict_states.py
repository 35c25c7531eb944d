"""How tests stand, each on a branch, environment and lane: the queries that verdicts are made from.

What is stored is how a test ended at its last commit; whether it is missing, and how it ended at another commit, is
worked out when it is asked for.
"""

from enum import IntEnum

LANES_GONE_AFTER = 10
"""The tests of a lane are missing that none of so many last commits of its branch has."""

STATUS_OF_ALL = """
    CASE WHEN bool_or(e.status = 'flaky') OR bool_or(e.status = 'failed') AND bool_or(e.status = 'passed') THEN 'flaky'
         WHEN bool_or(e.status = 'failed') THEN 'failed' WHEN bool_or(e.status = 'passed') THEN 'passed'
         ELSE 'skipped' END"""
"""The status of a test by all that is known of one commit in `e`."""


def match_iterations(iterations: str, names: str) -> str:
    """Return the condition that a run had one of some iterations; null of either: the whole test.

    Most tests have none, and to call the function for each of them takes longer than all else.
    """
    return f"({iterations} IS NULL OR {names} IS NULL OR ran_iterations({iterations}, {names}))"


STATUS_OF_COMMIT = f"""
    CASE WHEN count(e.iterations) = 0 OR count(*) = 1 THEN {STATUS_OF_ALL}
         ELSE status_of_iterations(array_agg(coalesce(e.iterations, jsonb_build_object('', e.outcomes)))) END"""
"""The status of a test by all its `executions e` of one commit: of an iteration that failed, if it has not passed."""


IS_TRACED = """EXISTS (
    SELECT FROM automated_test_cases c JOIN test_cases k ON k.id = c.test_case_id WHERE c.test_id = t.id)"""
"""The condition that an automated test `t` counts for a test case; what is remembered of deleted ones is none."""


class Severity(IntEnum):
    """How bad what a test did last is for its test case: of several tests the worst counts."""

    PASSED = 2
    SKIPPED = 3
    NOT_RUN = 4
    FLAKY = 5
    FAILED = 6


def severity_of(status: str) -> str:
    """Return the SQL of how bad a status is."""
    words = " ".join(f"WHEN '{one.name.lower()}' THEN {one.value}" for one in Severity if one is not Severity.NOT_RUN)
    return f"CASE {status} {words} WHEN 'blocked' THEN {Severity.NOT_RUN.value} END"


IS_BLOCKED = "{0}.status = 'skipped' AND {0}.outcomes = '0'"
"""Whether an execution is one by hand that could not be made: it is stored as one that was skipped in no attempt."""

# Only what was executed by hand is blocked, and little of that: the execution itself is looked at.
_STATUS = f"""CASE WHEN s.status = 'skipped' AND EXISTS (
    SELECT FROM executions e JOIN run_contexts x ON x.id = e.context_id AND x.lane = 'manual'
    WHERE e.test_id = s.test_id AND e.context_id = s.context_id AND e.at = s.at AND {IS_BLOCKED.format("e")})
    THEN 'blocked' ELSE s.status END"""
"""The status of a state `s`, of which nothing but the last status is stored."""


CONTEXTS = f"""
    SELECT c.id, c.branch, c.environment, c.lane, coalesce(last.position < recent.position, false) AS is_gone,
           CASE WHEN last.position < recent.position THEN 'infinity' ELSE whole.position END AS missing_before
    FROM run_contexts c CROSS JOIN LATERAL (
        SELECT max(l.position) AS position FROM run_lanes l WHERE l.context_id = c.id AND l.is_whole
    ) AS whole CROSS JOIN LATERAL (
        SELECT max(l.position) AS position FROM run_lanes l WHERE l.context_id = c.id
    ) AS last LEFT JOIN LATERAL (
        SELECT commits.position FROM (
            SELECT DISTINCT r.position FROM test_runs r WHERE r.branch = c.branch AND NOT r.is_manual
            ORDER BY r.position DESC LIMIT {LANES_GONE_AFTER}) AS commits
        ORDER BY commits.position DESC OFFSET {LANES_GONE_AFTER - 1}
    ) AS recent ON last.position IS NOT NULL"""
"""The query of branches, environments and lanes: a test that stands before `missing_before` there is missing.

That is the last whole run of the lane; all tests of a lane are missing that none of the last commits has.
"""

DROPPED = """
    SELECT c.id AS context_id, known.at AS position, c.environment, c.lane, c.branch, c.is_gone
    FROM contexts c CROSS JOIN LATERAL (
        SELECT e.at FROM executions e WHERE e.test_id = s.test_id AND e.context_id = k.id ORDER BY e.at LIMIT 1
    ) AS known
    WHERE (c.environment, c.lane) = (k.environment, k.lane) AND c.branch <> k.branch AND known.at < c.missing_before
    AND NOT EXISTS (
        SELECT FROM test_states o WHERE (o.test_case_id, o.test_id, o.context_id) = (s.test_case_id, s.test_id, c.id))
    AND NOT EXISTS (SELECT FROM retired_tests d WHERE (d.test_id, d.context_id) = (s.test_id, c.id))"""
"""The query of where branches lack a test whose state `s` is of the default branch, in `contexts k`.

A branch lacks it that has run the lane as a whole since, without it. `position`: since when it could have run.
"""

# The branch that was asked for comes before the default branch.
_CONTEXTS = f"""
    contexts AS MATERIALIZED (
        SELECT x.*, x.branch <> %(branch)s AS is_fallback FROM ({CONTEXTS}) AS x
        WHERE x.branch IN (%(branch)s, %(default_branch)s)
        AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)
    )"""

_KNOWN = f"""
    SELECT s.test_case_id, s.test_id, s.context_id, c.environment, c.lane, false AS is_fallback, false AS is_dropped,
           false AS is_dropped_alone, {_STATUS} AS status, s.commit, s.position, s.at, s.last_pass_at, s.changes,
           c.is_gone, coalesce(s.position < c.missing_before, false) AS is_missing
    FROM test_states s JOIN contexts c ON c.id = s.context_id WHERE true {{of_results}}"""
_KNOWN_OF_BOTH = f"""
    SELECT s.test_case_id, s.test_id, coalesce(d.context_id, k.id) AS context_id, k.environment, k.lane, k.is_fallback,
           d.context_id IS NOT NULL AS is_dropped,
           d.context_id IS NOT NULL AND coalesce(s.position >= k.missing_before, true) AS is_dropped_alone,
           {_STATUS} AS status, s.commit, coalesce(d.position, s.position) AS position,
           s.at, s.last_pass_at, s.changes, coalesce(d.is_gone, k.is_gone) AS is_gone,
           d.context_id IS NOT NULL OR coalesce(s.position < k.missing_before, false) AS is_missing
    FROM test_states s JOIN contexts k ON k.id = s.context_id LEFT JOIN LATERAL ({DROPPED}) AS d ON k.is_fallback
    WHERE true {{of_results}}"""
"""What a branch does not have stands as on the default branch, and is missing where the branch has dropped it.

What it alone has dropped is no better than where it runs: who drops a failing test has not mended it.
"""

# What tests did at a commit, on whatever branch; and where a lane ran as a whole there. Of most tests it is their last
# commit, of which their state tells; of the others executions do.
_AT_COMMIT = """
    runs_of_commit AS MATERIALIZED (
        SELECT id, at, is_manual FROM test_runs WHERE commit = %(run_commit)s
    ), lanes_of_commit AS MATERIALIZED (
        SELECT x.id AS context_id, x.environment, x.lane, bool_or(l.is_whole) AS is_whole
        FROM (
            SELECT o.context_id, o.is_whole FROM runs_of_commit r JOIN run_lanes o ON o.run_id = r.id
            UNION ALL
            SELECT e.context_id, false FROM runs_of_commit r JOIN executions e ON e.run_id = r.id AND e.at = r.at
            WHERE r.is_manual
        ) AS l JOIN run_contexts x ON x.id = l.context_id
        WHERE %(environment)s::text IS NULL OR x.environment = %(environment)s GROUP BY x.id
    ), last_at_commit AS MATERIALIZED (
        SELECT s.test_case_id, s.test_id, s.context_id, s.at, s.last_pass_at, {status} AS status FROM test_states s
        WHERE s.commit = %(run_commit)s AND s.context_id IN (SELECT context_id FROM lanes_of_commit) {of_results}
    ), others_at_commit AS MATERIALIZED (
        SELECT s.test_case_id, e.test_id, e.context_id, max(e.at) AS at,
               max(e.at) FILTER (WHERE e.status IN ('passed', 'flaky')) AS last_pass_at, {status_of_commit} AS status
        FROM runs_of_commit r JOIN executions e ON e.run_id = r.id AND e.at = r.at
        JOIN automated_test_cases s ON s.test_id = e.test_id AND {ran}
        WHERE NOT EXISTS (
            SELECT FROM test_states n WHERE n.test_id = e.test_id AND n.test_case_id = s.test_case_id
            AND n.context_id = e.context_id AND n.commit = %(run_commit)s) {of_results}
        GROUP BY s.test_case_id, e.test_id, e.context_id
    ), ran AS MATERIALIZED (
        SELECT e.test_case_id, e.test_id, e.environment, e.lane, max(e.at) AS at, max(e.last_pass_at) AS last_pass_at,
               {status_of_all} AS status
        FROM (
            SELECT n.test_case_id, n.test_id, l.environment, l.lane, n.at, n.last_pass_at, n.status
            FROM last_at_commit n JOIN lanes_of_commit l USING (context_id)
            UNION ALL
            SELECT o.test_case_id, o.test_id, x.environment, x.lane, o.at, o.last_pass_at, o.status
            FROM others_at_commit o JOIN run_contexts x ON x.id = o.context_id
            WHERE %(environment)s::text IS NULL OR x.environment = %(environment)s
        ) AS e GROUP BY e.test_case_id, e.test_id, e.environment, e.lane
    )"""

_STATES = """
    states AS (
        SELECT k.test_case_id, k.test_id, k.environment, k.lane, k.is_fallback, k.is_dropped, k.status,
               k.commit, k.at, k.last_pass_at, k.changes, k.is_missing, k.is_gone, false AS is_older, k.context_id,
               k.position, CASE WHEN k.is_dropped_alone THEN greatest({not_run}, {severity})
                                WHEN k.is_missing THEN {not_run} ELSE {severity} END AS severity
        FROM ({known}) AS k
    )"""

# A test that the branch has counts as not run where the commit does not have it, a lane that did not run included; so
# does one of the default branch that the branch has in no lane.
_STATES_AT_COMMIT = """
    known AS MATERIALIZED (
        SELECT k.*, {has_only_fallback} AS has_only_fallback FROM ({known}) AS k
    ), states AS (
        SELECT test_case_id, test_id, environment, lane, false AS is_fallback, false AS is_dropped, k.context_id,
               k.position,
               CASE WHEN r.status IS NULL THEN k.status ELSE r.status END AS status,
               CASE WHEN r.status IS NULL THEN k.commit ELSE %(run_commit)s END AS commit,
               CASE WHEN r.status IS NULL THEN k.at ELSE r.at END AS at,
               CASE WHEN r.status IS NULL THEN k.last_pass_at ELSE r.last_pass_at END AS last_pass_at,
               coalesce(k.changes, 0) AS changes,
               r.status IS NULL AND (k.is_missing OR EXISTS (
                   SELECT FROM lanes_of_commit l WHERE (l.environment, l.lane) = (k.environment, k.lane) AND l.is_whole)
               ) AS is_missing, coalesce(k.is_gone, false) AS is_gone, r.status IS NULL AND %(older)s AS is_older,
               CASE WHEN r.status IS NOT NULL THEN {severity_at_commit}
                    WHEN k.is_missing OR NOT %(older)s THEN {not_run} ELSE {severity} END AS severity
        FROM (SELECT * FROM known k WHERE NOT k.is_fallback OR k.is_dropped OR k.has_only_fallback) AS k
        FULL JOIN ran r USING (test_case_id, test_id, environment, lane)
    )"""


_STATUS_OF_LANES = STATUS_OF_ALL.replace("ELSE", "WHEN bool_and(e.status = 'blocked') THEN 'blocked' ELSE")
"""The status of a test by what it did at a commit in several places."""


def states_of_tests(of_results: str, *, at_commit: bool, falls_back: bool) -> str:
    """Return common table expressions that end with `states`: how each test stands that counts, for its test cases.

    Columns: test_case_id, test_id, environment, lane, status, commit, at, last_pass_at, changes, whether it is_missing
    and its lane is_gone, is_older than the commit that is asked for, is_fallback, is_dropped by the branch asked
    for, and its severity. `of_results` narrows `test_states s`, or of a commit `automated_test_cases s`, whose test
    cases alone may be spoken of. `at_commit`: results of a commit alone are asked for; `falls_back`: those of a default
    branch, too. Parameters: those of a Basis.
    """
    known = (_KNOWN_OF_BOTH if falls_back else _KNOWN).format(of_results=of_results)
    words = {"not_run": Severity.NOT_RUN.value, "severity": severity_of("k.status"), "known": known}
    if not at_commit:
        return f"{_CONTEXTS}, {_STATES.format(**words)}"
    ran = _AT_COMMIT.format(
        of_results=of_results,
        status=_STATUS,
        status_of_all=_STATUS_OF_LANES,
        status_of_commit=STATUS_OF_COMMIT,
        ran=match_iterations("e.iterations", "s.iterations"),
    )
    only_fallback = "bool_and(k.is_fallback) OVER (PARTITION BY k.test_case_id, k.test_id)" if falls_back else "false"
    states = _STATES_AT_COMMIT.format(
        **words, severity_at_commit=severity_of("r.status"), has_only_fallback=only_fallback
    )
    return f"{_CONTEXTS}, {ran}, {states}"

"""What results say of a test case, and of a requirement over its test cases: the one place where verdicts are made.

A verdict is made by a query when it is asked for, of one moment, from the states of test cases, the links and what has
changed. `verdict_reads` has the answers to these queries.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict

from catalog_service.verdict_states import Severity, states_of_tests


class TestCaseVerdict(StrEnum):
    """How a test case stands on a branch."""

    __test__ = False

    NOT_RUN = "not_run"
    SKIPPED = "skipped"
    FAILED = "failed"
    FLAKY = "flaky"
    STALE = "stale"
    PASSED = "passed"


class Verdict(StrEnum):
    """How a requirement stands, in the order in which one comes before another."""

    UNCOVERED = "uncovered"
    FAILED = "failed"
    FLAKY = "flaky"
    PARTIAL = "partial"
    NOT_RUN = "not_run"
    STALE = "stale"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Basis:
    """Which results count.

    Those of a branch; with `fallback`, a test case without any there has those of the default branch. `environment`
    None: of any. With a `commit`, results of it alone: a test that did not run at it has not run, unless `older` ones
    may stand for it. `now` and `stale_after` say when a pass is too old.
    """

    branch: str
    default_branch: str
    now: datetime
    stale_after: timedelta
    fallback: bool = True
    environment: str | None = None
    commit: str | None = None
    older: bool = False

    @property
    def stale_before(self) -> datetime:
        """A pass before it is too old."""
        return self.now - self.stale_after

    @property
    def said(self) -> str:
        """In words: of which branch, environment and commit."""
        given = (("environment", self.environment), ("commit", self.commit))
        return ", ".join([f"branch {self.branch}", *(f"{name} {value}" for name, value in given if value)])

    @property
    def question(self) -> Hashable:
        """What is asked for, whenever that is."""
        return replace(self, now=datetime.min.replace(tzinfo=UTC))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the queries of verdicts."""
        return {
            "branch": self.branch,
            "default_branch": self.default_branch if self.fallback else self.branch,
            "stale_before": self.stale_before,
            "environment": self.environment,
            "run_commit": self.commit,
            "older": self.older,
            "now": self.now,
        }


class Counts(TypedDict):
    """The linked test cases of a requirement by their verdicts; `related` links and deprecated test cases are apart."""

    tests_linked: int
    tests_run: int
    passed: int
    failed: int
    flaky: int
    skipped: int
    not_run: int
    stale: int


UNSTEADY_AFTER = 4
"""So many changes among its last 20 runs make a test unsteady."""

COUNTED = ("passed", "failed", "flaky", "skipped", "not_run", "stale")

BIT = {verdict: 1 << place for place, verdict in enumerate(TestCaseVerdict)}
"""Verdicts of test cases in queries, so that those of all links of a requirement can be put together."""
_WITHOUT_RESULT = BIT[TestCaseVerdict.NOT_RUN] | BIT[TestCaseVerdict.SKIPPED]


def _of_own_branch(value: str) -> str:
    return f"CASE WHEN bool_and(is_fallback) THEN {value} ELSE {value} FILTER (WHERE NOT is_fallback OR is_dropped) END"


_WORST = _of_own_branch("max(severity)")
_RESULTS = f"""
    results AS (
        SELECT test_case_id, bool_and(is_fallback) AS is_fallback, {_WORST} AS severity,
               {_of_own_branch("max(at)")} AS at,
               CASE WHEN {_WORST} = {Severity.PASSED} THEN {_of_own_branch("min(last_pass_at)")}
                    ELSE {_of_own_branch("max(last_pass_at)")} END AS last_pass_at,
               {_of_own_branch("bool_or(is_missing)")} AS has_missing,
               {_of_own_branch("bool_or(is_older)")} AS has_older
        FROM states GROUP BY test_case_id
    )"""

_ELSEWHERE = """(%(run_commit)s::text IS NULL AND EXISTS (
    SELECT FROM test_states o JOIN run_contexts x ON x.id = o.context_id
    WHERE o.test_case_id = t.id AND o.last_pass_at IS NOT NULL
    AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)))"""


# Whether it is so elsewhere is asked last: it is what costs most.
_VERDICT = f"""CASE
    WHEN s.severity = {Severity.FAILED} THEN {BIT[TestCaseVerdict.FAILED]}
    WHEN s.severity = {Severity.FLAKY} THEN {BIT[TestCaseVerdict.FLAKY]}
    WHEN s.severity = {Severity.NOT_RUN} THEN {BIT[TestCaseVerdict.NOT_RUN]}
    WHEN s.severity = {Severity.SKIPPED} THEN {BIT[TestCaseVerdict.SKIPPED]}
    WHEN s.last_pass_at < greatest(%(stale_before)s, tv.changed_at) THEN {BIT[TestCaseVerdict.STALE]}
    WHEN s.severity = {Severity.PASSED} THEN {BIT[TestCaseVerdict.PASSED]}
    WHEN {_ELSEWHERE} THEN {BIT[TestCaseVerdict.STALE]} ELSE {BIT[TestCaseVerdict.NOT_RUN]} END"""
"""The verdict of a test case `t` with `results s` and its last change `tv`, whatever its requirements are."""

_SINCE_CHANGED = f"""CASE WHEN t.standing = {BIT[TestCaseVerdict.PASSED]} AND t.last_pass_at < rv.changed_at
    THEN {BIT[TestCaseVerdict.STALE]} ELSE t.standing END"""
"""The verdict of `standing t` where a requirement changed as `rv` says."""

_LAST_CHANGE = "LEFT JOIN item_revisions tv ON t.version > 1 AND tv.item_id = t.id AND tv.version = t.version"


def _states(of_results: str, basis: Basis) -> str:
    falls_back = basis.fallback and basis.branch != basis.default_branch
    return states_of_tests(of_results, at_commit=basis.commit is not None, falls_back=falls_back)


def _standing(columns: str, condition: str, basis: Basis, of_results: str = "") -> str:
    """Return common table expressions that end with `standing`: some columns of test cases `t`, and how they stand."""
    return f"""{_states(of_results, basis)}, {_RESULTS}, standing AS MATERIALIZED (
        SELECT {columns}, s.last_pass_at, s.has_missing, s.has_older, {_VERDICT} AS standing
        FROM test_cases t LEFT JOIN results s ON s.test_case_id = t.id {_LAST_CHANGE} WHERE {condition}
    )"""


# Few requirements have changed.
_CHANGED = """changed AS MATERIALIZED (
        SELECT r.id, v.changed_at FROM requirements r
        JOIN item_revisions v ON v.item_id = r.id AND v.version = r.version WHERE r.version > 1
    )"""

_CHANGED_FOR = """changed_for AS (
        SELECT l.test_case_id, max(c.changed_at) AS changed_at FROM changed c
        JOIN links l ON l.requirement_id = c.id AND l.link_type <> 'related' GROUP BY l.test_case_id
    )"""
"""When a requirement of a test case changed last, of those that it counts for."""

_COUNTS_LINK = "l.link_type <> 'related'"
COUNTS_TEST_CASE = "t.status <> 'deprecated'"
COUNTS_FOR = f"{_COUNTS_LINK} AND {COUNTS_TEST_CASE}"
"""Which links `l` to which test cases `t` count for a requirement."""


def _pairs(condition: str, scope: str | None) -> str:
    """Return `pairs`: the links `l` under a condition of requirements in scope, with the verdicts of `standing`."""
    return f"""{_CHANGED}, pairs AS (
        SELECT l.requirement_id, l.test_case_id, {_SINCE_CHANGED} AS verdict
        FROM links l JOIN standing t ON t.id = l.test_case_id LEFT JOIN changed rv ON rv.id = l.requirement_id
        WHERE {condition} {"" if scope is None else "AND l.requirement_id IN (SELECT id FROM asked)"}
    )"""


def _asked(scope: str | None) -> str:
    return "asked AS (SELECT id FROM requirements)" if scope is None else f"asked AS MATERIALIZED ({scope})"


def _text(verdict: str) -> str:
    """Return the text of the verdict of a test case in a query."""
    return f"CASE {verdict} {' '.join(f'WHEN {BIT[one]} THEN {one.value!r}' for one in TestCaseVerdict)} END"


def link_verdicts(scope: str | None, basis: Basis) -> str:
    """Return common table expressions that end with `verdicts`: requirement_id, test_case_id, verdict of each link.

    `scope` is a query of the ids of requirements; None: of all. Parameters: those of a Basis.
    """
    return f"""{_asked(scope)}, {_standing("t.id", "true", basis)}, {_pairs("true", scope)}, verdicts AS (
        SELECT requirement_id, test_case_id, {_text("verdict")} AS verdict FROM pairs
    )"""


OF_REQUIREMENT = f"""CASE WHEN verdicts IS NULL THEN 'uncovered'
    WHEN verdicts & {BIT[TestCaseVerdict.FAILED]} > 0 THEN 'failed'
    WHEN verdicts & {BIT[TestCaseVerdict.FLAKY]} > 0 THEN 'flaky'
    WHEN verdicts & ~{_WITHOUT_RESULT} = 0 THEN 'not_run' WHEN verdicts & {_WITHOUT_RESULT} > 0 THEN 'partial'
    WHEN verdicts & {BIT[TestCaseVerdict.STALE]} > 0 THEN 'stale' ELSE 'passed' END"""
"""The verdict of a requirement by `verdicts`, the bits of those of its test cases together; null: it has none."""
_COUNTED = ", ".join(f"count(*) FILTER (WHERE verdict = {BIT[TestCaseVerdict(one)]}) AS {one}" for one in COUNTED)
_WITH_COUNTS = f""", count(*) AS tests_linked, {_COUNTED},
    array_agg(test_case_id ORDER BY test_case_id) FILTER (WHERE verdict & {_WITHOUT_RESULT} > 0) AS missing"""
_COUNTS = f""", coalesce(tests_linked, 0) AS tests_linked,
    coalesce(tests_linked - not_run - skipped, 0) AS tests_run,
    {", ".join(f"coalesce({one}, 0) AS {one}" for one in COUNTED)}, coalesce(missing, '{{}}') AS missing"""


THESE = "SELECT unnest(%(ids)s::uuid[]) AS id"
"""The scope of some requirements: those with `ids`, a parameter."""


def requirement_verdicts(scope: str | None, basis: Basis, *, of_few: bool = False, counts: bool = False) -> str:
    """Return common table expressions that end with `verdicts`: requirement_id, verdict, and Counts and missing.

    `scope` is a query of the ids of requirements, each of which has a row; None: of all. `of_few`: they are so few that
    the results of their test cases alone are looked at. Without `counts` those are left out. Parameters: those of a
    Basis. `standing` tells of the test cases that count.
    """
    linked = "SELECT test_case_id FROM links WHERE requirement_id IN (SELECT id FROM asked)"
    test_cases, of_results = COUNTS_TEST_CASE, ""
    if of_few:
        test_cases, of_results = f"{test_cases} AND t.id IN ({linked})", f"AND s.test_case_id IN ({linked})"
    return f"""
    {_asked(scope)}, {_standing("t.id", test_cases, basis, of_results)}, {_pairs(_COUNTS_LINK, scope)}, counted AS (
        SELECT requirement_id, bit_or(verdict) AS verdicts{_WITH_COUNTS if counts else ""}
        FROM pairs GROUP BY requirement_id
    ), verdicts AS (
        SELECT asked.id AS requirement_id, {OF_REQUIREMENT} AS verdict{_COUNTS if counts else ""}
        FROM asked LEFT JOIN counted ON counted.requirement_id = asked.id
    )"""


VERDICTS_OF_PAIRS = f"SELECT requirement_id, test_case_id, {_text('verdict')} AS verdict FROM pairs"
"""Comes after requirement_verdicts: the test cases that count for each of the requirements."""

_LAST_RESULT = "(ARRAY[NULL, 'passed', 'skipped', NULL, 'flaky', 'failed'])[s.severity]"
_TEST_CASE_COLUMNS = f"""
    t.id, t.external_id, t.title, t.module, t.status, coalesce(s.is_fallback, false) AS on_default_branch,
    s.test_case_id IS NULL AND {_ELSEWHERE} AS elsewhere,
    {_LAST_RESULT} AS last_result, s.at AS last_run_at, tv.changed_at AS test_case_changed_at
"""
_SHOWN = ", ".join(
    f"t.{name}"
    for name in (
        *(
            "id",
            "external_id",
            "title",
            "module",
            "status",
            "on_default_branch",
            "elsewhere",
            "has_missing",
            "has_older",
        ),
        *("last_result", "last_run_at", "last_pass_at", "test_case_changed_at"),
    )
)


_LINKED_WITH_ONE = "SELECT test_case_id FROM links WHERE requirement_id = %(id)s"


def verdicts_of_linked_test_cases(basis: Basis) -> str:
    """Return the query of the test cases of a requirement `id` with their verdicts, with those that do not count."""
    of_results = f"AND s.test_case_id IN ({_LINKED_WITH_ONE})"
    return f"""
        WITH {_standing(_TEST_CASE_COLUMNS, f"t.id IN ({_LINKED_WITH_ONE})", basis, of_results)}
        SELECT {_SHOWN}, l.link_type, {COUNTS_FOR} AS counts, rv.changed_at AS requirement_changed_at,
               {_text(_SINCE_CHANGED)} AS verdict
        FROM links l JOIN standing t ON t.id = l.test_case_id JOIN requirements r ON r.id = l.requirement_id
        LEFT JOIN item_revisions rv ON r.version > 1 AND rv.item_id = r.id AND rv.version = r.version
        WHERE l.requirement_id = %(id)s ORDER BY t.external_id, t.id
    """


def last_results(basis: Basis) -> str:
    """Return the query of how test cases `ids` ended last; those without a result that counts are left out."""
    return f"""
        WITH {_states("AND s.test_case_id = ANY(%(ids)s)", basis)}, {_RESULTS}
        SELECT test_case_id AS id, {_LAST_RESULT} AS last_result, at AS last_run_at FROM results s
    """


def accepted_now(acceptance: str) -> str:
    """Return the condition that the failure of a row of `accepted_failures` is accepted `now`."""
    return f"{acceptance}.ended_at IS NULL AND {acceptance}.until > %(now)s"


# Of one that ran on other branches alone, nobody knows where it has passed since: it is accepted while it has nowhere.
_ACCEPTANCE = f"""
    SELECT json_build_object('id', f.id, 'reason', f.reason, 'until', f.until, 'accepted_by', f.created_by,
                             'issue_url', f.issue_url) AS said
    FROM accepted_failures f
    WHERE s.severity = {Severity.FAILED} AND (f.test_id = s.test_id OR f.test_case_id = s.test_case_id)
    AND {accepted_now("f")} AND s.context_id <> ALL(f.settled) AND (f.iterations IS NULL OR NOT EXISTS (
        SELECT FROM executions e
        CROSS JOIN LATERAL jsonb_each_text(coalesce(e.iterations, jsonb_build_object('', e.outcomes))) AS i
        WHERE e.test_id = s.test_id AND e.context_id = s.context_id AND e.at = s.at
        AND outcome_status(i.value) IN ('failed', 'flaky') AND split_part(i.key, '.', 1) <> ALL(f.iterations)))
    ORDER BY f.until DESC, f.id LIMIT 1"""


_STATES_THAT_COUNT = """
    states_that_count AS (
        SELECT s.* FROM (
            SELECT k.*, bool_and(k.is_fallback) OVER (PARTITION BY k.test_case_id) AS has_only_fallback FROM states k
        ) AS s WHERE NOT s.is_fallback OR s.is_dropped OR s.has_only_fallback
    )"""
"""Comes after `states`: those of the default branch count for a test case that has none on the branch.

And those that the branch has dropped.
"""


def states_that_count(of_results: str, basis: Basis) -> str:
    """Return common table expressions that end with `states_that_count`; see states_of_tests."""
    return f"{_states(of_results, basis)}, {_STATES_THAT_COUNT}"


def tests_behind(basis: Basis) -> str:
    """Return the query of the tests that the verdicts of test cases `ids` come from, the worst first.

    With the whole runs of their lanes that a missing one was not in, how many, and since when; of a failing one, that
    its failure is accepted.
    """
    return f"""
        WITH {states_that_count("AND s.test_case_id = ANY(%(ids)s)", basis)}
        SELECT s.test_case_id, s.test_id AS id, a.class_name, a.name, a.is_manual AS by_hand,
               nullif(s.environment, '') AS environment, s.lane, s.status AS last_result, s.at AS last_run_at, s.commit,
               s.is_missing AS missing, s.is_gone AS lane_gone, s.severity = {Severity.NOT_RUN} AS not_run,
               s.is_older AS older, s.changes >= {UNSTEADY_AFTER} AS unsteady, s.is_fallback AS on_default_branch,
               missed.runs AS missed_runs, missed.key AS missed_run, missed.at AS missed_since,
               accepted.said AS accepted
        FROM states_that_count s JOIN automated_tests a ON a.id = s.test_id
        LEFT JOIN LATERAL ({_ACCEPTANCE}) AS accepted ON true CROSS JOIN LATERAL (
            SELECT count(*) AS runs, (array_agg(r.key ORDER BY l.position DESC, r.at DESC))[1] AS key, min(r.at) AS at
            FROM run_lanes l JOIN test_runs r ON r.id = l.run_id
            WHERE s.is_missing AND l.context_id = s.context_id AND l.is_whole AND l.position > s.position
        ) AS missed
        ORDER BY s.test_case_id, s.severity DESC, s.at DESC, a.class_name, a.name, s.lane, s.environment, s.test_id
    """


def unsteady(scope: str | None, basis: Basis) -> str:
    """Return the query of the tests that change often, of the test cases that count for requirements in scope."""
    return f"""
        WITH {_asked(scope)}, {states_that_count("", basis)}
        SELECT DISTINCT a.id, a.class_name, a.name
        FROM states_that_count s JOIN automated_tests a ON a.id = s.test_id
        JOIN test_cases t ON t.id = s.test_case_id JOIN links l ON l.test_case_id = t.id
        WHERE s.changes >= {UNSTEADY_AFTER} AND NOT s.is_missing AND {COUNTS_FOR}
        AND l.requirement_id IN (SELECT id FROM asked) ORDER BY a.class_name, a.name, a.id
    """


def older(basis: Basis) -> str:
    """Return the query of the tests whose results are of other commits than the one that is asked for."""
    return f"""
        WITH {_states("", basis)}
        SELECT s.test_case_id, t.external_id AS test_case, a.id, a.class_name, a.name, s.lane,
               nullif(s.environment, '') AS environment, s.status AS last_result, s.at AS last_run_at, s.commit
        FROM states s JOIN automated_tests a ON a.id = s.test_id JOIN test_cases t ON t.id = s.test_case_id
        WHERE s.is_older AND NOT s.is_missing AND {COUNTS_TEST_CASE}
        ORDER BY t.external_id, t.id, a.class_name, a.name, s.lane, s.environment, a.id
    """


_BY_ITSELF = f"{_SHOWN}, NULL::text AS link_type, true AS counts, rv.changed_at AS requirement_changed_at"


def verdicts_of_test_cases(condition: str, basis: Basis, of_results: str = "", *, shown: bool = False) -> str:
    """Return the query of id and verdict, or of all that is shown, of test cases `t`, each by itself."""
    return f"""
        WITH {_standing(_TEST_CASE_COLUMNS if shown else "t.id", condition, basis, of_results)},
            {_CHANGED}, {_CHANGED_FOR}
        SELECT {_BY_ITSELF if shown else "t.id"}, {_text(_SINCE_CHANGED)} AS verdict
        FROM standing t LEFT JOIN changed_for rv ON rv.test_case_id = t.id"""


VERDICTS_OF_THEIR_TEST_CASES = f"""{_CHANGED_FOR}, test_case_verdicts AS (
        SELECT t.id AS test_case_id, {_text(_SINCE_CHANGED)} AS verdict, coalesce(t.has_missing, false) AS has_missing,
               CASE WHEN t.standing = {BIT[TestCaseVerdict.PASSED]} THEN t.last_pass_at END AS ages_from
        FROM standing t LEFT JOIN changed_for rv ON rv.test_case_id = t.id
        WHERE t.id IN (SELECT test_case_id FROM pairs)
    )"""
"""Comes after requirement_verdicts: the test cases that count for one of the requirements, each by itself.

`ages_from`: the pass by which it will be too old. Also where it is stale already since one of its requirements changed:
for others it counts.
"""


def is_verified(verdict: str, *, allow_flaky: bool) -> bool:
    """Check whether a requirement with this verdict is verified."""
    return verdict == Verdict.PASSED or (allow_flaky and verdict == Verdict.FLAKY)

"""What results say of a test case, and of a requirement over its test cases: the one place where verdicts are made.

A verdict is made when it is asked for, of one moment, from the states of test cases, the links and what has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_only
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page
from chassis.web.parameters import Choice


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


FLIPS_OF_FLAKY = 2
"""So many changes without a change of commit make a test case flaky."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Which results count.

    Those of a branch; with `fallback`, a test case without any there has those of the default branch. `environment` and
    `commit` None: of any. `now` and `stale_after` say when a pass is too old.
    """

    branch: str
    default_branch: str
    now: datetime
    stale_after: timedelta
    fallback: bool = True
    environment: str | None = None
    commit: str | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the queries of verdicts."""
        return {
            "branch": self.branch,
            "default_branch": self.default_branch if self.fallback else self.branch,
            "stale_before": self.now - self.stale_after,
            "environment": self.environment,
            "run_commit": self.commit,
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


COUNTED = ("passed", "failed", "flaky", "skipped", "not_run", "stale")

# The branch that was asked for comes before the default branch; of several environments the worst result counts.
_RESULTS = f"""
    contexts AS (
        SELECT id, branch, environment, branch <> %(branch)s AS is_fallback FROM run_contexts
        WHERE branch IN (%(branch)s, %(default_branch)s)
        AND (%(environment)s::text IS NULL OR environment = %(environment)s)
    ), results AS (
        SELECT DISTINCT ON (s.test_case_id) s.test_case_id, c.is_fallback,
               max(CASE WHEN s.status = 'failed' THEN 4
                        WHEN s.status = 'flaky' OR s.status = 'passed' AND s.flips >= {FLIPS_OF_FLAKY} THEN 3
                        WHEN s.status = 'passed' THEN 2 ELSE 1 END) AS severity,
               max(s.at) AS at, max(s.last_pass_at) AS last_pass_at
        FROM test_case_state s JOIN contexts c ON c.id = s.context_id
        WHERE (%(run_commit)s::text IS NULL OR s.commit = %(run_commit)s) {{of_results}}
        GROUP BY s.test_case_id, c.is_fallback ORDER BY s.test_case_id, c.is_fallback
    )"""

_ELSEWHERE = """(%(run_commit)s::text IS NULL AND EXISTS (
    SELECT FROM test_case_state o JOIN run_contexts x ON x.id = o.context_id
    WHERE o.test_case_id = t.id AND o.last_pass_at IS NOT NULL
    AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)))"""


def _verdict(changed: str) -> str:
    """Return the verdict of a test case `t` with `results s`; `changed`: moments that a pass must be after."""
    return f"""CASE
        WHEN s.test_case_id IS NULL THEN CASE WHEN {_ELSEWHERE} THEN 'stale' ELSE 'not_run' END
        WHEN s.severity = 4 THEN 'failed' WHEN s.severity = 3 THEN 'flaky' WHEN s.severity = 1 THEN 'skipped'
        WHEN s.last_pass_at < greatest(%(stale_before)s, {changed}) THEN 'stale' ELSE 'passed' END"""


COUNTS_FOR = "l.link_type <> 'related' AND t.status <> 'deprecated'"
"""Which links `l` to which test cases `t` count for a requirement."""


# Few requirements have changed. Each pair's verdict is counted by six conditions, and made but once.
def _pairs(which: str) -> str:
    """Return the links `l` to test cases `t` under a condition, with their verdicts, as `pairs`."""
    return f"""
    changed AS MATERIALIZED (
        SELECT r.id, v.changed_at FROM requirements r
        JOIN item_revisions v ON v.item_id = r.id AND v.version = r.version
        WHERE r.version > 1 AND r.id IN (SELECT id FROM asked)
    ), pairs AS MATERIALIZED (
        SELECT l.requirement_id, t.id AS test_case_id, {_verdict("tv.changed_at, rv.changed_at")} AS verdict
        FROM links l JOIN test_cases t ON t.id = l.test_case_id
        LEFT JOIN results s ON s.test_case_id = t.id
        LEFT JOIN item_revisions tv ON t.version > 1 AND tv.item_id = t.id AND tv.version = t.version
        LEFT JOIN changed rv ON rv.id = l.requirement_id
        WHERE {which} AND l.requirement_id IN (SELECT id FROM asked)
    )"""


def link_verdicts(scope: str) -> str:
    """Return common table expressions that end with `pairs`: requirement_id, test_case_id, verdict of each link.

    `scope` is a query of the ids of requirements. Parameters: those of a Basis.
    """
    return f"asked AS MATERIALIZED ({scope}), {_RESULTS.format(of_results='')}, {_pairs('true')}"


_COUNTED = ", ".join(f"count(*) FILTER (WHERE verdict = '{one}') AS {one}" for one in COUNTED)


def requirement_verdicts(scope: str, *, of_few: bool = False) -> str:
    """Return common table expressions that end with `verdicts`: requirement_id, Counts, missing, verdict.

    `scope` is a query of the ids of requirements; each of them has a row. `of_few`: they are so few that the results of
    their test cases alone are looked at. Parameters: those of a Basis.
    """
    few = (
        "AND s.test_case_id IN (SELECT test_case_id FROM links WHERE requirement_id IN (SELECT id FROM asked))"
        if of_few
        else ""
    )
    return f"""
    asked AS MATERIALIZED ({scope}), {_RESULTS.format(of_results=few)}, {_pairs(COUNTS_FOR)}, counted AS (
        SELECT requirement_id, count(*) AS tests_linked, {_COUNTED},
               array_agg(test_case_id ORDER BY test_case_id)
               FILTER (WHERE verdict IN ('not_run', 'skipped')) AS missing
        FROM pairs GROUP BY requirement_id
    ), verdicts AS (
        SELECT asked.id AS requirement_id, coalesce(tests_linked, 0) AS tests_linked,
               coalesce(tests_linked - not_run - skipped, 0) AS tests_run,
               {", ".join(f"coalesce({one}, 0) AS {one}" for one in COUNTED)},
               coalesce(missing, '{{}}') AS missing,
               CASE WHEN tests_linked IS NULL THEN 'uncovered' WHEN failed > 0 THEN 'failed'
                    WHEN flaky > 0 THEN 'flaky' WHEN not_run + skipped = tests_linked THEN 'not_run'
                    WHEN not_run + skipped > 0 THEN 'partial' WHEN stale > 0 THEN 'stale' ELSE 'passed' END AS verdict
        FROM asked LEFT JOIN counted ON counted.requirement_id = asked.id
    )"""


class RequirementVerdict(TypedDict):
    """The verdict of a requirement, with the counts that it comes from."""

    requirement_id: UUID
    verdict: str
    counts: Counts
    missing: list[UUID]


async def of_requirements(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, RequirementVerdict]:
    """Return the verdicts of some requirements."""
    cursor = await connection.execute(
        f"WITH {requirement_verdicts('SELECT unnest(%(ids)s::uuid[]) AS id', of_few=True)} SELECT * FROM verdicts",
        {"ids": list(ids), **basis.parameters},
    )
    return {row["requirement_id"]: as_verdict(row) for row in await cursor.fetchall()}


def as_verdict(row: dict[str, Any]) -> RequirementVerdict:
    """Return a row of `verdicts` as it is answered."""
    counts = Counts(**{name: row[name] for name in Counts.__annotations__})  # type: ignore[typeddict-item]
    return {
        "requirement_id": row["requirement_id"],
        "verdict": row["verdict"],
        "counts": counts,
        "missing": row["missing"],
    }


class LinkedTestCase(TypedDict):
    """A test case of a requirement, or by itself, with its verdict and what that comes from."""

    id: UUID
    external_id: str | None
    title: str
    module: str | None
    status: str
    link_type: str | None
    counts: bool
    verdict: str
    on_default_branch: bool
    elsewhere: bool
    last_result: str | None
    last_run_at: datetime | None
    last_pass_at: datetime | None
    test_case_changed_at: datetime | None
    requirement_changed_at: datetime | None


_LAST_RESULT = "(ARRAY['skipped', 'passed', 'flaky', 'failed'])[s.severity]"
_TEST_CASE_COLUMNS = f"""
    t.id, t.external_id, t.title, t.module, t.status, coalesce(s.is_fallback, false) AS on_default_branch,
    s.test_case_id IS NULL AND {_ELSEWHERE} AS elsewhere,
    {_LAST_RESULT} AS last_result, s.at AS last_run_at, s.last_pass_at,
    tv.changed_at AS test_case_changed_at
"""


async def test_cases_of(connection: Connection, requirement_id: UUID, basis: Basis) -> list[LinkedTestCase]:
    """Return the test cases of a requirement with their verdicts for it, those that do not count among them."""
    results = _RESULTS.format(
        of_results="AND s.test_case_id IN (SELECT test_case_id FROM links WHERE requirement_id = %(id)s)"
    )
    return await fetch_all(
        connection,
        LinkedTestCase,
        f"""
        WITH {results}
        SELECT {_TEST_CASE_COLUMNS}, l.link_type, {COUNTS_FOR} AS counts, rv.changed_at AS requirement_changed_at,
               {_verdict("tv.changed_at, rv.changed_at")} AS verdict
        FROM links l JOIN test_cases t ON t.id = l.test_case_id JOIN requirements r ON r.id = l.requirement_id
        LEFT JOIN results s ON s.test_case_id = t.id
        LEFT JOIN item_revisions tv ON t.version > 1 AND tv.item_id = t.id AND tv.version = t.version
        LEFT JOIN item_revisions rv ON r.version > 1 AND rv.item_id = r.id AND rv.version = r.version
        WHERE l.requirement_id = %(id)s ORDER BY t.external_id, t.id
        """,
        {"id": requirement_id, **basis.parameters},
    )


class LastResult(TypedDict):
    """How a test case ended last, of the results that count."""

    id: UUID
    last_result: str | None
    last_run_at: datetime | None


async def last_results(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, LastResult]:
    """Return how test cases ended last; those without a result that counts are left out."""
    rows = await fetch_all(
        connection,
        LastResult,
        f"""
        WITH {_RESULTS.format(of_results="AND s.test_case_id = ANY(%(ids)s)")}
        SELECT test_case_id AS id, {_LAST_RESULT} AS last_result, at AS last_run_at FROM results s
        """,
        {"ids": list(ids), **basis.parameters},
    )
    return {row["id"]: row for row in rows}


_BY_ITSELF = f"{_TEST_CASE_COLUMNS}, NULL::text AS link_type, true AS counts, rv.changed_at AS requirement_changed_at"


def verdicts_of_test_cases(columns: str, condition: str, of_results: str = "") -> str:
    """Return the query of columns of test cases `t` under a condition, each by itself."""
    return f"""
        WITH {_RESULTS.format(of_results=of_results)}, changed AS (
            SELECT l.test_case_id, max(rv.changed_at) AS changed_at FROM links l
            JOIN requirements r ON r.id = l.requirement_id AND r.version > 1
            JOIN item_revisions rv ON rv.item_id = r.id AND rv.version = r.version
            WHERE l.link_type <> 'related' GROUP BY l.test_case_id
        )
        SELECT {columns}, {_verdict("tv.changed_at, rv.changed_at")} AS verdict
        FROM test_cases t LEFT JOIN results s ON s.test_case_id = t.id
        LEFT JOIN item_revisions tv ON t.version > 1 AND tv.item_id = t.id AND tv.version = t.version
        LEFT JOIN changed rv ON rv.test_case_id = t.id
        WHERE {condition}"""


async def of_test_case(connection: Connection, test_case_id: UUID, basis: Basis) -> LinkedTestCase:
    """Return a test case that is there with its verdict: stale when any of its requirements has changed since."""
    parameters = {"id": test_case_id, **basis.parameters}
    return await fetch_only(connection, LinkedTestCase, verdicts_of_test_cases(_BY_ITSELF, "t.id = %(id)s"), parameters)


LONGEST_AGO_FIRST = Order("last_pass_at:asc", (By("t.last_pass_at", datetime, nullable=True), By("t.id", UUID)))
"""By their last pass; those without one come last."""


async def page_of_test_cases(
    connection: Connection,
    ids: Choice[UUID] | None,
    chosen: Choice[TestCaseVerdict] | None,
    basis: Basis,
    wanted: PageRequest,
) -> Fetched:
    """Return a page of test cases with their verdicts, each by itself; deprecated ones only when `ids` name them."""
    conditions = Conditions(**basis.parameters)
    conditions.choose("t.verdict", chosen)
    if ids is None:
        source = verdicts_of_test_cases(_BY_ITSELF, "t.status <> 'deprecated'")
    else:
        conditions.parameters["ids"] = list(ids.included)
        source = verdicts_of_test_cases(_BY_ITSELF, "t.id = ANY(%(ids)s)", "AND s.test_case_id = ANY(%(ids)s)")
    return await fetch_page(connection, "t.*", f"({source}) t", conditions, wanted)


async def count_test_cases(
    connection: Connection, scope: str, parameters: Mapping[str, Any], basis: Basis
) -> dict[str, int]:
    """Return how many of the test cases that count for the requirements of a scope have which verdict."""
    condition = f"""t.status <> 'deprecated' AND t.id IN (
        SELECT l.test_case_id FROM links l WHERE l.link_type <> 'related' AND l.requirement_id IN ({scope}))"""
    query = verdicts_of_test_cases("t.id", condition)
    cursor = await connection.execute(
        f"SELECT verdict, count(*) AS n FROM ({query}) AS test_cases GROUP BY verdict",
        {**parameters, **basis.parameters},
        prepare=False,
    )
    found = {row["verdict"]: row["n"] for row in await cursor.fetchall()}
    return {one.value: found.get(one.value, 0) for one in TestCaseVerdict}


async def count_requirements(
    connection: Connection, scope: str, parameters: Mapping[str, Any], basis: Basis
) -> dict[str, int]:
    """Return how many of the requirements of a scope have which verdict."""
    cursor = await connection.execute(
        f"WITH {requirement_verdicts(scope)} SELECT verdict, count(*) AS n FROM verdicts GROUP BY verdict",
        {**parameters, **basis.parameters},
        prepare=False,
    )
    found = {row["verdict"]: row["n"] for row in await cursor.fetchall()}
    return {one.value: found.get(one.value, 0) for one in Verdict}


def reasons(row: LinkedTestCase, basis: Basis) -> list[dict[str, str]]:
    """Return why a test case has its verdict, where that does not speak for itself."""
    told = []

    def tell(code: str, message: str) -> None:
        told.append({"code": code, "message": message})

    if row["elsewhere"]:
        tell("other_branch", f"It has passed on other branches only, not on {basis.branch}.")
    if row["on_default_branch"]:
        tell("default_branch", f"It has no result on {basis.branch}; this is that of {basis.default_branch}.")
    passed = row["last_pass_at"]
    if passed is not None and row["verdict"] == TestCaseVerdict.STALE:
        if passed < basis.now - basis.stale_after:
            tell("old", f"Its last pass is more than {basis.stale_after.days} days old.")
        if row["test_case_changed_at"] is not None and passed < row["test_case_changed_at"]:
            tell("test_case_changed", "The test case has changed since it passed.")
        if row["requirement_changed_at"] is not None and passed < row["requirement_changed_at"]:
            tell("requirement_changed", "The requirement has changed since it passed.")
    if row["verdict"] == TestCaseVerdict.FLAKY:
        tell("flaky", "It passed after it had failed, with the same code.")
    return told


def is_verified(verdict: str, *, allow_flaky: bool) -> bool:
    """Check whether a requirement with this verdict is verified."""
    return verdict == Verdict.PASSED or (allow_flaky and verdict == Verdict.FLAKY)

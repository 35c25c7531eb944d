"""Verdicts as they are answered: of requirements, with their counts, and of test cases, with what they come from."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any, TypedDict, cast
from uuid import UUID

from catalog_service.verdict_words import tell_older_test
from catalog_service.verdicts import (
    COUNTS_TEST_CASE,
    THESE,
    VERDICTS_OF_PAIRS,
    Basis,
    Counts,
    TestCaseVerdict,
    older,
    requirement_verdicts,
    tests_behind,
    unsteady,
    verdicts_of_linked_test_cases,
    verdicts_of_test_cases,
)
from catalog_service.verdicts import last_results as query_of_last_results
from chassis.core.wording import counted
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_only
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page
from chassis.web.parameters import Choice

_MOST_TOLD = 100
END_OF_DAY = time.max
"""The time of what is so until a day, to its end."""


class RequirementVerdict(TypedDict):
    """The verdict of a requirement, with the counts that it comes from."""

    requirement_id: UUID
    verdict: str
    counts: Counts
    missing: list[UUID]


async def of_requirements(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, RequirementVerdict]:
    """Return the verdicts of some requirements."""
    cursor = await connection.execute(
        f"WITH {requirement_verdicts(THESE, basis, of_few=True, counts=True)} SELECT * FROM verdicts",
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


class CountingTestCase(TypedDict):
    """A test case that counts for a requirement, and its verdict for it."""

    requirement_id: UUID
    external_id: str | None
    title: str
    verdict: str


async def counting_test_cases(
    connection: Connection, ids: Sequence[UUID], basis: Basis
) -> dict[UUID, list[CountingTestCase]]:
    """Return the test cases that count for some requirements, by name; of one without any, none."""
    query = f"""
        WITH {requirement_verdicts(THESE, basis, of_few=True)}
        SELECT p.requirement_id, t.external_id, t.title, p.verdict
        FROM ({VERDICTS_OF_PAIRS}) p JOIN test_cases t ON t.id = p.test_case_id ORDER BY t.external_id, t.id
    """
    found: dict[UUID, list[CountingTestCase]] = {one: [] for one in ids}
    for row in await fetch_all(connection, CountingTestCase, query, {"ids": list(ids), **basis.parameters}):
        found[row["requirement_id"]].append(row)
    return found


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
    has_missing: bool | None
    has_older: bool | None
    last_result: str | None
    last_run_at: datetime | None
    last_pass_at: datetime | None
    test_case_changed_at: datetime | None
    requirement_changed_at: datetime | None


async def test_cases_of(connection: Connection, requirement_id: UUID, basis: Basis) -> list[LinkedTestCase]:
    """Return the test cases of a requirement with their verdicts for it, those that do not count among them."""
    parameters = {"id": requirement_id, **basis.parameters}
    return await fetch_all(connection, LinkedTestCase, verdicts_of_linked_test_cases(basis), parameters)


class LastResult(TypedDict):
    """How a test case ended last, of the results that count."""

    id: UUID
    last_result: str | None
    last_run_at: datetime | None


async def last_results(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, LastResult]:
    """Return how test cases ended last; those without a result that counts are left out."""
    rows = await fetch_all(connection, LastResult, query_of_last_results(basis), {"ids": list(ids), **basis.parameters})
    return {row["id"]: row for row in rows}


async def of_test_case(connection: Connection, test_case_id: UUID, basis: Basis) -> LinkedTestCase:
    """Return a test case that is there with its verdict: stale when any of its requirements has changed since."""
    parameters = {"id": test_case_id, **basis.parameters}
    return await fetch_only(
        connection, LinkedTestCase, verdicts_of_test_cases("t.id = %(id)s", basis, shown=True), parameters
    )


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
        source = verdicts_of_test_cases(COUNTS_TEST_CASE, basis, shown=True)
    else:
        conditions.parameters["ids"] = list(ids.included)
        source = verdicts_of_test_cases("t.id = ANY(%(ids)s)", basis, "AND s.test_case_id = ANY(%(ids)s)", shown=True)
    return await fetch_page(connection, "t.*", f"({source}) t", conditions, wanted)


class Acceptance(TypedDict):
    """Who accepts a failure, why and until when."""

    id: str
    reason: str
    until: datetime
    accepted_by: str
    issue_url: str | None


class TestBehind(TypedDict):
    """A test that the verdict of a test case comes from; see `verdicts.tests_behind`."""

    id: int
    class_name: str
    name: str
    environment: str | None
    lane: str
    by_hand: bool
    last_result: str
    last_run_at: datetime
    commit: str | None
    missing: bool
    lane_gone: bool
    missed_runs: int
    missed_run: str | None
    missed_since: datetime | None
    not_run: bool
    older: bool
    unsteady: bool
    on_default_branch: bool
    accepted: Acceptance | None


async def tests_of(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, list[TestBehind]]:
    """Return the tests that the verdicts of test cases come from, the worst first; those without any are left out."""
    cursor = await connection.execute(tests_behind(basis), {"ids": list(ids), **basis.parameters})
    found: dict[UUID, list[TestBehind]] = {}
    for row in await cursor.fetchall():
        if row["accepted"] is not None:
            row["accepted"]["until"] = datetime.fromisoformat(row["accepted"]["until"]).astimezone(UTC)
        found.setdefault(row.pop("test_case_id"), []).append(cast(TestBehind, row))
    return found


async def missing_a_test(connection: Connection, basis: Basis) -> list[UUID]:
    """Return the requirements of which a test case that counts has a test that is missing."""
    query = f"""
        WITH {requirement_verdicts(None, basis)}
        SELECT DISTINCT p.requirement_id FROM pairs p JOIN standing t ON t.id = p.test_case_id WHERE t.has_missing"""
    return await fetch_column(connection, query, basis.parameters)


async def unsteady_tests(
    connection: Connection, ids: str | None, parameters: Mapping[str, Any], basis: Basis
) -> list[dict[str, Any]]:
    """Return the tests that change often, by name: those of the test cases that count for requirements in scope."""
    cursor = await connection.execute(unsteady(ids, basis), {**parameters, **basis.parameters})
    return await cursor.fetchall()


async def older_tests(connection: Connection, basis: Basis) -> list[dict[str, Any]]:
    """Return the tests whose results of other commits stand for the one that is asked for, by their test cases."""
    cursor = await connection.execute(older(basis), basis.parameters)
    return await cursor.fetchall()


async def tell_older(connection: Connection, basis: Basis) -> list[str]:
    """Return that results of other commits count, and for each of the first which; nothing where none does."""
    if basis.commit is None or not basis.older:
        return []
    rows = await older_tests(connection, basis)
    if not rows:
        return []
    count = counted(len(rows), "result is", "results are")
    more = [f"And {len(rows) - _MOST_TOLD:,} more."] if len(rows) > _MOST_TOLD else []
    return [f"{count} of other commits than {basis.commit}.", *map(tell_older_test, rows[:_MOST_TOLD]), *more]


def reasons(row: LinkedTestCase, tests: Sequence[TestBehind], basis: Basis) -> list[dict[str, str]]:
    """Return why a test case has its verdict, where that does not speak for itself."""
    found = []

    def tell(code: str, message: str) -> None:
        found.append({"code": code, "message": message})

    if row["elsewhere"]:
        tell("other_branch", f"It has passed on other branches only, not on {basis.branch}.")
    if row["on_default_branch"]:
        tell("default_branch", f"It has no result on {basis.branch}; this is that of {basis.default_branch}.")
    passed = row["last_pass_at"]
    if passed is not None and row["verdict"] == TestCaseVerdict.STALE:
        if passed < basis.stale_before:
            tell("old", f"Its last pass is more than {counted(basis.stale_after.days, 'day')} old.")
        if row["test_case_changed_at"] is not None and passed < row["test_case_changed_at"]:
            tell("test_case_changed", "The test case has changed since it passed.")
        if row["requirement_changed_at"] is not None and passed < row["requirement_changed_at"]:
            tell("requirement_changed", "The requirement has changed since it passed.")
    if row["verdict"] == TestCaseVerdict.FLAKY:
        tell("flaky", "It passed and failed with the same code.")
    for test in tests:
        if test["accepted"] is not None:
            tell("accepted", f"{_name(test)} fails, {_accepted(test['accepted'])}")
        if test["not_run"] or test["missing"]:
            tell(*why_not_run(test, basis))
        elif test["older"]:
            of = f"commit {test['commit']}" if test["commit"] else f"{test['last_run_at']:%Y-%m-%d}"
            tell("older", f"{_name(test)} did not run at {basis.commit}; this is its result of {of}.")
    return found


def _name(test: TestBehind) -> str:
    return "The execution by hand" if test["by_hand"] else ".".join(filter(None, (test["class_name"], test["name"])))


def _accepted(acceptance: Acceptance) -> str:
    until = acceptance["until"]
    day = f"{until:%Y-%m-%d}" if until.time() == END_OF_DAY else f"{until:%Y-%m-%d %H:%M} UTC"
    by = ", ".join(filter(None, (acceptance["accepted_by"], acceptance["issue_url"])))
    return f"accepted until {day}: {acceptance['reason']} ({by})"


def why_not_run(test: TestBehind, basis: Basis) -> tuple[str, str]:
    """Return why a test counts as not run, as a code and a sentence."""
    name, lane = _name(test), test["lane"]
    way_out = "If it is gone for good, retire it; if it has another name now, merge it."
    if test["lane_gone"]:
        return "lane_gone", f"{name}: the last commits of {basis.branch} have no run of {lane} any more. {way_out}"
    if test["last_result"] == "blocked" and not test["missing"]:
        return "blocked", f"{name} was blocked on {test['last_run_at']:%Y-%m-%d}: it could not be executed."
    if test["missing"] and test["missed_since"] is not None:
        runs = counted(test["missed_runs"], "run")
        since = f"{test['missed_since']:%Y-%m-%d}"
        last = f"the last is {test['missed_run']}"
        return "missing", f"{name} was not in {runs} of {lane} since {since}, {last}. {way_out}"
    return "not_at_commit", f"{name} did not run at the commit {basis.commit}."

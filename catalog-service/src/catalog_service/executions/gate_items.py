"""What the rules of a gate name, each with a reason that a person can act on."""

from collections.abc import Mapping, Sequence
from typing import Any

from catalog_service.items import suspicion
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE
from catalog_service.verdict_words import tell_older_test
from catalog_service.verdicts import TestCaseVerdict, Verdict
from chassis.core import projects

Row = dict[str, Any]

_MOST_TEST_CASES = 3
_NOT_RUN = (TestCaseVerdict.NOT_RUN, TestCaseVerdict.SKIPPED)
_BECAUSE_OF = {
    Verdict.FAILED: (TestCaseVerdict.FAILED,),
    Verdict.FLAKY: (TestCaseVerdict.FLAKY,),
    Verdict.PARTIAL: _NOT_RUN,
    Verdict.NOT_RUN: _NOT_RUN,
    Verdict.STALE: (TestCaseVerdict.STALE,),
}


def requirement(row: Row, test_cases: Sequence[Mapping[str, Any]]) -> Row:
    """Return a requirement with the test cases that its verdict comes from, the first of them by name."""
    verdicts = _BECAUSE_OF.get(row["verdict"], ())
    names = [str(one["external_id"] or one["title"]) for one in test_cases if one["verdict"] in verdicts]
    because = " (no test case)" if row["verdict"] == Verdict.UNCOVERED else ""
    if names:
        more = f" and {len(names) - _MOST_TEST_CASES} more" if len(names) > _MOST_TEST_CASES else ""
        because = f" ({verdicts[0].replace('_', ' ')}: {', '.join(names[:_MOST_TEST_CASES])}{more})"
    return named(row, f"{row['external_id'] or row['id']}: {row['title']}{because}", f"{REQUIREMENT.path}/{row['id']}")


def automated_test(row: Row) -> Row:
    """Return a test by its class and name."""
    name = ".".join(filter(None, (row["class_name"], row["name"])))
    return named(row, name, f"/api/v1/automated-tests?ids={row['id']}")


def run(row: Row, why: str) -> Row:
    """Return a run by its key, and why it is not whole."""
    return named(row, f"run {row['key']}{why and f': {why}'}", f"/api/v1/test-runs/{row['id']}")


def accepted_failure(row: Row) -> Row:
    """Return a failure that was let pass, with why, until when and by whom."""
    test, case = row["test"], row["test_case"]
    name = "what people execute" if test["by_hand"] else ".".join(filter(None, (test["class_name"], test["name"])))
    by = ", ".join(filter(None, (row["accepted_by"], row["issue_url"])))
    until = f"accepted until {row['until']:%Y-%m-%d %H:%M} UTC: {row['reason']} ({by})"
    reason = f"{case['external_id'] or case['title']}: {name} of {row['lane']} fails, {until}"
    return named({**row, "why": row["reason"]}, reason, f"/api/v1/accepted-failures/{row['id']}")


def older_test(row: Row) -> Row:
    """Return a test with the commit that its result is of."""
    return named(row, tell_older_test(row), f"{TEST_CASE.path}/{row['test_case_id']}")


def suggestion(row: Row) -> Row:
    """Return a pair that waits for a review, by what both are called."""
    sides = (row[f"{kind.name}_external_id"] or row[f"{kind.name}_title"] for kind in (REQUIREMENT, TEST_CASE))
    pair = f"requirement_id={row['requirement_id']}&test_case_id={row['test_case_id']}"
    return named(row, " with ".join(sides), f"/api/v1/suggestions?status=pending&{pair}")


def suspect_link(row: Row) -> Row:
    """Return a suspect link with which side has changed, and how."""
    sides = suspicion.reason(row)
    assert sides is not None, "these links are suspect"
    changed = [
        f"{row[f'{kind.name}_external_id'] or row[f'{kind.name}_title']} went from version {side['from_version']}"
        f" to {side['to_version']} ({', '.join(side['fields'])})"
        for kind in (REQUIREMENT, TEST_CASE)
        if (side := sides[kind.name]) is not None
    ]
    other = TEST_CASE if sides[REQUIREMENT.name] is not None else REQUIREMENT
    name = row[f"{other.name}_external_id"] or row[f"{other.name}_title"]
    link = {
        "id": row["id"],
        "requirement_external_id": row["requirement_external_id"],
        "requirement_title": row["requirement_title"],
        "test_case_external_id": row["test_case_external_id"],
        "test_case_title": row["test_case_title"],
    }
    why = f"{' and '.join(changed)} after its link with {name} was confirmed."
    return named(link, why, f"/api/v1/links/{row['id']}")


def close_over_scope(given: Mapping[str, str]) -> Row:
    """Return what closes a gate of which a rule is about no requirement."""
    if not given:
        return close_over_nothing("There is no requirement")
    filters = ", ".join(f"{name}={text}" for name, text in given.items())
    rest = " Mend its filters, or leave out the rules about it."
    return {**close_over_nothing(f"No requirement is in the scope {filters}", rest), "where": dict(given)}


def close_over_nothing(reason: str, rest: str = "") -> Row:
    """Return what closes a gate over nothing."""
    return _close("empty_scope", 1, 0, f"{reason}: a gate over nothing does not pass.{rest}")


def close_until_finished(expected: Sequence[str], of: str) -> Row:
    """Return what closes a gate until the lanes that a project expects have ended."""
    reason = (
        f"The project expects runs of {', '.join(expected)} for {of}, of which none has ended with a test that ran."
    )
    return _close("not_finished", 0, len(expected), reason)


def close_over_broken_runs(reason: str, runs: list[Row]) -> Row:
    """Return what closes a gate over runs that broke."""
    rest = " Or say with max_incomplete_runs how many may be."
    return {**_close("run_incomplete", 0, len(runs), f"{reason}{rest}"), "items": runs, "total": len(runs)}


def _close(rule: str, limit: int, actual: int, reason: str) -> Row:
    """Return what closes a gate whatever its rules are."""
    return {
        "rule": rule,
        "limit": limit,
        "where": {},
        "actual": actual,
        "passed": False,
        "reason": reason,
        "items": [],
        "total": 0,
    }


def named(row: Row, reason: str, path: str) -> Row:
    return {**row, "reason": reason, "url": projects.address(path)}

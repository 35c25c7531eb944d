"""What rules of a gate come to, in words: of figures, wherever these come from."""

from collections.abc import Sequence

from catalog_service.executions.gate_runs import Outcome, Row, figure
from catalog_service.verdicts import Verdict
from chassis.core.wording import counted

OF_VERDICT = {
    Verdict.UNCOVERED: "{} without a test case",
    Verdict.FAILED: "{} failing",
    Verdict.FLAKY: "{} flaky",
    Verdict.STALE: "{} stale: passed, but too long ago or before a change",
    Verdict.NOT_RUN: "{} not run",
}
"""What is said of requirements with a verdict that a rule counts; `{}` is is or are."""


def judge_share(limit: float, total: int, count: int, what: str) -> Outcome:
    """Judge how many of the requirements are something, in percent; of those that are not, the caller names some."""
    actual = round(100 * count / total, 2) if total else 0.0
    if actual == 100 and count < total:
        actual = 99.99
    # Not by the rounded figure: 79.996 % are not 80 %.
    passed = 100 * count >= limit * total
    reason = f"{count} of {total} requirements {what}: {figure(actual)} %, {figure(limit)} % are asked for."
    return Outcome(actual, passed, reason, [], total - count)


def judge_verdict(limit: float, verdict: Verdict, count: int, items: Sequence[Row], accepted: int = 0) -> Outcome:
    """Judge how many requirements have a verdict, beside those that are let pass."""
    and_accepted = f", beside {accepted} as accepted" if accepted else ""
    verb = OF_VERDICT[verdict].format("is" if count == 1 else "are")
    return judge_count(limit, count, f"{counted(count, 'requirement')} {verb}{and_accepted}", items)


def judge_unlinked(limit: float, count: int, items: Sequence[Row]) -> Outcome:
    """Judge how many tests of CI have no test case."""
    has = "has" if count == 1 else "have"
    return judge_count(limit, count, f"{counted(count, 'test')} of CI in the project {has} no test case", items)


def judge_tests(least: float, count: int) -> Outcome:
    """Judge how many tests ran."""
    return Outcome(count, count >= least, f"{counted(count, 'test')} ran; at least {figure(least)} must.")


def judge_count(limit: float, count: int, said: str, items: Sequence[Row], rest: str = "") -> Outcome:
    """Judge a number that has a limit; `said` is what it is of."""
    return Outcome(count, count <= limit, f"{said}; {limit_of(limit)}.{rest}", [*items], count)


def limit_of(limit: float) -> str:
    """Return how a reason says a limit."""
    return f"the limit is {figure(limit)}"


def judged(rule: str, limit: float | bool | None, where: dict[str, str], outcome: Outcome) -> Row:
    """Return a rule with what it came to, as a gate answers it."""
    return {
        "rule": rule,
        "limit": limit,
        "where": where,
        "actual": outcome.actual,
        "passed": outcome.passed,
        "reason": outcome.reason,
        "items": outcome.items,
        "total": outcome.total,
    }

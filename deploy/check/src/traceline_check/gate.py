"""Holds the record and the tests at hand against the rules of a gate, in the words of the service."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from catalog_service.executions import gate_items, gate_runs
from catalog_service.executions.gate_outcomes import judge_share, judge_tests, judge_unlinked, judged, limit_of
from catalog_service.executions.gate_outcomes import judge_verdict as judge_number
from catalog_service.executions.gate_runs import Outcome, RunOfGate
from catalog_service.executions.rules import ABOUT_RESULTS, ABOUT_RUNS, RuleName
from catalog_service.verdicts import Verdict, is_verified
from chassis.core.wording import counted
from traceline_check.record import Piece, Record
from traceline_check.rules import Rule
from traceline_check.tests import Test, Tests
from traceline_check.verdicts import Standing

_MOST_ITEMS = 50
_OF = "these files"
_OF_VERDICT = {
    RuleName.MAX_UNCOVERED: Verdict.UNCOVERED,
    RuleName.MAX_FAILED: Verdict.FAILED,
    RuleName.MAX_FAILED_REQUIREMENTS: Verdict.FAILED,
    RuleName.MAX_FLAKY: Verdict.FLAKY,
    RuleName.MAX_STALE: Verdict.STALE,
    RuleName.MAX_NOT_RUN: Verdict.NOT_RUN,
}
_ASK_A_SERVER = {
    RuleName.MIN_ROLLED_VERIFIED: "which requirements stand below which",
    RuleName.MAX_WITHOUT_PARENT: "which requirements stand below which",
    RuleName.MAX_WITHOUT_CHILD: "which requirements stand below which",
    RuleName.MAX_SUSPECT_RELATIONS: "what changed since relations were confirmed",
    RuleName.MAX_MISSING: "which tests ran before",
    RuleName.MAX_UNSTEADY: "how tests ended before",
    RuleName.MAX_SUSPECT: "what changed since links were confirmed",
    RuleName.MAX_PENDING_SUGGESTIONS: "which suggestions wait for a review",
    RuleName.MAX_RUN_AGE_HOURS: "when the tests ran",
    RuleName.NO_NEW_FAILURES: "what failed before",
}
"""Rules about what no file tells, and what that is."""
_ABOUT_RUNS = ABOUT_RUNS - _ASK_A_SERVER.keys()
_ABOUT_RESULTS = ABOUT_RESULTS - _ASK_A_SERVER.keys()
MISSING_NOT_LOOKED_AT = "Whether a test is missing that ran before is not looked at: files of one run do not tell."


class Gate:
    """Answers rules over what files say."""

    def __init__(self, record: Record, tests: Tests, standing: Standing, *, allow_flaky: bool) -> None:
        self._record = record
        self._tests = tests
        self._standing = standing
        self._allow_flaky = allow_flaky
        self._requirements = sorted(record.of_kind("requirement"), key=_order_by_module)
        self._runs = [_run_of(tests)] if tests.reports else []

    def judge(self, rules: Sequence[Rule], unreadable: Sequence[str]) -> dict[str, Any]:
        """Return the answer of the gate, as the service answers it."""
        rows = [judged(rule.name.value, rule.limit, dict(rule.where), self._judge(rule)) for rule in rules]
        scopes = {repr(rule.where): rule for rule in rules if rule.name not in _ABOUT_RUNS}
        empty = [rule for rule in scopes.values() if not any(self._scope(rule))]
        rows[:0] = [gate_items.close_over_scope(rule.where) for rule in empty]
        rows[:0] = self._doubts({rule.name for rule in rules})
        rows[:0] = [*_closed(unreadable, self._record.problems, self._tests.unknown)]
        looked_at = {rule.name for rule in rules} & {RuleName.MAX_MISSING}
        return {
            "passed": all(row["passed"] for row in rows),
            "rules": rows,
            "branch": _OF,
            "commit": None,
            "environment": None,
            "runs": self._runs,
            "older": {"total": 0, "items": []},
            "accepted": {"total": 0, "items": []},
            "missing_lanes": {"commit": None, "expected": [], "usual": []},
            "warnings": [] if looked_at else [{"code": "missing_not_looked_at", "message": MISSING_NOT_LOOKED_AT}],
            "evaluated_at": datetime.now(UTC),
        }

    def _judge(self, rule: Rule) -> Outcome:
        if rule.name in _ASK_A_SERVER:
            reason = (
                f"No file tells {_ASK_A_SERVER[rule.name]}: ask a server with `traceline gate`, or leave out the rule."
            )
            return Outcome(False, False, reason)
        if rule.name in _OF_VERDICT:
            having = self._having(rule, [_OF_VERDICT[rule.name]])
            return judge_number(rule.limit, _OF_VERDICT[rule.name], len(having), self._shown(having))
        return _JUDGES[rule.name](self, rule)

    def _doubts(self, asked: set[RuleName]) -> list[dict[str, Any]]:
        """Return what closes the gate where rules about results ask neither for a run nor for its health."""
        if not asked & _ABOUT_RESULTS or RuleName.REQUIRE_RUN in asked:
            return []
        if not any(test.status != "skipped" for test in self._tests.by_key.values()):
            return [gate_items.close_over_nothing(f"Nothing has run of {_OF}", " Add a report of a run with a test.")]
        healthy = gate_runs.require_healthy(self._runs, _OF)
        if healthy.passed or RuleName.MAX_INCOMPLETE_RUNS in asked:
            return []
        return [gate_items.close_over_broken_runs(healthy.reason, healthy.items)]

    def _scope(self, rule: Rule) -> Iterable[Piece]:
        return (one for one in self._requirements if rule.is_about(one))

    def _having(self, rule: Rule, verdicts: Sequence[str]) -> list[Piece]:
        return [one for one in self._scope(rule) if self._standing.requirements[one.number] in verdicts]

    def _shown(self, requirements: Sequence[Piece]) -> list[dict[str, Any]]:
        return [self._item(one) for one in requirements[:_MOST_ITEMS]]

    def _item(self, requirement: Piece) -> dict[str, Any]:
        row = {
            "id": requirement.name,
            "external_id": requirement.external_id,
            "title": requirement.fields.get("title"),
            "module": requirement.fields.get("module"),
            "verdict": self._standing.requirements[requirement.number],
        }
        counting = [
            {
                "external_id": one.external_id,
                "title": one.fields["title"],
                "verdict": self._standing.test_cases[one.number],
            }
            for one in sorted(self._standing.counting[requirement.number], key=lambda one: one.name)
        ]
        return _of_files(gate_items.requirement(row, counting), requirement.source)

    def _coverage(self, rule: Rule) -> Outcome:
        without = [one for one in self._scope(rule) if one.number not in self._standing.linked]
        return self._share(rule, without, "have a test case")

    def _verified(self, rule: Rule) -> Outcome:
        others = [one.value for one in Verdict if not is_verified(one, allow_flaky=self._allow_flaky)]
        return self._share(rule, self._having(rule, others), "are verified")

    def _share(self, rule: Rule, others: Sequence[Piece], what: str) -> Outcome:
        total = sum(1 for _ in self._scope(rule))
        outcome = judge_share(rule.limit, total, total - len(others), what)
        outcome.items = [] if outcome.passed else self._shown(others)
        return outcome

    def _unlinked(self, rule: Rule) -> Outcome:
        unlinked = {(test.class_name, test.name): test for test in self._tests.all if not test.test_cases}
        items = [_test_item(test) for test in [*unlinked.values()][:_MOST_ITEMS]]
        return judge_unlinked(rule.limit, len(unlinked), items)

    def _run(self, _: Rule) -> Outcome:
        return gate_runs.require(self._runs, _OF)

    def _incomplete(self, rule: Rule) -> Outcome:
        return gate_runs.count_incomplete(self._runs, rule.limit, limit_of(rule.limit))

    def _ran(self, rule: Rule) -> Outcome:
        return judge_tests(rule.limit, sum(status != "skipped" for status in _worst_ends(self._tests).values()))


_JUDGES: Mapping[RuleName, Callable[[Gate, Rule], Outcome]] = {
    RuleName.MIN_COVERAGE: Gate._coverage,
    RuleName.MIN_VERIFIED: Gate._verified,
    RuleName.MAX_UNLINKED_TESTS: Gate._unlinked,
    RuleName.REQUIRE_RUN: Gate._run,
    RuleName.MAX_INCOMPLETE_RUNS: Gate._incomplete,
    RuleName.MIN_TESTS: Gate._ran,
}


def _worst_ends(tests: Tests) -> dict[str, str]:
    """Return how each test ended, in whatever lane."""
    worst: dict[str, Test] = {}
    for (fingerprint, _), test in tests.by_key.items():
        if fingerprint not in worst or test.outcome > worst[fingerprint].outcome:
            worst[fingerprint] = test
    return {fingerprint: test.status for fingerprint, test in worst.items()}


def _run_of(tests: Tests) -> RunOfGate:
    """Return what all reports are: one run, in which each format is a lane."""
    now = datetime.now(UTC)
    reasons = sorted(set().union(*tests.health.values()))
    first = tests.reports[0]
    key = first if len(tests.reports) == 1 else f"{first} and {counted(len(tests.reports) - 1, 'more report')}"
    ended = Counter(_worst_ends(tests).values())
    counts = {end: ended[end] for end in ("passed", "failed", "flaky", "skipped")}
    return {
        "id": uuid5(NAMESPACE_URL, key),
        "key": key,
        "status": "completed",
        "started_at": now,
        "finished_at": now,
        "counts": {"tests": sum(counts.values()), **counts},
        "health": "incomplete" if reasons else "ok",
        "health_reasons": reasons,
        "lanes": [
            {"lane": lane, "environment": None, "health": sorted(health), "partial": False, "whole": not health}
            for lane, health in sorted(tests.health.items())
        ],
    }


def _closed(unreadable: Sequence[str], problems: Sequence[str], unknown: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Yield what closes the gate whatever its rules are: what was not read, or refers to nothing."""
    said = (
        ("not_read", unreadable, "file cannot be read", "files cannot be read", "Mend them, or leave them out."),
        ("record_incomplete", problems, "thing of the record is not taken", "things of the record are not taken", ""),
        ("unknown_name", unknown, "name in results is of nothing", "names in results are of nothing", "Mend the name."),
    )
    for rule, sentences, one, several, way_out in said:
        if sentences:
            count = len(sentences)
            reason = f"{counted(count, one, several)}, the first: {sentences[0]}{way_out and f' {way_out}'}"
            items = [{"reason": sentence, "url": None} for sentence in sentences[:_MOST_ITEMS]]
            yield judged(rule, 0, {}, Outcome(count, False, reason, items, count))


def _test_item(test: Test) -> dict[str, Any]:
    row = {"id": None, "class_name": test.class_name, "name": test.name}
    return _of_files(gate_items.automated_test(row), None)


def _of_files(item: dict[str, Any], source: str | None) -> dict[str, Any]:
    """Return an item without an address, which only a server has; with the file that it stands in."""
    return {**item, "url": None, **({} if source is None else {"file": source})}


def _order_by_module(requirement: Piece) -> tuple[bool, str, str, int]:
    module = requirement.fields.get("module")
    return module is None, str(module or ""), requirement.name, requirement.number

"""How test cases and requirements stand over the tests at hand: one run, of which nothing is missing or old."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traceline_check.record import Piece, Record
from traceline_check.tests import Tests

_WORSE = ("passed", "skipped", "not_run", "flaky", "failed")


def judge_test_case(ends: Sequence[str]) -> str:
    """Return how a test case stands whose tests ended so: as the worst of them."""
    return max(ends, key=_WORSE.index, default="not_run")


def judge_requirement(ends: Sequence[str]) -> str:
    """Return how a requirement stands whose test cases stand so."""
    if not ends:
        return "uncovered"
    if (worst := max(ends, key=_WORSE.index)) in ("failed", "flaky"):
        return worst
    missing = [end for end in ends if end in ("not_run", "skipped")]
    return "passed" if not missing else "not_run" if len(missing) == len(ends) else "partial"


@dataclass(frozen=True, slots=True)
class Standing:
    """How all of it stands, by numbers of items; `counting` are the test cases of each requirement that count."""

    test_cases: Mapping[int, str]
    requirements: Mapping[int, str]
    counting: Mapping[int, list[Piece]]
    linked: frozenset[int]


def judge(record: Record, tests: Tests) -> Standing:
    """Return how each test case and each requirement stands."""
    ends: dict[int, list[str]] = {item.number: [] for item in record.of_kind("test_case")}
    for test in tests.by_key.values():
        for number in test.test_cases:
            ends[number].append(test.status)
    test_cases = {number: judge_test_case(of_it) for number, of_it in ends.items()}
    counting: dict[int, list[Piece]] = {item.number: [] for item in record.of_kind("requirement")}
    for (requirement, number), link_type in record.links.items():
        test_case = record.items[number]
        if link_type != "related" and test_case.fields.get("status") != "deprecated":
            counting[requirement].append(test_case)
    requirements = {
        number: judge_requirement([test_cases[one.number] for one in cases]) for number, cases in counting.items()
    }
    return Standing(test_cases, requirements, counting, frozenset(requirement for requirement, _ in record.links))

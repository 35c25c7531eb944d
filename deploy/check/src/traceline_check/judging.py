"""What `traceline check` asks for: the whole answer, as a document and in each form."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from catalog_service.executions.gate_documents import as_junit, as_markdown
from catalog_service.verdicts import Verdict, is_verified
from chassis.core.wording import counted
from traceline_check.gate import Gate
from traceline_check.record import Piece, Record, read_record
from traceline_check.rules import WrongRule, rules_of_options, rules_of_policy, usual
from traceline_check.sources import find_sources
from traceline_check.tests import read_tests
from traceline_check.verdicts import Standing, judge

_MOST_GAPS = 50
_MOST_WARNINGS = 20
__all__ = ["WrongRule", "check", "in_form"]


def check(
    paths: Sequence[Path],
    rules: Mapping[str, str],
    policy: Any = None,
    *,
    allow_flaky: bool = False,
    last_counts: bool = False,
) -> dict[str, Any]:
    """Return what the files come to. Raises WrongRule, and OSError for a path that is not there."""
    asked = rules_of_options(rules) if policy is None else rules_of_policy(policy)
    sources = find_sources(paths)
    record = read_record(sources.records)
    tests = read_tests(sources.reports, record, last_counts=last_counts)
    standing = judge(record, tests)
    unreadable = [*sources.unreadable, *record.unreadable, *tests.unreadable]
    gate = Gate(record, tests, standing, allow_flaky=allow_flaky).judge(asked or usual(), unreadable)
    warnings = [*record.warnings, *tests.warnings, *([sources.left_out] if sources.left_out else [])]
    return {
        **gate,
        "coverage": _coverage(record, standing, allow_flaky=allow_flaky),
        "results": {**tests.results, "tests": len({key for key, _ in tests.by_key})},
        "requirements": [_requirement(one, record, standing) for one in record.of_kind("requirement")],
        "failing": [_failing(test, record) for test in tests.all if test.status in ("failed", "flaky")],
        "untraced": [_name(test.class_name, test.name) for test in tests.all if not test.test_cases],
        "read": {
            "records": [source.name for source in sources.records],
            "reports": [source.name for source in sources.reports],
        },
        "warnings": [*gate["warnings"], *({"code": "of_files", "message": said} for said in warnings[:_MOST_WARNINGS])],
    }


def in_form(answer: Mapping[str, Any], form: str) -> bytes:
    """Return an answer as json, markdown or junit."""
    if form == "json":
        return orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    return as_junit(dict(answer)) if form == "junit" else as_markdown(dict(answer), _sections(answer))


def _sections(answer: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return what stands behind the gate: titles with their lines."""
    uncovered = [one for one in answer["requirements"] if one["verdict"] == "uncovered"]
    gaps = [f"{one['external_id'] or ''} {one['title']}" for one in uncovered]
    sections: list[tuple[str, list[str]]] = [(answer["coverage"]["sentence"], [])]
    for title, lines in (
        ("Without a test case", gaps),
        ("Test cases without a requirement", answer["coverage"]["test_cases_without_requirement"]),
        ("Tests without a test case", answer["untraced"]),
        ("Failing tests", [f"{one['name']}: {one['message'] or one['status']}" for one in answer["failing"]]),
    ):
        if lines:
            sections.append((f"{title}: {len(lines)}", [str(line) for line in lines[:_MOST_GAPS]]))
    return sections


def _coverage(record: Record, standing: Standing, *, allow_flaky: bool) -> dict[str, Any]:
    counts = Counter(standing.requirements.values())
    total = len(standing.requirements)
    verified = sum(counts[one] for one in Verdict if is_verified(one, allow_flaky=allow_flaky))
    covered = len(standing.linked)
    by_verdict = {one.value: counts[one] for one in Verdict}
    return {
        "requirements": total,
        "test_cases": len(standing.test_cases),
        "links": len(record.links),
        "covered": covered,
        "verified": verified,
        "by_verdict": by_verdict,
        "test_cases_without_requirement": [
            one.name for one in record.of_kind("test_case") if one.number not in {number for _, number in record.links}
        ][:_MOST_GAPS],
        "sentence": (
            f"{counted(total, 'requirement')}, {counted(len(standing.test_cases), 'test case')},"
            f" {counted(len(record.links), 'link')}: {covered} of {total} have a test case,"
            f" {verified} {'is' if verified == 1 else 'are'} verified"
        ),
    }


def _requirement(one: Piece, record: Record, standing: Standing) -> dict[str, Any]:
    return {
        "external_id": one.external_id,
        "title": one.fields.get("title"),
        "verdict": standing.requirements[one.number],
        "file": one.source,
        "test_cases": [
            {"name": case.name, "verdict": standing.test_cases[case.number]} for case in standing.counting[one.number]
        ],
    }


def _failing(test: Any, record: Record) -> dict[str, Any]:
    return {
        "name": _name(test.class_name, test.name),
        "status": test.status,
        "message": test.message,
        "test_cases": sorted(record.items[number].name for number in test.test_cases),
    }


def _name(class_name: str, name: str) -> str:
    return ".".join(filter(None, (class_name, name)))

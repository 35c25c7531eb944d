"""What a gate may let pass: requirements that fail for nothing but failures that are accepted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from catalog_service.executions.acceptances import repository
from catalog_service.verdict_reads import TestBehind, tests_of
from catalog_service.verdicts import VERDICTS_OF_PAIRS, Basis, TestCaseVerdict, requirement_verdicts
from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.web.listing import Row


@dataclass(frozen=True, slots=True)
class Passed:
    """Requirements that fail for accepted failures alone, and these failures as they are answered, by test case."""

    requirements: frozenset[UUID] = frozenset()
    failures: list[Row] = field(default_factory=list)


class _Pair(TypedDict):
    requirement: Row
    test_case: Row
    verdict: str
    fresh_after: datetime


# A result from before is stale: so would a pass be.
_PAIRS = """
    SELECT json_build_object('id', r.id, 'external_id', r.external_id, 'title', r.title, 'module', r.module)
               AS requirement,
           json_build_object('id', t.id, 'external_id', t.external_id, 'title', t.title, 'module', t.module)
               AS test_case,
           p.verdict, greatest(%(stale_before)s, tv.changed_at, rv.changed_at) AS fresh_after
    FROM ({pairs}) AS p JOIN verdicts v ON v.requirement_id = p.requirement_id AND v.verdict = 'failed'
    JOIN requirements r ON r.id = p.requirement_id JOIN test_cases t ON t.id = p.test_case_id
    LEFT JOIN item_revisions rv ON r.version > 1 AND rv.item_id = r.id AND rv.version = r.version
    LEFT JOIN item_revisions tv ON t.version > 1 AND tv.item_id = t.id AND tv.version = t.version
    ORDER BY r.external_id, r.id, t.external_id, t.id
"""

_CONCERNED = f"""
    SELECT DISTINCT l.requirement_id AS id FROM accepted_failures a CROSS JOIN LATERAL (
        SELECT a.test_case_id WHERE a.test_case_id IS NOT NULL
        UNION ALL SELECT m.test_case_id FROM automated_test_cases m WHERE m.test_id = a.test_id
    ) AS of JOIN links l ON l.test_case_id = of.test_case_id WHERE {repository.ACTIVE}
"""


async def accepted_for(connection: Connection, basis: Basis) -> Passed:
    """Return which failing requirements fail only because of accepted failures, and what was let pass for them.

    Each failing test behind each of its failing test cases is accepted, and all else about it is verified: nothing is
    missing, not run, skipped, flaky or stale.
    """
    if not await repository.any_active(connection, basis.now):
        return Passed()
    query = f"WITH {requirement_verdicts(_CONCERNED, basis, of_few=True)} {_PAIRS.format(pairs=VERDICTS_OF_PAIRS)}"
    of: dict[UUID, list[_Pair]] = defaultdict(list)
    for pair in await fetch_all(connection, _Pair, query, basis.parameters):
        of[UUID(pair["requirement"]["id"])].append(pair)
    failing = {UUID(one["test_case"]["id"]) for pairs in of.values() for one in pairs if _fails(one)}
    tests = await tests_of(connection, [*failing], basis)
    passed = {
        requirement: pairs
        for requirement, pairs in of.items()
        if all(_is_all_right(pair, tests.get(UUID(pair["test_case"]["id"]), ())) for pair in pairs)
    }
    return Passed(frozenset(passed), _failures([pair for pairs in passed.values() for pair in pairs], tests))


def _fails(pair: _Pair) -> bool:
    return pair["verdict"] == TestCaseVerdict.FAILED


def _is_all_right(pair: _Pair, tests: Sequence[TestBehind]) -> bool:
    """Check whether a test case has passed for its requirement, but for failures that are accepted."""
    if not _fails(pair):
        return pair["verdict"] == TestCaseVerdict.PASSED
    return bool(tests) and all(
        not test["not_run"]
        and (test["accepted"] is not None or test["last_result"] == TestCaseVerdict.PASSED)
        and test["last_run_at"] >= pair["fresh_after"]
        for test in tests
    )


def _failures(pairs: Sequence[_Pair], tests: dict[UUID, list[TestBehind]]) -> list[Row]:
    requirements: dict[str, list[Row]] = defaultdict(list)
    test_cases: dict[str, Row] = {}
    for pair in filter(_fails, pairs):
        requirements[pair["test_case"]["id"]].append(pair["requirement"])
        test_cases[pair["test_case"]["id"]] = pair["test_case"]
    return [
        {
            **accepted,
            "test_case": test_case,
            "test": {name: test[name] for name in ("id", "class_name", "name", "by_hand")},
            "environment": test["environment"],
            "lane": test["lane"],
            "requirements": requirements[id_],
        }
        for id_, test_case in sorted(test_cases.items(), key=lambda one: (one[1]["external_id"] or "", one[0]))
        for test in tests[UUID(id_)]
        if (accepted := test["accepted"]) is not None
    ]

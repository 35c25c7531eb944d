"""Which requirements fail newly or newly miss a test: against the default branch, and there against what was before."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from catalog_service.figures import Figures
from catalog_service.verdict_filters import requirements_with
from catalog_service.verdict_reads import missing_a_test, of_requirements
from catalog_service.verdict_states import CONTEXTS, STATUS_OF_ALL
from catalog_service.verdicts import COUNTS_FOR, Basis, Verdict, is_verified
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.parameters import Choice

_RUNS_LOOKED_AT = 100
"""Of a test in a lane, for what it did before a commit."""

# Of a commit that has runs there, else, without one, of the newest of the branch.
_PLACE = """
    SELECT CASE WHEN %(run_commit)s::text IS NULL THEN max(r.position) ELSE min(r.position) END FROM test_runs r
    WHERE r.branch = %(branch)s AND NOT r.is_manual
    AND (%(run_commit)s::text IS NULL OR r.commit = %(run_commit)s)"""
_LANES = f"""
    lanes AS MATERIALIZED (
        SELECT x.* FROM ({CONTEXTS}) AS x
        WHERE x.branch = %(branch)s AND (%(environment)s::text IS NULL OR x.environment = %(environment)s))"""
_TESTS = f"""
    tests AS (
        SELECT DISTINCT l.requirement_id, m.test_id
        FROM links l JOIN test_cases t ON t.id = l.test_case_id JOIN automated_test_cases m ON m.test_case_id = t.id
        WHERE l.requirement_id = ANY(%(ids)s) AND {COUNTS_FOR})"""
_MISSED_BEFORE = """
    EXISTS (SELECT FROM run_lanes w WHERE w.context_id = x.id AND w.is_whole
            AND w.position > {test}.position AND w.position < %(place)s)"""
# What was retired, was missing or had a lane that is gone did not fail before.
_FAILED_BEFORE = f"""
    WITH {_LANES}, {_TESTS}
    SELECT DISTINCT m.requirement_id FROM tests m JOIN lanes x ON NOT x.is_gone CROSS JOIN LATERAL (
        SELECT e.position, {STATUS_OF_ALL} AS status FROM (
            SELECT e.status, r.position FROM executions e JOIN test_runs r ON r.id = e.run_id
            WHERE e.test_id = m.test_id AND e.context_id = x.id AND r.position < %(place)s
            ORDER BY e.at DESC LIMIT {_RUNS_LOOKED_AT}
        ) AS e GROUP BY e.position ORDER BY e.position DESC LIMIT 1
    ) AS before
    WHERE before.status = 'failed' AND NOT {_MISSED_BEFORE.format(test="before")}
    AND NOT EXISTS (SELECT FROM retired_tests d WHERE d.test_id = m.test_id AND d.context_id = x.id)"""
_MISSED_NEWLY = f"""
    WITH {_LANES}, {_TESTS}
    SELECT DISTINCT m.requirement_id FROM tests m JOIN test_states s ON s.test_id = m.test_id
    JOIN lanes x ON x.id = s.context_id
    WHERE (s.position < x.missing_before OR s.position > %(place)s) AND NOT {_MISSED_BEFORE.format(test="s")}"""


_LINKED_WITH = f"""
    SELECT DISTINCT l.requirement_id FROM links l JOIN test_cases t ON t.id = l.test_case_id
    WHERE t.id = ANY(%(test_cases)s) AND {COUNTS_FOR}"""


class NewFailures(NamedTuple):
    """Requirements that are worse here than there."""

    failing: list[UUID]
    """Those that did not fail there."""
    missing: list[UUID]
    """Those that do not fail and miss a test, and were verified there."""


async def find(connection: Connection, figures: Figures, basis: Basis, *, allow_flaky: bool) -> NewFailures:
    """Return the requirements that fail here and did not there, or miss a test and were verified there.

    There is the default branch; where that is asked about itself, what stood there before the commit. Some that the
    figures are not about may be among them.
    """
    failing = await _failing(connection, figures, basis)
    missing = [one for one in await _missing(connection, figures, basis) if one not in {*failing}]
    if not (failing or missing):
        return NewFailures([], [])
    if basis.branch == basis.default_branch:
        place: datetime | None = await fetch_value(connection, _PLACE, basis.parameters)
        if place is not None:
            return await _since(connection, failing, missing, basis, place)
    default = replace(basis, branch=basis.default_branch, commit=None, older=False)
    before = await of_requirements(connection, [*failing, *missing], default)
    return NewFailures(
        [one for one in failing if before[one]["verdict"] != Verdict.FAILED],
        [one for one in missing if is_verified(before[one]["verdict"], allow_flaky=allow_flaky)],
    )


async def _failing(connection: Connection, figures: Figures, basis: Basis) -> list[UUID]:
    named = [one for group in figures.having([Verdict.FAILED]) for one in group.first]
    if len(named) == figures.by_verdict[Verdict.FAILED]:
        return named
    return await requirements_with(connection, Choice((Verdict.FAILED,), ()), basis)


async def _missing(connection: Connection, figures: Figures, basis: Basis) -> list[UUID]:
    """Return the requirements that miss a test: figures name test cases."""
    named = figures.missing.first
    if len(named) < figures.missing.count:
        return await missing_a_test(connection, basis)
    return await fetch_column(connection, _LINKED_WITH, {"test_cases": named}) if named else []


async def _since(
    connection: Connection, failing: list[UUID], missing: list[UUID], basis: Basis, place: datetime
) -> NewFailures:
    of = {**basis.parameters, "place": place}
    failed = {*await fetch_column(connection, _FAILED_BEFORE, {**of, "ids": failing})}
    missed = {*await fetch_column(connection, _MISSED_NEWLY, {**of, "ids": missing})}
    return NewFailures([one for one in failing if one not in failed], [one for one in missing if one in missed])

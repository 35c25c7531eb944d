"""Which requirements and test cases have a verdict, for lists that are narrowed by it."""

from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from catalog_service.verdicts import (
    COUNTS_FOR,
    Basis,
    TestCaseVerdict,
    Verdict,
    requirement_verdicts,
    verdicts_of_test_cases,
)
from chassis.db.database import Connection
from chassis.db.rows import fetch_column
from chassis.web.parameters import Choice

V = TypeVar("V", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)

# A verdict that few have needs a state on some branch, by which they and few more are found.
_IN_STATE = {
    verdict: f"SELECT test_case_id FROM test_states WHERE {state}"
    for verdict, state in (
        (TestCaseVerdict.FAILED, "status = 'failed'"),
        (TestCaseVerdict.FLAKY, "status = 'flaky'"),
        (TestCaseVerdict.SKIPPED, "status = 'skipped'"),
    )
}
_LINKED = "SELECT requirement_id FROM links WHERE test_case_id IN ({})"
# The same for requirements: the others need not be looked at.
_MAY_BE = {
    Verdict.UNCOVERED: f"""
        SELECT id FROM requirements WHERE NOT EXISTS (
            SELECT FROM links l JOIN test_cases t ON t.id = l.test_case_id
            WHERE l.requirement_id = requirements.id AND {COUNTS_FOR})""",
    Verdict.FAILED: _LINKED.format(_IN_STATE[TestCaseVerdict.FAILED]),
    Verdict.FLAKY: _LINKED.format(_IN_STATE[TestCaseVerdict.FLAKY]),
}


def may_have(chosen: Choice[E] | None, basis: Basis) -> str | None:
    """Return the query of the ids of all requirements that can have a chosen verdict; None where most can."""
    wanted = chosen_of(Verdict, chosen)
    is_few = wanted and basis.commit is None and set(wanted) <= _MAY_BE.keys()
    return " UNION ".join(_MAY_BE[one] for one in wanted) if is_few else None


async def requirements_with(connection: Connection, chosen: Choice[E], basis: Basis) -> list[UUID]:
    """Return the ids of the requirements that have a verdict that is included, or any, and none that is excluded."""
    few = may_have(chosen, basis)
    scope = None if few is None else f"SELECT id FROM ({few}) AS may_have (id)"
    return await fetch_column(
        connection,
        f"""
        WITH {requirement_verdicts(scope, basis, of_few=few is not None)}
        SELECT requirement_id FROM verdicts WHERE verdict = ANY(%(wanted)s)
        """,
        {"wanted": chosen_of(Verdict, chosen), **basis.parameters},
    )


async def test_cases_with(connection: Connection, chosen: Choice[E], basis: Basis) -> list[UUID]:
    """Return the ids of the test cases that have a verdict that is included, or any, and none that is excluded."""
    wanted = chosen_of(TestCaseVerdict, chosen)
    is_few = basis.commit is None and set(wanted) <= _IN_STATE.keys()
    may_be = " UNION ".join(_IN_STATE[one] for one in wanted) if is_few else ""
    query = verdicts_of_test_cases(
        f"t.id IN ({may_be})" if may_be else "true", basis, f"AND s.test_case_id IN ({may_be})" if may_be else ""
    )
    return await fetch_column(
        connection,
        f"SELECT id FROM ({query}) AS v WHERE verdict = ANY(%(wanted)s)",
        {"wanted": wanted, **basis.parameters},
    )


def chosen_of(of: type[V], chosen: Choice[E] | None) -> list[V]:
    """Return the verdicts that a choice includes, or all, without those that it excludes."""
    if chosen is None:
        return list(of)
    return [one for one in of if one in (chosen.included or of) and one not in chosen.excluded]

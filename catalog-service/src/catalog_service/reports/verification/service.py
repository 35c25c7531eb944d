"""Figures and rows of the verification report."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from catalog_service import verdict_filters, verdicts
from catalog_service.figures import figures
from catalog_service.reports import repository
from catalog_service.reports.scope import Scope
from catalog_service.reports.verification.failing import add_failing
from catalog_service.rolled import reads as rolled
from catalog_service.verdict_reads import as_verdict, of_requirements
from catalog_service.verdict_states import IS_TRACED
from catalog_service.verdicts import Basis, Verdict, is_verified, requirement_verdicts
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page
from chassis.web.parameters import Choice

_ROWS_AT_ONCE = 500
_COLUMNS = "r.id, r.external_id, r.title, r.module, r.type, r.priority, r.status, r.version"
_VERDICT = "v.requirement_id, v.verdict, v.missing, v.tests_linked, v.tests_run, " + ", ".join(
    f"v.{name}" for name in verdicts.COUNTED
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a report is of: requirements, which results count, and which verdicts are shown."""

    scope: Scope
    basis: Basis
    allow_flaky: bool
    chosen: Choice[Verdict] | None
    rolled: bool = False
    """Whether rows tell what requirements come to with those below them."""

    @property
    def ids(self) -> str | None:
        """The query of the requirements; None: all."""
        where = self.scope.requirements.where
        return f"SELECT r.id FROM requirements r {where}" if where else None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `ids`, and of verdicts."""
        return {**self.scope.requirements.parameters, **self.basis.parameters}


async def summary(database: Database, connection: Connection, of: Verification) -> Row:
    """Return the figures of all requirements in scope, whatever their verdict."""
    found = await figures(database, connection, of.ids, of.scope.requirements.parameters, of.basis)
    requirements = found.by_verdict
    verified = sum(n for verdict, n in requirements.items() if is_verified(verdict, allow_flaky=of.allow_flaky))
    return {
        "total_requirements": found.total,
        "requirements": requirements,
        "verified_requirements": verified,
        "verified": verified / found.total if found.total else 0.0,
        "test_cases": dict(found.test_cases),
        "unlinked_tests": await fetch_value(
            connection,
            "SELECT count(*) FROM automated_tests t WHERE NOT t.is_manual AND t.merged_into IS NULL"
            f" AND NOT {IS_TRACED}",
        ),
    }


async def page(connection: Connection, of: Verification, wanted: PageRequest, total: int) -> Fetched:
    """Return a page of the requirements in scope with their verdicts; `total`: how many there are of any verdict."""
    found = await _page(connection, of, wanted, total)
    if of.rolled:
        known = await rolled.of_requirements(connection, [row["id"] for row in found.rows], of.basis)
        for row in found.rows:
            row |= known[row["id"]]
    return found


async def _page(connection: Connection, of: Verification, wanted: PageRequest, total: int) -> Fetched:
    if of.chosen is None:
        scope = of.scope.requirements
        found = await fetch_page(connection, _COLUMNS, "requirements r", scope, wanted, f"SELECT {total}")
        known = await of_requirements(connection, [row["id"] for row in found.rows], of.basis)
        for row in found.rows:
            row |= _of(dict(known[row["id"]]), of)
        return found
    conditions = Conditions(**of.parameters)
    conditions.choose("r.verdict", of.chosen)
    found = await fetch_page(connection, "r.*", "requirements_in_scope r", conditions, wanted, common=_common(of))
    return found._replace(rows=[_row(row, of) for row in found.rows])


def _common(of: Verification) -> str:
    few = verdict_filters.may_have(of.chosen, of.basis)
    ids = of.ids
    if few is not None:
        ids = f"SELECT id FROM ({of.ids or 'SELECT id FROM requirements'}) AS in_scope WHERE id IN ({few})"
    found = requirement_verdicts(ids, of.basis, of_few=few is not None, counts=True)
    return f"""WITH {found}, requirements_in_scope AS MATERIALIZED (
        SELECT {_COLUMNS}, {_VERDICT} FROM verdicts v JOIN requirements r ON r.id = v.requirement_id)"""


_WORST = f"array_position(ARRAY['{Verdict.FAILED}', '{Verdict.UNCOVERED}'], r.verdict)"
_WORST_FIRST = Order("worst", (By("r.verdict", int, expression=_WORST), *repository.MATRIX_ORDER.columns))
"""What fails, what is uncovered, then all else by module."""


async def rows(
    connection: Connection, of: Verification, *, worst_first: bool, has_people: bool
) -> AsyncGenerator[list[Row], None]:
    """Return all requirements of the report, some hundred at a time, through a cursor of the server.

    Each with its `failing` tests; `has_people`: whether these name who recorded them.
    """
    conditions = Conditions(**of.parameters)
    conditions.choose("r.verdict", of.chosen)
    of_all = await rolled.all_rolled(connection, of.basis) if of.rolled else {}
    everything = PageRequest(_WORST_FIRST if worst_first else repository.MATRIX_ORDER, None)
    async with connection.cursor(name="verification") as cursor:
        await cursor.execute(
            f"{_common(of)} {everything.rows('requirements_in_scope r', conditions)}",
            {**conditions.parameters, **everything.parameters},
        )
        while some := await cursor.fetchmany(_ROWS_AT_ONCE):
            found = [_row(row, of) | of_all.get(row["id"], {}) for row in some]
            await add_failing(connection, found, of.basis, has_people=has_people)
            yield found


def _row(row: Row, of: Verification) -> Row:
    item = {name: row[name] for name in ("id", *(name.partition(".")[2] for name in _COLUMNS.split(", ")))}
    return {**item, **_of(dict(as_verdict(row)), of)}


def _of(verdict: Row, of: Verification) -> Row:
    return {
        "verdict": verdict["verdict"],
        "verified": is_verified(verdict["verdict"], allow_flaky=of.allow_flaky),
        "counts": verdict["counts"],
        "missing": verdict["missing"],
    }

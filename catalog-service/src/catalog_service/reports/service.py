"""What the reports say: figures with their shares, rows, and gaps."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from catalog_service.items.kinds import BRIEF, REQUIREMENT, TEST_CASE
from catalog_service.links.repository import LinkRow
from catalog_service.links.service import ends, shown
from catalog_service.reports import repository
from catalog_service.reports.formats import PEOPLE
from catalog_service.reports.front import Front
from catalog_service.reports.paging import PagedTogether
from catalog_service.reports.people import hide_people
from catalog_service.reports.scope import About, Counts, Scope, Summary, notes_on
from catalog_service.reports.with_results import add_results, add_rolled
from catalog_service.rolled.figures import count_covered_by_module
from catalog_service.rolled.reads import has_rolling, of_requirements
from catalog_service.snapshot import snapshot
from catalog_service.verdict_reads import tell_older
from catalog_service.verdicts import Basis
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row
from chassis.web.parameters import Choice


def summary_of(counts: Counts) -> Summary:
    """Return the figures that counts come to."""
    total, covered = counts["total_requirements"], counts["covered_requirements"]
    return {
        "total_requirements": total,
        "covered_requirements": covered,
        "uncovered_requirements": total - covered,
        "coverage": covered / total if total else 0.0,
        "total_test_cases": counts["total_test_cases"],
        "orphan_test_cases": counts["orphan_test_cases"],
        "total_links": counts["total_links"],
        "suspect_links": counts["suspect_links"],
    }


async def about(
    connection: Connection,
    scope: Scope,
    front: Front,
    basis: Basis | None,
    *,
    has_people: bool = True,
    rolled: Basis | None = None,
) -> About:
    """Return what the matrix of a scope says of itself.

    Requirements and links: those in scope, and the links of these. Test cases, and orphans among them (without a link
    to any requirement at all): those of the same modules and tags, which are the filters that both kinds share. With a
    `basis`, rows tell what the results that it names say of them; with `rolled`, what they come to with those below.
    """
    summary = summary_of(await repository.counts(connection, scope))
    notes = await _notes(connection, scope.modules)
    if (of := basis or rolled) is not None:
        notes = (*notes, *await tell_older(connection, of))
    return About(summary, front, notes, basis is not None, has_people, rolled is not None)


async def _notes(connection: Connection, modules: Choice[str] | None) -> tuple[str, ...]:
    """Return what a reader should know of the modules that are asked for; None: there is no such filter."""
    return () if modules is None else notes_on(modules, await repository.modules(connection))


MATRIX_ORDERS = (repository.MATRIX_ORDER, repository.UNLINKED_ORDER)
"""Those of the lists of a matrix: its rows, and its orphan test cases."""
GAPS_ORDERS = (repository.UNLINKED_ORDER, repository.UNLINKED_ORDER, repository.SUSPECT_ORDER)
"""Those of the lists of gaps: requirements, test cases, suspect links."""


async def matrix(
    database: Database,
    scope: Scope,
    front: Front,
    wanted: PagedTogether,
    basis: Basis | None,
    *,
    has_people: bool = True,
    rolled: Basis | None = None,
) -> tuple[Fetched, Row]:
    """Return a page of the matrix, of its requirements and of its orphan test cases alike, and what it is about.

    With a `basis`, rows tell what the results that it names say of them; with `rolled`, what they come to with those
    below.
    """
    said = [f"Verdicts are of {front.results_of}."] if basis or rolled else []
    async with snapshot(database) as connection:
        of = await about(connection, scope, front, basis, rolled=rolled)
        of_rows, of_orphans = wanted.parts
        orphan_total, total = of.summary["orphan_test_cases"] * scope.shows_orphans, scope.count_shown(of.summary)
        if not scope.shows_orphans:
            of_orphans = PageRequest(of_orphans.order, 0)
        orphans = await repository.orphans_page(connection, scope.test_cases, of_orphans, orphan_total)
        items = await _matrix_page(connection, scope.shown_requirements, of_rows, total)
        if basis is not None:
            await add_results(connection, items.rows, basis)
        if rolled is not None:
            found = await of_requirements(connection, [row["id"] for row in items.rows], rolled)
            verdicts = {key: {"rolled_verdict": one["rolled"]["verdict"]} for key, one in found.items()}
            await add_rolled(connection, items.rows, verdicts)
    if not has_people:
        hide_people([linked for row in items.rows for linked in row["test_cases"]], PEOPLE)
    return Fetched(items.rows, total, wanted.end((items, orphans))), {
        "orphan_test_cases": {"items": orphans.rows, "total": orphan_total},
        "summary": of.summary,
        "project": front.project,
        "made_at": front.made_at,
        "filters": front.filters,
        "notes": [*said, *of.notes],
    }


async def _matrix_page(connection: Connection, scope: Conditions, wanted: PageRequest, total: int) -> Fetched:
    """Return a page of the matrix: requirements with their `test_cases`, and each item also in short, by its kind."""
    found = await repository.matrix_page(connection, scope, wanted, total)
    for row in found.rows:
        row[REQUIREMENT.name] = {name: row[name] for name in BRIEF}
        for linked in row["test_cases"]:
            linked[TEST_CASE.name] = {name: linked[name] for name in BRIEF}
    return found


async def coverage_by_module(database: Database) -> Row:
    """Return `items`, one a module, and `overall`, their sum. Links count for the module of their requirement.

    Where something in the project rolls up, each with its `rolled_coverage`.
    """
    async with snapshot(database) as connection:
        modules = await repository.by_module(connection)
        covered = await count_covered_by_module(connection) if await has_rolling(connection) else None
    columns: list[Mapping[str, Any]] = [*modules]
    overall = {name: sum(counts[name] for counts in columns) for name in Counts.__annotations__}
    items: list[Row] = [{"module": counts["module"], **summary_of(counts)} for counts in modules]
    whole: Row = {**summary_of(cast(Counts, overall))}
    if covered is not None:
        for row in items:
            _add_rolled_coverage(row, covered.get(row["module"], 0))
        _add_rolled_coverage(whole, sum(covered.values()))
    return {"items": items, "overall": whole}


def _add_rolled_coverage(figures: Row, covered: int) -> None:
    """Add to figures the share of what is covered by itself or below."""
    total = figures["total_requirements"]
    figures["rolled_coverage"] = covered / total if total else 0.0


async def gaps(database: Database, scope: Scope, made_at: datetime, wanted: PagedTogether) -> tuple[Fetched, Row]:
    """Return a page of each kind of gap, with its `total`, and what they are of."""
    async with snapshot(database) as connection:
        of_requirements, of_test_cases, of_links = wanted.parts
        uncovered = await repository.unlinked(connection, REQUIREMENT, scope.requirements, of_requirements)
        orphans = await repository.unlinked(connection, TEST_CASE, scope.test_cases, of_test_cases)
        suspect = await repository.suspect_links(connection, scope.requirements, of_links)
        waiting = await repository.count_waiting_references(connection, scope)
        notes = await _notes(connection, scope.modules)
    found = (uncovered, orphans, suspect)
    return Fetched([], max(page.total for page in found), wanted.end(found)), {
        "uncovered_requirements": {"items": uncovered.rows, "total": uncovered.total},
        "orphan_test_cases": {"items": orphans.rows, "total": orphans.total},
        "suspect_links": {"items": [_suspect_link(row) for row in suspect.rows], "total": suspect.total},
        "waiting_references": waiting,
        "project": projects.current.get(),
        "made_at": made_at,
        "filters": scope.filters,
        "notes": notes,
    }


def _suspect_link(row: LinkRow) -> Row:
    return {
        **shown(row),
        "requirement_external_id": row["requirement_external_id"],
        "requirement_title": row["requirement_title"],
        "test_case_external_id": row["test_case_external_id"],
        "test_case_title": row["test_case_title"],
        **ends(row),
    }

"""What the reports say: figures with their shares, rows, and gaps."""

from typing import Any

from catalog_service.items.kind import BRIEF
from catalog_service.links.service import ends, shown
from catalog_service.listing import Conditions, Row, by_field
from catalog_service.reports import repository
from catalog_service.requirements.kind import REQUIREMENT
from catalog_service.test_cases.kind import TEST_CASE
from chassis.database import Connection
from chassis.http.paging import Choice


def with_coverage(counts: Row) -> Row:
    """Give the counts with `uncovered_requirements` and `coverage`, a share of 0..1 (0 of no requirement)."""
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


async def summary(connection: Connection, scope: Conditions) -> Row:
    """Give the summary of the matrix.

    Requirements and links: those in scope, and the links of these. Test cases, and orphans among them (without
    a link to any requirement at all): all of the record, whatever the scope, since a test case is in no scope.
    """
    return with_coverage(await repository.summary(connection, scope))


async def matrix_page(connection: Connection, scope: Conditions, skip: int, limit: int) -> list[Row]:
    """Give a page of the matrix: requirements with their `test_cases`, and each of both also in short, by its kind."""
    rows = await repository.matrix_page(connection, scope, skip, limit)
    for row in rows:
        row[REQUIREMENT.name] = by_field(row, BRIEF)
        for linked in row["test_cases"]:
            linked[TEST_CASE.name] = by_field(linked, BRIEF)
    return rows


async def coverage_by_module(connection: Connection) -> dict[str, Any]:
    """Give `items`, one a module, and `overall`, their sum. Links count for the module of their requirement."""
    modules = await repository.by_module(connection)
    overall = {name: sum(counts[name] for counts in modules) for name in repository.COUNTS}
    return {
        "items": [{"module": counts["module"], **with_coverage(counts)} for counts in modules],
        "overall": with_coverage(overall),
    }


async def gaps(connection: Connection, modules: Choice[str] | None, skip: int, limit: int) -> dict[str, dict[str, Any]]:
    """Give a page of each kind of gap, with its `total`; `modules` of None: everywhere."""
    uncovered, uncovered_total = await repository.unlinked(connection, REQUIREMENT, modules, skip, limit)
    orphans, orphans_total = await repository.unlinked(connection, TEST_CASE, modules, skip, limit)
    suspect, suspect_total = await repository.suspect_links(connection, modules, skip, limit)
    return {
        "uncovered_requirements": {"items": uncovered, "total": uncovered_total},
        "orphan_test_cases": {"items": orphans, "total": orphans_total},
        "suspect_links": {
            "items": [{**shown(row), **by_field(row, repository.ENDS), **ends(row)} for row in suspect],
            "total": suspect_total,
        },
    }

"""What the reports say: figures with their shares, rows, and gaps."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from catalog_service.items.kinds import BRIEF, REQUIREMENT, TEST_CASE
from catalog_service.links.repository import LinkRow
from catalog_service.links.service import ends, shown
from catalog_service.reports import repository
from catalog_service.reports.repository import Counts
from catalog_service.reports.scope import PROJECT, About, Scope, Summary, notes_on
from catalog_service.snapshot import snapshot
from chassis.db.database import Connection, Database
from chassis.web.listing import Conditions, Row
from chassis.web.parameters import Choice, parse_words


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


async def about(connection: Connection, scope: Scope, made_at: datetime) -> About:
    """Return what the matrix of a scope says of itself.

    Requirements and links: those in scope, and the links of these. Test cases, and orphans among them (without a link
    to any requirement at all): those of the same modules and tags, which are the filters that both kinds share.
    """
    summary = summary_of(await repository.counts(connection, scope))
    return About(summary, made_at, scope.filters, await _notes(connection, scope.modules))


async def _notes(connection: Connection, modules: Choice[str] | None) -> tuple[str, ...]:
    """Return what a reader should know of the modules that are asked for; None: there is no such filter."""
    return () if modules is None else notes_on(modules, await repository.modules(connection))


async def matrix(database: Database, scope: Scope, made_at: datetime, skip: int, limit: int) -> Row:
    """Return a page of the matrix, of its requirements and of its orphan test cases alike, and what it is about."""
    async with snapshot(database) as connection:
        of = await about(connection, scope, made_at)
        orphans = await repository.orphans_page(connection, scope.test_cases, skip, limit)
        items = await _matrix_page(connection, scope.requirements, skip, limit)
    return {
        "items": items,
        "orphan_test_cases": {"items": orphans, "total": of.summary["orphan_test_cases"]},
        "summary": of.summary,
        "project": PROJECT,
        "made_at": of.made_at,
        "filters": of.filters,
        "notes": of.notes,
    }


async def _matrix_page(connection: Connection, scope: Conditions, skip: int, limit: int) -> list[Row]:
    """Return a page of the matrix: requirements with their `test_cases`, and each item also in short, by its kind."""
    rows = cast("list[Row]", await repository.matrix_page(connection, scope, skip, limit))
    for row in rows:
        row[REQUIREMENT.name] = {name: row[name] for name in BRIEF}
        for linked in row["test_cases"]:
            linked[TEST_CASE.name] = {name: linked[name] for name in BRIEF}
    return rows


async def coverage_by_module(database: Database) -> Row:
    """Return `items`, one a module, and `overall`, their sum. Links count for the module of their requirement."""
    async with snapshot(database) as connection:
        modules = await repository.by_module(connection)
    columns: list[Mapping[str, Any]] = [*modules]
    overall = {name: sum(counts[name] for counts in columns) for name in Counts.__annotations__}
    return {
        "items": [{"module": counts["module"], **summary_of(counts)} for counts in modules],
        "overall": summary_of(cast(Counts, overall)),
    }


async def gaps(database: Database, module: str | None, made_at: datetime, skip: int, limit: int) -> Row:
    """Return a page of each kind of gap, with its `total`, and what they are of; raises Invalid.

    `module` is the filter as it was given; None: everywhere.
    """
    modules = parse_words("module", module)
    async with snapshot(database) as connection:
        uncovered, uncovered_total = await repository.unlinked(connection, REQUIREMENT, modules, skip, limit)
        orphans, orphans_total = await repository.unlinked(connection, TEST_CASE, modules, skip, limit)
        suspect, suspect_total = await repository.suspect_links(connection, modules, skip, limit)
        notes = await _notes(connection, modules)
    return {
        "uncovered_requirements": {"items": uncovered, "total": uncovered_total},
        "orphan_test_cases": {"items": orphans, "total": orphans_total},
        "suspect_links": {
            "items": [_suspect_link(row) for row in suspect],
            "total": suspect_total,
        },
        "project": PROJECT,
        "made_at": made_at,
        "filters": {} if module is None else {"module": module},
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

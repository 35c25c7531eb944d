"""The figures and rows of the reports, in SQL."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from catalog_service.items.kind import ItemKind
from catalog_service.links import suspicion
from catalog_service.links.repository import COLUMNS as LINK_COLUMNS
from catalog_service.listing import Conditions, Row, fetch_page
from chassis.database import Connection, Database
from chassis.http.paging import Choice

_ROWS_AT_ONCE = 500
_ORDER = "r.module, r.external_id, r.id"

ENDS = ("requirement_external_id", "requirement_title", "test_case_external_id", "test_case_title")
"""What a suspect link tells of its ends."""


def requirements_in(modules: Choice[str] | None, statuses: Choice[Any] | None = None) -> Conditions:
    """Give the scope of a report: conditions on requirements `r`; None for no restriction."""
    scope = Conditions()
    scope.choose("r.module", modules)
    scope.choose("r.status", statuses)
    return scope


@asynccontextmanager
async def snapshot(database: Database) -> AsyncIterator[Connection]:
    """A connection on which all statements see the record as it is at the first of them."""
    async with database.connection() as connection, connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connection


async def summary(connection: Connection, scope: Conditions) -> Row:
    """Give the counts of the matrix: of the requirements in scope, of their links, and of all test cases."""
    cursor = await connection.execute(
        f"""
        SELECT * FROM
            (SELECT count(*) AS total_requirements,
                    count(*) FILTER (WHERE EXISTS (SELECT FROM links WHERE requirement_id = r.id))
                        AS covered_requirements
             FROM requirements r {scope.where}) AS of_requirements,
            (SELECT count(*) AS total_test_cases,
                    count(*) FILTER (WHERE NOT EXISTS (SELECT FROM links WHERE test_case_id = t.id))
                        AS orphan_test_cases
             FROM test_cases t) AS of_test_cases,
            (SELECT count(*) AS total_links, count(*) FILTER (WHERE {suspicion.IS_SUSPECT}) AS suspect_links
             FROM links l JOIN requirements r ON r.id = l.requirement_id JOIN test_cases t ON t.id = l.test_case_id
             {scope.where}) AS of_links
        """,
        scope.parameters,
    )
    row = await cursor.fetchone()
    assert row is not None, "aggregates always give a row"
    return row


def _matrix(scope: Conditions) -> str:
    # The page is chosen before anything is joined: rows that are skipped cost next to nothing.
    return f"""
        SELECT r.id, r.external_id, r.title, r.module, r.type, r.priority, r.status, r.version, linked.test_cases
        FROM (
            SELECT r.id, r.external_id, r.title, r.module, r.type, r.priority, r.status, r.version
            FROM requirements r {scope.where} ORDER BY {_ORDER} LIMIT %(limit)s OFFSET %(skip)s
        ) AS r CROSS JOIN LATERAL (
            SELECT coalesce(json_agg(json_build_object(
                       'id', t.id, 'external_id', t.external_id, 'title', t.title, 'status', t.status,
                       'link_id', l.id, 'link_type', l.link_type, 'link_source', l.link_source,
                       'confidence_score', l.confidence_score, 'suspect', {suspicion.IS_SUSPECT}
                   ) ORDER BY t.external_id, t.id), '[]') AS test_cases
            FROM links l JOIN test_cases t ON t.id = l.test_case_id WHERE l.requirement_id = r.id
        ) AS linked
        ORDER BY {_ORDER}
    """


async def matrix_page(connection: Connection, scope: Conditions, skip: int, limit: int) -> list[Row]:
    """Give a page of the matrix: requirements, each with its `test_cases`."""
    cursor = await connection.execute(_matrix(scope), {**scope.parameters, "skip": skip, "limit": limit})
    return await cursor.fetchall()


async def matrix_rows(connection: Connection, scope: Conditions) -> AsyncGenerator[list[Row], None]:
    """Give the whole matrix, some hundred requirements at a time, through a cursor of the server."""
    async with connection.cursor(name="matrix") as cursor:
        await cursor.execute(_matrix(scope), {**scope.parameters, "skip": 0, "limit": None})
        while rows := await cursor.fetchmany(_ROWS_AT_ONCE):
            yield rows


async def by_module(connection: Connection) -> list[Row]:
    """Give the counts of each module that a requirement or a test case names, and of those in none."""
    cursor = await connection.execute(
        f"""
        SELECT module,
               sum(total_requirements)::bigint AS total_requirements,
               sum(covered_requirements)::bigint AS covered_requirements,
               sum(total_test_cases)::bigint AS total_test_cases,
               sum(orphan_test_cases)::bigint AS orphan_test_cases,
               sum(total_links)::bigint AS total_links,
               sum(suspect_links)::bigint AS suspect_links
        FROM (
            SELECT r.module, count(*) AS total_requirements,
                   count(*) FILTER (WHERE linked.links > 0) AS covered_requirements,
                   0 AS total_test_cases, 0 AS orphan_test_cases,
                   coalesce(sum(linked.links), 0) AS total_links,
                   coalesce(sum(linked.suspects), 0) AS suspect_links
            FROM requirements r LEFT JOIN (
                SELECT l.requirement_id, count(*) AS links, count(*) FILTER (WHERE {suspicion.IS_SUSPECT}) AS suspects
                FROM links l JOIN requirements r ON r.id = l.requirement_id
                             JOIN test_cases t ON t.id = l.test_case_id
                GROUP BY l.requirement_id
            ) AS linked ON linked.requirement_id = r.id
            GROUP BY r.module
            UNION ALL
            SELECT t.module, 0, 0, count(*),
                   count(*) FILTER (WHERE NOT EXISTS (SELECT FROM links WHERE test_case_id = t.id)), 0, 0
            FROM test_cases t GROUP BY t.module
        ) AS parts
        GROUP BY module ORDER BY module NULLS LAST
        """
    )
    return await cursor.fetchall()


_ITEM = "i.id, i.external_id, i.title, i.module, i.type, i.priority, i.status, i.created_at"


async def unlinked(
    connection: Connection, kind: ItemKind, modules: Choice[str] | None, skip: int, limit: int
) -> tuple[list[Row], int]:
    """Give (items of a page, total) of the items of a kind that have no link."""
    conditions = Conditions()
    conditions.add(f"NOT EXISTS (SELECT FROM links WHERE {kind.name}_id = i.id)")
    conditions.choose("i.module", modules)
    return await fetch_page(
        connection, _ITEM, f"{kind.table} i", conditions, "i.module, i.external_id, i.id", skip, limit
    )


async def suspect_links(
    connection: Connection, modules: Choice[str] | None, skip: int, limit: int
) -> tuple[list[Row], int]:
    """Give (rows of a page, total) of the suspect links whose requirement is in one of the modules.

    A row is what `links.service.shown` takes, and ENDS.
    """
    conditions = requirements_in(modules)
    conditions.add(suspicion.IS_SUSPECT)
    return await fetch_page(
        connection,
        f"{', '.join(f'l.{column}' for column in LINK_COLUMNS)}, {suspicion.COLUMNS},"
        " r.external_id AS requirement_external_id, r.title AS requirement_title,"
        " t.external_id AS test_case_external_id, t.title AS test_case_title",
        "links l JOIN requirements r ON r.id = l.requirement_id JOIN test_cases t ON t.id = l.test_case_id",
        conditions,
        "l.created_at DESC, l.id",
        skip,
        limit,
    )

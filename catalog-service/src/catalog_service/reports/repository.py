"""The figures and rows of the reports, in SQL."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import NotRequired, TypedDict, cast
from uuid import UUID

from catalog_service.items import suspicion
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.links.repository import JOINED_ENDS, SUGGESTION
from catalog_service.links.repository import SELECTED as LINK
from catalog_service.reports.scope import IS_LINKED, Counts, Scope
from catalog_service.row_counts import counted
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

_ROWS_AT_ONCE = 500
_ITEM = "i.id, i.external_id, i.title, i.module, i.type, i.priority, i.status, i.created_at"


class CountsOfModule(Counts):
    """The counts of a module, or of what is in none."""

    module: str | None


class ReportedItem(TypedDict):
    """A requirement or a test case as reports list it."""

    id: UUID
    external_id: str | None
    title: str
    module: str | None
    type: str
    priority: str
    status: str


class UnlinkedItem(ReportedItem):
    """An item without a link."""

    created_at: datetime


class LinkedTestCase(TypedDict):
    """A test case of a requirement, with their link, as PostgreSQL writes JSON."""

    id: str
    external_id: str | None
    title: str
    module: str | None
    status: str
    link_id: str
    link_type: str
    link_source: str
    confidence_score: float | None
    suspect: bool
    suspect_reason: Row | None
    linked_at: str
    linked_by: str | None
    link_notes: str | None
    suggestion_id: str | None
    confirmed_at: str | None
    confirmed_by: str | None
    link_requirement_version: int
    link_test_case_version: int
    last_result: NotRequired[str | None]
    last_run_at: NotRequired[datetime | None]


class MatrixRow(ReportedItem):
    """A requirement with its test cases."""

    version: int
    test_cases: list[LinkedTestCase]
    verdict: NotRequired[str]
    parents: NotRequired[list[Row]]
    rolled_verdict: NotRequired[str]


def _by_module(alias: str) -> Order:
    names = (By(f"{alias}.{name}", str, nullable=True) for name in ("module", "external_id"))
    return Order("module:asc", (*names, By(f"{alias}.id", UUID)))


MATRIX_ORDER = _by_module("r")
GAPS_FIRST = Order("gaps", (By("r.id", bool, expression=f"({IS_LINKED})"), *MATRIX_ORDER.columns))
"""For what people read as a whole: first the requirements without a test case."""
UNLINKED_ORDER = _by_module("i")
SUSPECT_ORDER = Order("created_at:desc", (By("suspect.created_at", datetime, True), By("suspect.id", UUID)))


async def modules(connection: Connection) -> list[str]:
    """Return the names of all modules that a requirement or a test case is in."""
    # Each name is looked up after the one before it: reading every item would take a hundred times as long.
    return await fetch_column(
        connection,
        " UNION ".join(
            f"""(
            WITH RECURSIVE names AS (
                (SELECT module FROM {table} WHERE module IS NOT NULL ORDER BY module LIMIT 1)
                UNION ALL
                SELECT (SELECT module FROM {table} WHERE module > names.module ORDER BY module LIMIT 1)
                FROM names WHERE names.module IS NOT NULL
            ) SELECT module FROM names WHERE module IS NOT NULL)"""
            for table in ("requirements", "test_cases")
        ),
    )


_HAS_LINK = "EXISTS (SELECT FROM linked_test_cases WHERE test_case_id = id)"


async def counts(connection: Connection, scope: Scope) -> Counts:
    """Return the counts of the matrix: of the requirements in scope, of their links, and of the test cases in scope."""
    query = f"SELECT * FROM ({_of_requirements(scope.requirements)}) r, ({_of_test_cases(scope.test_cases)}) t"
    parameters = {**scope.requirements.parameters, **scope.test_cases.parameters}
    (row,) = await fetch_all(connection, Counts, query, parameters, prepare=scope.requirements.prepare)
    return row


def _of_test_cases(scope: Conditions) -> str:
    in_scope = f"SELECT count(*), count(*) FILTER (WHERE NOT {_HAS_LINK}) FROM test_cases {scope.where}"
    if not scope.narrowed:
        in_scope = f"SELECT ({counted('test_cases')}), ({counted('test_cases')}) - ({counted('linked_test_cases')})"
    return f"SELECT * FROM ({in_scope}) AS in_scope (total_test_cases, orphan_test_cases)"


def _of_requirements(scope: Conditions) -> str:
    in_scope = f"""
        SELECT count(*), count(links), coalesce(sum(links), 0)::bigint
        FROM requirements r LEFT JOIN linked_requirements ON requirement_id = r.id {scope.where}
    """
    if not scope.narrowed:
        in_scope = f"SELECT {', '.join(f'({counted(of)})' for of in ('requirements', 'linked_requirements', 'links'))}"
    return f"""
        SELECT in_scope.*,
               (SELECT count(*) FROM ({suspicion.suspect_links("", scope.where)}) AS suspect) AS suspect_links
        FROM ({in_scope}) AS in_scope (total_requirements, covered_requirements, total_links)
    """


_CHANGES = (
    "(SELECT to_json(changes) FROM"
    f" (SELECT l.requirement_version, l.test_case_version, {suspicion.COLUMNS}) AS changes)"
)


def _moment(column: str) -> str:
    return f"to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"


def _matrix(scope: Conditions, wanted: PageRequest) -> str:
    # The page is chosen before anything is joined: rows that are skipped cost next to nothing.
    columns = "r.id, r.external_id, r.title, r.module, r.type, r.priority, r.status, r.version"
    return f"""
        SELECT {columns}, linked.test_cases
        FROM ({wanted.rows("requirements r", scope, columns)}) AS r CROSS JOIN LATERAL (
            SELECT coalesce(json_agg(json_build_object(
                       'id', t.id, 'external_id', t.external_id, 'title', t.title, 'module', t.module,
                       'status', t.status,
                       'link_id', l.id, 'link_type', l.link_type, 'link_source', l.link_source,
                       'confidence_score', l.confidence_score, 'suspect', {suspicion.IS_SUSPECT},
                       'suspect_reason', CASE WHEN {suspicion.IS_SUSPECT} THEN {_CHANGES} END,
                       'linked_at', {_moment("l.created_at")}, 'linked_by', l.created_by, 'link_notes', l.notes,
                       'suggestion_id', {SUGGESTION}, 'confirmed_at', {_moment("l.confirmed_at")},
                       'confirmed_by', l.confirmed_by, 'link_requirement_version', l.requirement_version,
                       'link_test_case_version', l.test_case_version
                   ) ORDER BY t.external_id, t.id), '[]') AS test_cases
            FROM links l JOIN test_cases t ON t.id = l.test_case_id WHERE l.requirement_id = r.id
        ) AS linked
        ORDER BY {wanted.order.sql}
    """


async def matrix_page(connection: Connection, scope: Conditions, wanted: PageRequest, total: int) -> Fetched:
    """Return a page of the matrix, of which there are so many rows: requirements, each with its `test_cases`."""
    parameters = {**scope.parameters, **wanted.parameters}
    cursor = await connection.execute(_matrix(scope, wanted), parameters, prepare=scope.prepare)
    return wanted.found(_with_reasons(await cursor.fetchall()), total)


async def matrix_rows(
    connection: Connection, scope: Conditions, order: Order = MATRIX_ORDER
) -> AsyncGenerator[list[MatrixRow], None]:
    """Return the whole matrix, some hundred requirements at a time, through a cursor of the server."""
    async with connection.cursor(name="matrix") as cursor:
        everything = PageRequest(order, None)
        await cursor.execute(_matrix(scope, everything), {**scope.parameters, **everything.parameters})
        while rows := await cursor.fetchmany(_ROWS_AT_ONCE):
            yield _with_reasons(rows)


def _with_reasons(rows: list[Row]) -> list[MatrixRow]:
    """Say of each suspect link why it is, in place."""
    matrix = cast("list[MatrixRow]", rows)
    for row in matrix:
        for test_case in row["test_cases"]:
            if (changes := test_case["suspect_reason"]) is not None:
                test_case["suspect_reason"] = suspicion.reason(changes)
    return matrix


async def orphans_page(connection: Connection, scope: Conditions, wanted: PageRequest, total: int) -> Fetched:
    """Return a page of the test cases in scope that have no link, of which there are so many."""
    query, parameters = _orphans(scope, wanted), {**scope.parameters, **wanted.parameters}
    rows = await fetch_all(connection, UnlinkedItem, query, parameters, prepare=scope.prepare)
    return wanted.found(rows, total)


async def orphan_rows(connection: Connection, scope: Conditions) -> AsyncGenerator[list[UnlinkedItem], None]:
    """Return the test cases in scope that have no link, some hundred at a time, through a cursor of the server."""
    async with connection.cursor(name="orphans") as cursor:
        everything = PageRequest(UNLINKED_ORDER, None)
        await cursor.execute(_orphans(scope, everything), {**scope.parameters, **everything.parameters})
        while rows := await cursor.fetchmany(_ROWS_AT_ONCE):
            yield cast("list[UnlinkedItem]", rows)


def _orphans(scope: Conditions, wanted: PageRequest) -> str:
    unlinked = Conditions("NOT EXISTS (SELECT FROM linked_test_cases WHERE test_case_id = i.id)")
    return wanted.rows(f"(SELECT * FROM test_cases {scope.where}) i", unlinked, _ITEM)


async def by_module(connection: Connection) -> list[CountsOfModule]:
    """Return the counts of each module that a requirement or a test case names, and of those in none."""
    return await fetch_all(
        connection,
        CountsOfModule,
        f"""
        SELECT module, {", ".join(f"sum({name})::bigint AS {name}" for name in Counts.__annotations__)}
        FROM (
            SELECT module, count(*) AS total_requirements, count(links) AS covered_requirements,
                   0 AS total_test_cases, 0 AS orphan_test_cases,
                   coalesce(sum(links), 0) AS total_links, 0 AS suspect_links
            FROM requirements LEFT JOIN linked_requirements ON requirement_id = id GROUP BY module
            UNION ALL
            SELECT module, 0, 0, 0, 0, 0, count(*)
            FROM ({suspicion.suspect_links("r.module")}) AS suspect GROUP BY module
            UNION ALL
            SELECT module, 0, 0, count(*), count(*) - count(links), 0, 0
            FROM test_cases LEFT JOIN linked_test_cases ON test_case_id = id GROUP BY module
        ) AS parts
        GROUP BY module ORDER BY module NULLS LAST
        """,
    )


async def unlinked(connection: Connection, kind: ItemKind, scope: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the items of a kind in scope that have no link, each an UnlinkedItem."""
    conditions = Conditions(
        f"NOT EXISTS (SELECT FROM linked_{kind.table} WHERE {kind.name}_id = i.id)", **scope.parameters
    )
    conditions.narrowed = scope.narrowed
    in_scope = f"(SELECT * FROM {kind.table} r {scope.where}) i"
    total = None if scope.narrowed else f"SELECT ({counted(kind.table)}) - ({counted(f'linked_{kind.table}')})"
    return await fetch_page(connection, _ITEM, in_scope, conditions, wanted, total)


async def count_waiting_references(connection: Connection, scope: Scope) -> int:
    """Return how many references wait for an item; where the report is narrowed, those that items in scope have."""
    counts = "SELECT count(*) FROM waiting_references"
    if scope.filters:
        counts = " + ".join(
            f"({counts} WHERE owner_kind = '{kind.name}' AND owner_id IN (SELECT id FROM {kind.table} r {of.where}))"
            for kind, of in ((REQUIREMENT, scope.requirements), (TEST_CASE, scope.test_cases))
        )
        counts = f"SELECT {counts}"
    number: int = await fetch_value(
        connection, counts, {**scope.requirements.parameters, **scope.test_cases.parameters}
    )
    return number


async def suspect_links(connection: Connection, scope: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the suspect links whose requirement is in scope, each a LinkRow."""
    page = Conditions(**scope.parameters)
    page.narrowed = scope.narrowed
    # Looked for once: to find them all takes as long as to find the few of a page that come late.
    found = suspicion.suspect_links("l.id, l.created_at", scope.where)
    return await fetch_page(
        connection,
        LINK,
        "suspect",
        page,
        wanted,
        joined=f"JOIN links l ON l.id = suspect.id {JOINED_ENDS}",
        common=f"WITH suspect AS MATERIALIZED ({found})",
    )

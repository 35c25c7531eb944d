"""The cells, axes and sums of the matrix, in SQL."""

from typing import TypedDict

from catalog_service import verdicts
from catalog_service.items.kinds import BRIEF, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.items.repository import coverage_column
from catalog_service.items.suspicion import IS_SUSPECT, suspect_links
from catalog_service.matrix.encoding import Cells
from catalog_service.pending.repository import NOT_LINKED
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.listing import Row

FIGURES = ("links", "suspect_links", "pending_suggestions")
ORDER = "module, external_id, id"
"""Of both axes; an index has it."""


class Module(TypedDict):
    """A module at an axis."""

    module: str | None
    items: int


class ModuleCell(TypedDict):
    """What is between the requirements of a module and the test cases of a module, by the indexes of both."""

    row: int
    column: int
    links: int
    suspect_links: int
    pending_suggestions: int


def _in_scope(kind: ItemKind, modules: Conditions) -> str:
    """Return the WHERE of the items at an axis: test cases of other modules are there where a row leads to them."""
    if kind is REQUIREMENT or not modules.narrowed:
        return modules.where
    rows = f"requirement_id IN (SELECT id FROM requirements {modules.where})"
    reached = f"SELECT test_case_id FROM links WHERE {rows}"
    suggested = f"SELECT test_case_id FROM pending_pairs WHERE pending AND {rows}"
    return f"{modules.where} OR id IN ({reached} UNION ALL {suggested})"


def _places(kind: ItemKind, modules: Conditions) -> str:
    return f"""
        SELECT id, version, row_number() OVER (ORDER BY {ORDER})::integer - 1 AS place
        FROM {kind.table} {_in_scope(kind, modules)}
    """


_LINKS_AND_PENDING = f"""
    SELECT r.place AS row_place, t.place AS column_place,
           CASE WHEN {IS_SUSPECT} THEN '\\x02'::bytea ELSE '\\x01' END AS state
    FROM links l JOIN r ON r.id = l.requirement_id JOIN t ON t.id = l.test_case_id
    UNION ALL
    SELECT r.place, t.place, '\\x03'
    FROM pending_pairs p JOIN r ON r.id = p.requirement_id JOIN t ON t.id = p.test_case_id
    WHERE p.pending AND {NOT_LINKED}
"""
_VERDICTS = """
    SELECT r.place AS row_place, t.place AS column_place,
           set_byte('\\x00', 0, array_position(%(by_state)s::text[], p.verdict)) AS state
    FROM verdicts p JOIN r ON r.id = p.requirement_id JOIN t ON t.id = p.test_case_id
"""
_BY_STATE = ("passed", "stale", "flaky", "failed", "skipped", "not_run")
"""Verdicts of links by the states of their cells, from 1 on."""


async def cells(connection: Connection, modules: Conditions, basis: Basis | None) -> Cells:
    """Return the cells in the order of rows and columns; with a basis those of links alone, with their verdicts."""
    scope = f"SELECT id FROM requirements {modules.where}" if modules.narrowed else None
    before, found = "", _LINKS_AND_PENDING
    if basis is not None:
        before, found = f", {verdicts.link_verdicts(scope, basis)}", _VERDICTS
    parameters = {} if basis is None else {**basis.parameters, "by_state": list(_BY_STATE)}
    cursor = await connection.cursor(binary=True).execute(
        f"""
        WITH r AS MATERIALIZED ({_places(REQUIREMENT, modules)}),
             t AS MATERIALIZED ({_places(TEST_CASE, modules)}){before}
        SELECT (SELECT count(*) FROM r) AS rows, (SELECT count(*) FROM t) AS columns,
               coalesce(string_agg(int4send(row_place), ''), '') AS row_places,
               coalesce(string_agg(int4send(column_place), ''), '') AS column_places,
               coalesce(string_agg(state, ''), '') AS states
        FROM ({found} ORDER BY row_place, column_place) AS in_order
        """,
        {**modules.parameters, **parameters},
        prepare=modules.prepare,
    )
    row = await cursor.fetchone()
    assert row is not None, "an aggregate gives one row"
    return Cells(**row)


async def labels(connection: Connection, kind: ItemKind, modules: Conditions, begin: int, limit: int) -> list[Row]:
    """Return a part of an axis: of each item what names it, and its `coverage`."""
    cursor = await connection.execute(
        f"""
        SELECT {", ".join(BRIEF)}, {coverage_column(kind)} FROM (
            SELECT {", ".join(BRIEF)}, version FROM {kind.table} {_in_scope(kind, modules)}
            ORDER BY {ORDER} LIMIT %(limit)s OFFSET %(begin)s
        ) AS {kind.table} ORDER BY {ORDER}
        """,
        {**modules.parameters, "begin": begin, "limit": limit},
        prepare=modules.prepare,
    )
    return await cursor.fetchall()


async def length(connection: Connection, kind: ItemKind, modules: Conditions) -> int:
    """Return how many items there are at an axis."""
    query = f"SELECT count(*) FROM {kind.table} {_in_scope(kind, modules)}"
    total: int = await fetch_value(connection, query, modules.parameters)
    return total


async def modules_of(connection: Connection, kind: ItemKind) -> list[Module]:
    """Return the modules of a kind of item in the order of the axes, null last."""
    query = f"SELECT module, count(*) AS items FROM {kind.table} GROUP BY module ORDER BY module"
    return await fetch_all(connection, Module, query)


def _numbered(kind: ItemKind) -> str:
    """Return the items of a kind with the index of their module, in the order of the axes."""
    return f"SELECT id, (dense_rank() OVER (ORDER BY module))::integer - 1 AS module FROM {kind.table}"


# Modules are numbers: to group links by two texts takes twice as long.
_MODULE_CELLS = f"""
    WITH r AS MATERIALIZED ({_numbered(REQUIREMENT)}), t AS MATERIALIZED ({_numbered(TEST_CASE)}),
    between_items AS (
        SELECT requirement_id, test_case_id, 1 AS figure FROM links
        UNION ALL
        SELECT requirement_id, test_case_id, 2 FROM (
            {suspect_links("l.requirement_id, l.test_case_id")}) AS suspect
        UNION ALL
        SELECT requirement_id, test_case_id, 3 FROM pending_pairs p WHERE p.pending AND {NOT_LINKED}
    )
    SELECT r.module AS "row", t.module AS "column",
           {", ".join(f"count(*) FILTER (WHERE figure = {n}) AS {one}" for n, one in enumerate(FIGURES, 1))}
    FROM between_items b JOIN r ON r.id = b.requirement_id JOIN t ON t.id = b.test_case_id
    GROUP BY r.module, t.module ORDER BY r.module, t.module
"""


async def module_cells(connection: Connection) -> list[ModuleCell]:
    """Return what is between modules, where there is anything."""
    return await fetch_all(connection, ModuleCell, _MODULE_CELLS)

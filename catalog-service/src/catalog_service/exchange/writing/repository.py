"""The SQL of exports: whole rows, as JSON that PostgreSQL writes or as cells, through cursors of the server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncServerCursor
from psycopg.rows import tuple_row

from catalog_service.exchange.applying.references import COLUMNS as REFERENCE_COLUMNS
from catalog_service.exchange.reqif.own_elements import COLUMNS as REQIF_COLUMNS
from catalog_service.exchange.writing.documents import Rows
from catalog_service.exchange.writing.scope import About, Scope
from catalog_service.fields.definitions import PREFIX
from catalog_service.fields.filters import cell_of
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.levels import repository as project_levels
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.links.repository import JOINED_ENDS
from catalog_service.relations.fields import COLUMNS as RELATION_COLUMNS
from catalog_service.relations.fields import VERSIONS
from catalog_service.relations.repository import JOINED_ENDS as JOINED_REQUIREMENTS
from catalog_service.row_counts import counted
from chassis.core.tasks import cancel_and_wait
from chassis.db.database import Connection
from chassis.db.rows import fetch_column

_ROWS_AT_ONCE = 200
"""Each may have a megabyte of texts."""
_RFC_3339 = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_OF_RESTORE = frozenset({"id", "version", "created_at", "updated_at", "position"})
_MOMENTS = frozenset({"created_at", "updated_at", "confirmed_at", "changed_at", "since"})
_LISTS = frozenset({"tags", "section", "changed_fields"})
_BLANK_IN_REQIF = {
    **{name: f"nullif({name}, '{{}}')" for name in ("tags", "section")},
    "derived": "nullif(derived, false)",
}
"""What items have that say nothing of it, which ReqIF leaves out."""
_ENDS = ((REQUIREMENT, "r"), (TEST_CASE, "t"))
"""The items of a link, and what JOINED_ENDS calls them."""
_RELATED = ("child", "parent")
_RELATIONS = f"requirement_relations n {JOINED_REQUIREMENTS}"
_PLAIN_RELATION = ("relation_type", "role", "notes", "source", "created_by")
_COUNTED = {
    "requirements": "requirements",
    "test_cases": "test_cases",
    "links": "links",
    "relations": "requirement_relations",
}
"""The tables of records of which it is known how many they are, by their section."""
_PLAIN_LINK = ("link_type", "link_source", "confidence_score", "notes", "created_by")


def item_columns(kind: ItemKind, *, native: bool) -> tuple[str, ...]:
    """Return the fields of an item in an export, in order.

    A plain one has an id only where an item has no external_id: for the links of the same file.
    """
    return kind.columns if native else ("id", *(name for name in kind.columns if name not in _OF_RESTORE))


def link_columns(*, native: bool) -> tuple[str, ...]:
    """Return the fields of a link in an export, in order; one that is not native names its items as people do.

    That is by external_id, and by id where there is none.
    """
    if native:
        return (*LINK_COLUMNS, "requirement_version", "test_case_version")
    return ("requirement", "test_case", "requirement_id", "test_case_id", *_PLAIN_LINK)


REVISION_COLUMNS = ("item_id", "version", "changed_fields", "changed_at")


class _Query:
    """A query of records with the text of its FROM and what comes after; `columns` are SQL by the name of a field."""

    def __init__(self, kind: str, columns: dict[str, str], rest: str, order: str, parameters: dict[str, Any]) -> None:
        self.kind = kind
        self.columns = columns
        self.rest = rest
        self.order = order
        self.parameters = parameters

    def as_json(self) -> str:
        """The query of one text a row: a JSON object that begins with its `kind`."""
        selected = ", ".join(f"{column} AS {name}" for name, column in self.columns.items())
        rows = f"SELECT '{self.kind}' AS kind, {selected} {self.rest} ORDER BY {self.order}"
        return f"SELECT row_to_json(record)::text FROM ({rows}) record"

    def as_cells(self) -> str:
        """The query of the fields of each row, as texts; what is no text or number is JSON."""
        selected = ", ".join(
            f"{f'to_json({column})' if name in _LISTS else f'({column})'}::text"
            for name, column in self.columns.items()
        )
        return f"SELECT {selected} {self.rest} ORDER BY {self.order}"

    def counted(self) -> str:
        """The query of how many there are."""
        return f"SELECT count(*) {self.rest}"


def _as_text(name: str, column: str) -> str:
    return f"to_char({column}, '{_RFC_3339}')" if name in _MOMENTS else column


def _items(kind: ItemKind, scope: Scope) -> _Query:
    conditions = scope.conditions[kind.name]
    columns = {name: _as_text(name, name) for name in item_columns(kind, native=scope.is_native)}
    if not scope.is_native:
        columns["id"] = "CASE WHEN external_id IS NULL THEN id END"
    names = ("created_at", "id") if scope.is_native else ("module", "external_id", "id")
    order = ", ".join(f"{kind.table}.{name}" for name in names)
    return _Query(kind.name, columns, f"FROM {kind.table} {conditions.where}", order, conditions.parameters)


def _links(scope: Scope, *, native: bool) -> _Query:
    """Return the query of the links between items of the scope.

    In another record, which gives items ids of its own, native ones without their items are known by external_ids.
    """
    names = link_columns(native=native)
    is_alone = native and not scope.items
    columns = {name: _as_text(name, f"l.{name}") for name in names}
    if not native:
        for kind, alias in _ENDS:
            columns[kind.name] = f"{alias}.external_id"
            columns[f"{kind.name}_id"] = f"CASE WHEN {alias}.external_id IS NULL THEN {alias}.id END"
    elif is_alone:
        columns |= {f"{kind.name}_external_id": f"{alias}.external_id" for kind, alias in _ENDS}
    order = "l.created_at, l.id" if native else "r.external_id, t.external_id, l.id"
    rest = f"FROM links l {JOINED_ENDS if is_alone or not native else ''} {_between(scope)}"
    return _Query("link", columns, rest, order, _parameters(scope))


def _relations(scope: Scope) -> _Query:
    """Return the query of the relations between requirements of the scope."""
    if scope.is_native:
        columns = {name: _as_text(name, f"n.{name}") for name in (*RELATION_COLUMNS, *VERSIONS)}
    else:
        columns = {end: f"{end[0]}.external_id" for end in _RELATED}
        columns |= {f"{end}_id": f"CASE WHEN {end[0]}.external_id IS NULL THEN {end[0]}.id END" for end in _RELATED}
        columns |= {name: f"n.{name}" for name in _PLAIN_RELATION}
    order = "n.created_at, n.id" if scope.is_native else "c.external_id, p.external_id, n.id"
    return _Query("relation", columns, f"FROM {_RELATIONS} {_related(scope)}", order, _parameters(scope))


def _related(scope: Scope) -> str:
    """Return the WHERE of the relations between requirements of the scope."""
    where = scope.conditions[REQUIREMENT.name].where
    ids = f"(SELECT id FROM requirements {where})"
    return f"WHERE n.child_id IN {ids} AND n.parent_id IN {ids}" if where else ""


def _between(scope: Scope) -> str:
    """Return the WHERE of the links between items of the scope."""
    narrowed = [
        f"l.{kind.name}_id IN (SELECT id FROM {kind.table} {conditions.where})"
        for kind in KINDS
        if (conditions := scope.conditions[kind.name]).where
    ]
    return f"WHERE {' AND '.join(narrowed)}" if narrowed else ""


def _parameters(scope: Scope) -> dict[str, Any]:
    return {name: value for of in scope.conditions.values() for name, value in of.parameters.items()}


def _revisions(scope: Scope) -> _Query:
    """Those that say why links and relations of the scope are suspect: of an item, those newer than its link."""
    suspect = " UNION ".join(
        f"SELECT {alias}.id, l.{kind.name}_version AS version FROM links l {JOINED_ENDS}"
        f" {_between(scope)} {'AND' if _between(scope) else 'WHERE'} {alias}.version > l.{kind.name}_version"
        for kind, alias in _ENDS
    )
    if REQUIREMENT in scope.items:
        suspect += "".join(
            f" UNION SELECT {end[0]}.id, n.{end}_version FROM {_RELATIONS}"
            f" {_related(scope) or 'WHERE true'} AND {end[0]}.version > n.{end}_version"
            for end in _RELATED
        )
    since = f"SELECT id, min(version) AS version FROM ({suspect}) of_links GROUP BY id"
    return _Query(
        "revision",
        {name: _as_text(name, f"v.{name}") for name in REVISION_COLUMNS},
        f"FROM item_revisions v JOIN ({since}) suspect ON suspect.id = v.item_id AND v.version > suspect.version",
        "v.item_id, v.version",
        _parameters(scope),
    )


def _references(scope: Scope) -> _Query:
    """Those that wait for an item and that items of the scope have; of the whole record, those of none, too."""
    narrowed = [
        f"owner_kind = '{kind.name}' AND owner_id IN (SELECT id FROM {kind.table} {scope.conditions[kind.name].where})"
        for kind in KINDS
    ]
    where = f"WHERE {' OR '.join(narrowed)}" if _between(scope) else ""
    columns = {name: _as_text(name, f"w.{name}") for name in REFERENCE_COLUMNS}
    columns = {{"kind": "reference_kind"}.get(name, name): column for name, column in columns.items()}
    return _Query("reference", columns, f"FROM waiting_references w {where}", "w.since, w.id", _parameters(scope))


def _queries(scope: Scope, form: Rows) -> list[_Query]:
    """Return the queries of all records. In tables links name their items as people do.

    Revisions have a place in native JSON alone.
    """
    queries = [_items(kind, scope) for kind in scope.items]
    if scope.links:
        queries.append(_links(scope, native=scope.is_native and form is not Rows.CELLS))
        if form is not Rows.CELLS and REQUIREMENT in scope.items:
            queries.append(_relations(scope))
        if scope.is_native and form is Rows.JSON and scope.items:
            queries += [_revisions(scope), _references(scope)]
    if form is Rows.CELLS:
        for query in queries[: len(scope.items)]:
            own = scope.fields.of(query.kind).values()
            query.columns |= {f"{PREFIX}{field.key}": cell_of(field) for field in own}
    if form is Rows.REQIF:
        for query in queries:
            query.columns = {name: query.columns[name] for name in REQIF_COLUMNS[query.kind]}
            query.columns |= {name: blank for name, blank in _BLANK_IN_REQIF.items() if name in query.columns}
    return queries


_ABOUT = """
SELECT (SELECT head FROM feed_head) AS head,
       (SELECT to_hex(system_identifier) || '-' || oid FROM pg_control_system(), pg_database
        WHERE datname = current_database()) AS instance
"""

_SCHEMAS = "SELECT document FROM reqif_schemas ORDER BY created_at, job_id"


async def about(connection: Connection, scope: Scope, form: Rows, *, with_schemas: bool) -> About:
    """Return what an export of a scope says of itself; the counts are of the same moment as the rows."""
    row = await (await connection.execute(_ABOUT)).fetchone()
    assert row is not None
    narrowed = any(conditions.where for conditions in scope.conditions.values())
    counts = dict.fromkeys((*_COUNTED, "revisions", "references"), 0)
    queries = _queries(scope, form)
    for query in queries:
        whole = not narrowed and query.kind not in {"revision", "reference"}
        cursor = connection.cursor(row_factory=tuple_row)
        await cursor.execute(counted(_COUNTED[f"{query.kind}s"]) if whole else query.counted(), query.parameters)
        found = await cursor.fetchone()
        assert found is not None
        counts[f"{query.kind}s"] = found[0]
    columns = {query.kind: tuple(query.columns) for query in queries} if form is Rows.CELLS else {}
    schemas = await fetch_column(connection, _SCHEMAS) if with_schemas else []
    has_levels = form is Rows.JSON and REQUIREMENT in scope.items
    levels = await project_levels.read(connection) if has_levels else []
    return About(row["instance"], datetime.now(UTC), row["head"], scope.profile, counts, columns, schemas, levels)


async def rows(connection: Connection, scope: Scope, form: Rows) -> AsyncGenerator[tuple[str, list[Any]], None]:
    """Yield all records of a scope, some hundred at a time, with their kind: each as JSON, or as a row of texts."""
    as_json = form is Rows.JSON
    for query in _queries(scope, form):
        async with connection.cursor(name=f"export_{query.kind}", row_factory=tuple_row) as cursor:
            await cursor.execute(query.as_json() if as_json else query.as_cells(), query.parameters)
            async with aclosing(fetch_ahead(cursor)) as parts:
                async for found in parts:
                    yield query.kind, [row[0] for row in found] if as_json else found


async def fetch_ahead(cursor: AsyncServerCursor[Any]) -> AsyncGenerator[list[Any], None]:
    """Yield the rows of a cursor, some at a time; the next come while those before them are written."""
    ahead = asyncio.create_task(cursor.fetchmany(_ROWS_AT_ONCE))
    try:
        while found := await ahead:
            ahead = asyncio.create_task(cursor.fetchmany(_ROWS_AT_ONCE))
            yield found
    finally:
        await cancel_and_wait(ahead)

"""The SQL of requirements and test cases."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import psycopg
from psycopg.rows import tuple_row
from psycopg.types.json import Json

from catalog_service.fields.cache import StaleFields
from catalog_service.fields.repository import STALE
from catalog_service.items.kinds import ItemKind
from catalog_service.pending.repository import NOT_LINKED
from catalog_service.row_counts import counted
from chassis.db.database import Connection, columns, map_constraint_violations, placeholders
from chassis.db.rows import fetch_column
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import LARGEST_PAGE, Fetched, PageRequest, Row, check_size, size_of


async def find(connection: Connection, kind: ItemKind, item_id: UUID, lock: str) -> Row | None:
    """Return an item as it is answered, or None; `lock` is FOR UPDATE or FOR NO KEY UPDATE."""
    return await _find(connection, kind, ", ".join(kind.columns), f"id = %s {lock}", item_id)


async def find_by_external_id(connection: Connection, kind: ItemKind, external_id: str, lock: str = "") -> Row | None:
    """Return an item as it is answered, or None; `lock` as of `find`, or nothing."""
    return await _find(connection, kind, ", ".join(kind.columns), f"external_id = %s {lock}", external_id)


async def find_with_coverage(connection: Connection, kind: ItemKind, item_id: UUID) -> Row | None:
    """Return an item as it is answered, with its `coverage`, or None."""
    columns = f"{', '.join(kind.columns)}, {coverage_column(kind)}"
    return await _find(connection, kind, columns, "id = %s", item_id)


async def _find(connection: Connection, kind: ItemKind, columns: str, where: str, key: object) -> Row | None:
    cursor = connection.cursor(binary=True)
    await cursor.execute(f"SELECT {columns} FROM {kind.table} WHERE {where}", (key,))
    return await cursor.fetchone()


def coverage_column(kind: ItemKind) -> str:
    """Return the column `coverage` of a table of items: its state, its links and its pending suggestions in figures."""
    other = "test_case" if kind.name == "requirement" else "requirement"
    return f"""(
        SELECT json_build_object(
            'state', CASE WHEN count(*) = 0 THEN 'none' WHEN bool_or(suspect) THEN 'suspect' ELSE 'covered' END,
            'links', count(*), 'suspect_links', count(*) FILTER (WHERE suspect), 'pending_suggestions', (
                SELECT count(*) FROM pending_pairs p JOIN {other}s o ON o.id = p.{other}_id
                WHERE p.{kind.name}_id = {kind.table}.id AND p.pending AND {NOT_LINKED}))
        FROM (
            SELECT {kind.table}.version > l.{kind.name}_version OR o.version > l.{other}_version AS suspect
            FROM links l JOIN {other}s o ON o.id = l.{other}_id WHERE l.{kind.name}_id = {kind.table}.id
        ) AS linked
    ) AS coverage"""


async def find_page(
    connection: Connection,
    kind: ItemKind,
    conditions: Conditions,
    wanted: PageRequest,
    *,
    with_coverage: bool,
) -> Fetched:
    """Return one page of items as one JSON array that PostgreSQL has written.

    Pages are answered as they are stored: to make twenty rows into objects only to write them down again takes longer
    than the rest of the query. The page is chosen by ids, which an index gives without the rows.
    """
    total = f"SELECT count(*) FROM {kind.table} {conditions.where}" if conditions.where else counted(kind.table)
    ids = "chosen.ids[1:%(most)s]"
    items = _as_json(kind, ids, wanted.fields, with_coverage=with_coverage)
    place = ", ".join(by.name for by in wanted.order.columns)
    cursor = connection.cursor(row_factory=tuple_row)
    await cursor.execute(
        f"""
        WITH chosen AS MATERIALIZED (SELECT ARRAY({wanted.rows(kind.table, conditions, "id")}) AS ids)
        SELECT CASE WHEN fitting >= found THEN ({items}) END, fitting, found, ({total}), cardinality(ids),
               (SELECT json_build_array({place}) FROM {kind.table} WHERE id = chosen.ids[%(most)s])
        FROM chosen CROSS JOIN LATERAL ({_fitting(kind, ids, wanted.fields)}) of_page
        """,
        {**conditions.parameters, **wanted.parameters, "most": wanted.limit},
        prepare=conditions.prepare,
    )
    row = await cursor.fetchone()
    assert row is not None
    items, fitting, rows, total, found, end = row
    check_size(fitting, rows)
    return Fetched(orjson.Fragment(items), total, end if wanted.has_more(found, total) else None)


async def find_in_order(
    connection: Connection, kind: ItemKind, ids: Sequence[UUID], fields: Collection[str] | None, *, with_coverage: bool
) -> orjson.Fragment:
    """Return those of the items that exist, in the order of the ids, as `find_page` does."""
    cursor = connection.cursor(row_factory=tuple_row)
    wanted = "%(ids)s::uuid[]"
    query = _as_json(kind, wanted, fields, with_coverage=with_coverage)
    await cursor.execute(
        f"SELECT CASE WHEN fitting >= found THEN ({query}) END, fitting, found"
        f" FROM ({_fitting(kind, wanted, fields)}) of_page",
        {"ids": list(ids)},
    )
    row = await cursor.fetchone()
    assert row is not None
    items, fitting, rows = row
    check_size(fitting, rows)
    return orjson.Fragment(items)


_LONG = (
    *("description", "preconditions", "postconditions", "steps", "test_data", "custom_metadata", "tags", "section"),
    "rationale",
)
"""Columns that may have much in them."""


def _fitting(kind: ItemKind, ids: str, fields: Collection[str] | None) -> str:
    """Return the query of how many of the items, in the order of `ids`, a page has room for, and how many there are.

    It is asked first: what is too large must not be made into JSON.
    """
    size = size_of([name for name in _LONG if name in kind.columns and (fields is None or name in fields)])
    return f"""
        SELECT count(*) FILTER (WHERE so_far <= {LARGEST_PAGE} OR at = 1) AS fitting, count(*) AS found FROM (
            SELECT at, sum(size) OVER (ORDER BY at) AS so_far
            FROM unnest({ids}) WITH ORDINALITY AS place (item_id, at)
            CROSS JOIN LATERAL (SELECT {size} AS size FROM {kind.table} WHERE id = item_id LIMIT 1) stored
        ) sizes
    """


def _as_json(kind: ItemKind, ids: str, fields: Collection[str] | None, *, with_coverage: bool) -> str:
    """Return the query of a JSON array of items in the order of `ids`, each with its `etag`, or its `fields` alone.

    Each is looked up by its id: asked for all ids at once, PostgreSQL reads the index of the whole project instead.
    """
    columns = {name: name for name in kind.columns} | {"etag": kind.etag_column}
    if with_coverage:
        columns["coverage"] = coverage_column(kind)
    wanted = [name for name in columns if fields is None or name in fields]
    return f"""
        SELECT coalesce(json_agg(page), '[]')::text FROM (
            SELECT {", ".join(_IN_JSON.get(name, name) for name in wanted)} FROM (
                SELECT {", ".join(columns[name] for name in wanted)}
                FROM unnest({ids}) WITH ORDINALITY AS place (item_id, at)
                CROSS JOIN LATERAL (SELECT * FROM {kind.table} WHERE id = item_id LIMIT 1) {kind.table} ORDER BY at
            ) stored
        ) page
    """


_RFC_3339 = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_IN_JSON = {name: f"to_char({name}, '{_RFC_3339}') AS {name}" for name in ("created_at", "updated_at")}
"""PostgreSQL would write +00:00; the connection's time zone is UTC."""


async def find_ids(connection: Connection, kind: ItemKind, conditions: Conditions) -> list[UUID]:
    """Return the ids of the items that fulfil the conditions, in their order."""
    return await fetch_column(
        connection, f"SELECT id FROM {kind.table} {conditions.where} ORDER BY id", conditions.parameters
    )


async def find_newest(connection: Connection, kind: ItemKind, conditions: Conditions, limit: int) -> list[Row]:
    """Return the newest of the items that fulfil the conditions."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT {', '.join(kind.columns)} FROM {kind.table} {conditions.where} ORDER BY created_at DESC, id"
        " LIMIT %(limit)s",
        {**conditions.parameters, "limit": limit},
    )
    return await cursor.fetchall()


async def lock_all(
    connection: Connection, kind: ItemKind, ids: Sequence[UUID], conditions: Conditions, lock: str
) -> list[Row]:
    """Return those of the items that fulfil the conditions, locked in one order; `lock` as of `find`."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT {', '.join(kind.columns)} FROM {kind.table} WHERE id = ANY(%(wanted)s){conditions.also}"
        f" ORDER BY id {lock}",
        {**conditions.parameters, "wanted": list(ids)},
    )
    return await cursor.fetchall()


async def find_all(connection: Connection, kind: ItemKind, ids: list[UUID]) -> dict[UUID, Row]:
    """Return those of the items that exist, by id."""
    if len(ids) == 1:  # PostgreSQL keeps the plan for one; for an array it plans each time
        row = await find(connection, kind, ids[0], "")
        return {} if row is None else {ids[0]: row}
    cursor = connection.cursor(binary=True)
    await cursor.execute(f"SELECT {', '.join(kind.columns)} FROM {kind.table} WHERE id = ANY(%s)", (ids,))
    return {row["id"]: row for row in await cursor.fetchall()}


async def insert(
    connection: Connection, kind: ItemKind, row: Row, event: NewEvent, fields_revision: int | None = None
) -> None:
    """Insert an item with its event, in one statement; raises Conflict when the external_id is taken.

    With `fields_revision`, raises StaleFields where the fields of the project are at another one by now.
    """
    parameters = _parameters(kind, row, event)
    values = placeholders(row)
    if fields_revision is not None:
        values = values.replace("%(version)s", "%(version)s + fields_as_at(%(fields_revision)s)")
        parameters["fields_revision"] = fields_revision
    more = ""
    if _names_other_creator(row, event):
        more = f", creation AS ({_INSERT_CREATORS} FROM json_to_recordset(%(creators)s) {_CREATORS})"
        parameters["creators"] = Json([_creator(kind, row, event)])
    with map_constraint_violations(kind.violations()), _raising_stale_fields():
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}){more} INSERT INTO {kind.table} ({columns(row)}) VALUES ({values})",
            parameters,
        )


@contextmanager
def _raising_stale_fields() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate != STALE:
            raise
        raise StaleFields from None


async def insert_all(
    connection: Connection, kind: ItemKind, items: Sequence[tuple[Row, NewEvent]], fields_revision: int
) -> None:
    """Insert several items and their events, in this order, in one statement; all or none.

    Fails where the fields of the project are at another revision by now.
    """
    names = ", ".join(kind.columns)
    parameters = {
        "rows": Json([row for row, _ in items]),
        "events": outbox.all_fields([event for _, event in items]),
        "fields_revision": fields_revision,
    }
    more = ""
    if creators := [_creator(kind, row, event) for row, event in items if _names_other_creator(row, event)]:
        more = f", creations AS ({_INSERT_CREATORS} FROM json_to_recordset(%(creators)s) {_CREATORS})"
        parameters["creators"] = Json(creators)
    await connection.execute(
        f"WITH events AS ({outbox.RECORD_ALL}){more} INSERT INTO {kind.table} ({names}) SELECT {names}"
        f" FROM json_populate_recordset(NULL::{kind.table}, %(rows)s) WHERE fields_as_at(%(fields_revision)s) = 0",
        parameters,
    )


_INSERT_CREATORS = (
    "INSERT INTO item_changes (item_id, kind, action, actor, occurred_at, version, told)"
    " SELECT id, kind, 'created', actor, created_at, 1, '{}'"
)
_CREATORS = "AS creator (id uuid, kind text, actor text, created_at timestamptz)"


def _names_other_creator(row: Row, event: NewEvent) -> bool:
    """Check whether an item names another creator than the user who creates it: only then history stores who did."""
    return bool(row["created_by"] != event.actor.email)


def _creator(kind: ItemKind, row: Row, event: NewEvent) -> Row:
    return {"id": row["id"], "kind": kind.name, "actor": event.actor.email, "created_at": row["created_at"]}


async def update(connection: Connection, kind: ItemKind, row: Row, changed: Sequence[str], event: NewEvent) -> None:
    """Store the `changed` columns of an item with its event; raises Conflict when the external_id is taken.

    Only they are set, so that the search document is made again only when its texts have changed.
    """
    assignments = ", ".join(f"{name} = %({name})s" for name in changed)
    with map_constraint_violations(kind.violations()):
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}) UPDATE {kind.table} SET {assignments} WHERE id = %(id)s",
            _parameters(kind, {name: row[name] for name in ("id", *changed)}, event),
        )


class Update(NamedTuple):
    """An item as it is to be: which columns are `stored`, of which some change its `meaning`, and the event."""

    row: Row
    stored: list[str]
    meaning: list[str]
    event: NewEvent


async def update_all(connection: Connection, kind: ItemKind, updates: Sequence[Update]) -> None:
    """Store updates of several items, with their revisions and events, in one statement."""
    names = [name for name in kind.columns if any(name in update.stored for update in updates)]
    revisions = [
        {"id": one.row["id"], "version": one.row["version"], "fields": one.meaning, "at": one.row["updated_at"]}
        for one in updates
        if one.meaning
    ]
    await connection.execute(
        f"""
        WITH events AS ({outbox.RECORD_ALL}), revisions AS (
            INSERT INTO item_revisions (item_id, version, changed_fields, changed_at)
            SELECT * FROM json_to_recordset(%(revisions)s)
                AS revision (id uuid, version integer, fields text[], at timestamptz)
        )
        UPDATE {kind.table} SET {", ".join(f"{name} = new.{name}" for name in names)}
        FROM json_populate_recordset(NULL::{kind.table}, %(rows)s) AS new WHERE {kind.table}.id = new.id
        """,
        {
            "rows": Json([{name: one.row[name] for name in ("id", *names)} for one in updates]),
            "revisions": Json(revisions),
            "events": outbox.all_fields([one.event for one in updates]),
        },
    )


async def insert_revision(connection: Connection, row: Row, changed: Sequence[str]) -> None:
    """Insert which fields made this version of an item: what makes its links suspect."""
    await connection.execute(
        "INSERT INTO item_revisions (item_id, version, changed_fields, changed_at) VALUES (%s, %s, %s, %s)",
        (row["id"], row["version"], list(changed), row["updated_at"]),
    )


async def delete(connection: Connection, kind: ItemKind, ids: list[UUID], deleted_by: str) -> None:
    """Delete items and their revisions; their links go with them. Imports remember that they were deleted."""
    await connection.execute(
        f"""
        WITH revisions AS (DELETE FROM item_revisions WHERE item_id = ANY(%(ids)s)), remembered AS (
            INSERT INTO deleted_items (kind, id, external_id, source_system, deleted_at, deleted_by)
            SELECT '{kind.name}', id, external_id, source_system, now(), %(deleted_by)s
            FROM {kind.table} WHERE id = ANY(%(ids)s)
            ON CONFLICT (kind, id) DO UPDATE SET external_id = excluded.external_id,
                source_system = excluded.source_system, deleted_at = excluded.deleted_at,
                deleted_by = excluded.deleted_by
        )
        DELETE FROM {kind.table} WHERE id = ANY(%(ids)s)
        """,
        {"ids": ids, "deleted_by": deleted_by},
    )


def _parameters(kind: ItemKind, row: Mapping[str, Any], event: NewEvent) -> dict[str, Any]:
    parameters = {**row, **outbox.fields(event)}
    for name in kind.json_columns & row.keys():
        if row[name] is not None:
            parameters[name] = Json(row[name])
    return parameters

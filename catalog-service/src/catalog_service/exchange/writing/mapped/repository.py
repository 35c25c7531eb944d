"""The SQL of exports for another tool."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from psycopg.rows import tuple_row

from catalog_service.exchange.tabular.cases import TEXTS
from catalog_service.exchange.writing.mapped.documents import LONGEST_CELL
from catalog_service.exchange.writing.mapped.table import LINKED, Lost, MappedTable
from catalog_service.exchange.writing.repository import fetch_ahead
from catalog_service.fields.definitions import PREFIX, Fields
from catalog_service.fields.filters import cell_of
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE
from chassis.db.database import Connection
from chassis.web.conditions import Conditions

_LISTS = frozenset({"tags", "section"})
_NOTHING = "('', '{}', 'null', 'false')"
"""What a value that says nothing is as a text, whatever its type."""
_LONG = TEXTS | {"steps"}


async def rows(
    connection: Connection, table: MappedTable, conditions: Conditions, own: Fields
) -> AsyncGenerator[list[Any], None]:
    """Yield the items that fulfil conditions, some hundred at a time, as the texts that `table` asks for."""
    selected = ", ".join(f"({_text_of(name, table, own)})::text" for name in table.fields)
    name = table.kind.table
    query = (
        f"SELECT {selected} FROM {name} {conditions.where}"
        f" ORDER BY {name}.module, {name}.external_id, {name}.created_at, {name}.id"
    )
    async with connection.cursor(name="export_mapped", row_factory=tuple_row) as cursor:
        await cursor.execute(query, conditions.parameters)
        async with aclosing(fetch_ahead(cursor)) as parts:
            async for found in parts:
                yield found


async def count_lost(
    connection: Connection, table: MappedTable, conditions: Conditions, *, longest: bool
) -> dict[str, int]:
    """Return of how many items something has no place in a table, by its field; nothing of what none has.

    With `longest`, "text" counts texts that are longer than a cell.
    """
    counted = {lost.field: _is_lost(lost, table, at) for at, lost in enumerate(table.lost)}
    parameters = {f"kept{at}": list(lost.kept) for at, lost in enumerate(table.lost)}
    if longest:
        lengths = [f"length({table.kind.table}.{name}::text)" for name in table.fields if name in _LONG]
        counted["text"] = f"greatest({', '.join(lengths)}) > {LONGEST_CELL}"
    selected = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in counted.values())
    query = f"SELECT {selected} FROM {table.kind.table} {conditions.where}"
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(query, {**conditions.parameters, **parameters})
        found = await cursor.fetchone()
    assert found is not None
    return {name: number for name, number in zip(counted, found, strict=True) if number}


def _is_lost(lost: Lost, table: MappedTable, at: int) -> str:
    kind = table.kind
    if lost.field == LINKED:
        return f"EXISTS (SELECT FROM links WHERE links.{kind.name}_id = {kind.table}.id)"
    column = f"{kind.table}.{lost.field}"
    if lost.kept:
        return f"NOT {column}::text = ANY(%(kept{at})s)"
    return f"coalesce({column}::text, '') NOT IN {_NOTHING}"


def _text_of(name: str, table: MappedTable, own: Any) -> str:
    kind = table.kind
    if name == LINKED:
        other = TEST_CASE if kind is REQUIREMENT else REQUIREMENT
        return (
            f"SELECT json_agg(coalesce(o.external_id, o.id::text) ORDER BY o.external_id, o.id) FROM links l"
            f" JOIN {other.table} o ON o.id = l.{other.name}_id WHERE l.{kind.name}_id = {kind.table}.id"
        )
    if name == "external_id":
        return f"coalesce({kind.table}.external_id, {kind.table}.id::text)"
    if name.startswith(PREFIX):
        field = own.of(kind.name).get(name.removeprefix(PREFIX))
        return "NULL" if field is None else cell_of(field)
    column = f"{kind.table}.{name}"
    return f"to_json({column})" if name in _LISTS else column

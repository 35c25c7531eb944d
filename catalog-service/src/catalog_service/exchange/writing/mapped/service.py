"""Makes exports for another tool."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, closing
from typing import IO, Any

from catalog_service.exchange.formats import Kinds
from catalog_service.exchange.mappings import service as mappings
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.presets import get_preset
from catalog_service.exchange.writing.mapped import repository
from catalog_service.exchange.writing.mapped.documents import MappedDocument, MappedWorkbook
from catalog_service.exchange.writing.mapped.table import LINKED, MappedTable, unwritable
from catalog_service.exchange.writing.places import take_place
from catalog_service.fields import repository as project_fields
from catalog_service.items.filters import ItemFilters
from catalog_service.items.kinds import KINDS
from catalog_service.items.service import conditions_of
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.core.problems import Invalid
from chassis.core.wording import listed
from chassis.db.database import Connection, Database

_PLAIN = "plain"
"""The presets for people are called so, with what they are of behind it."""

_SAID = {LINKED: "links", "text": "what is longer than a cell", "custom_metadata": "further data"}
"""How people call what has no place, where that is not the name of a field."""


async def table_of(connection: Connection, name: str, kind: Kinds) -> MappedTable:
    """Return the table of a mapping or preset; raise Invalid where there is none, or none of this kind."""
    if name == _PLAIN:
        if kind not in (Kinds.REQUIREMENTS, Kinds.TEST_CASES):
            message = "A table for people is of one kind: say kind=requirements or kind=test_cases."
            raise Invalid.field("/query/kind", message, "contradiction")
        name = f"{_PLAIN}-{kind.replace('_', '-')}"
    mapping = await mappings.named(connection, name)
    constants: Mapping[str, str] = {}
    if "preset" in mapping:
        if mapping["preset"] == OWN:
            raise unwritable("it is that of our own tables")
        preset = get_preset(mapping["preset"])
        mapping, constants = preset.mapping, preset.constants
    elif mapping["version"] == 2:
        mapping = _choose_sheet(mapping)
    of = {f"{known.name}s": known for known in KINDS}.get(mapping["kind"])
    if of is None:
        raise unwritable("it is of links, which have no items of their own")
    if kind not in (Kinds.ALL, mapping["kind"]):
        message = f"This mapping is of {mapping['kind']}: leave kind out, or use another mapping."
        raise Invalid.field("/query/kind", message, "contradiction")
    return MappedTable(of, mapping, constants)


async def say_what_is_lost(
    database: Database, table: MappedTable, filters: ItemFilters, basis: Basis, document: type[MappedDocument]
) -> str | None:
    """Return a sentence that says what of the items has no place in a table; None where all of it has."""
    async with database.connection() as connection:
        conditions = await conditions_of(connection, filters, basis, table.kind)
        found = await repository.count_lost(connection, table, conditions, longest=document is MappedWorkbook)
    if not found:
        return None
    kept = {lost.field: lost.kept for lost in table.lost}
    parts = [f"{_what(name, kept.get(name, ()))} of {number}" for name, number in found.items()]
    return f"Not in this file, which has no place for it: {listed(parts, 'and')} {table.kind.label}s."


async def make(
    database: Database,
    table: MappedTable,
    filters: ItemFilters,
    document_type: type[MappedDocument],
    basis: Basis,
    file: IO[bytes],
) -> AsyncGenerator[int, None]:
    """Write the items that filters find, all of one moment, to an empty file; return how long it is, as it grows."""
    async with take_place() as folder:
        with closing(await asyncio.to_thread(document_type, file, folder, table)) as document:
            yield file.tell()
            async with snapshot(database) as connection:
                conditions = await conditions_of(connection, filters, basis, table.kind)
                own = await project_fields.of(connection)
                async with aclosing(repository.rows(connection, table, conditions, own)) as parts:
                    async for found in parts:
                        await asyncio.to_thread(_write, document, table, found)
                        yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()


def _write(document: MappedDocument, table: MappedTable, found: list[Any]) -> None:
    document.write([line for row in found for line in table.rows_of(row)])


def _what(name: str, kept: tuple[str, ...]) -> str:
    said = _SAID.get(name, name.replace("_", " "))
    return f"{said} other than {listed(sorted(set(kept)))}" if kept else said


def _choose_sheet(mapping: Mapping[str, Any]) -> dict[str, Any]:
    sheets = [sheet for sheet in mapping["sheets"] if sheet["role"] in ("requirements", "test_cases")]
    if len(sheets) != 1:
        raise unwritable(f"{len(sheets)} of its sheets are of items, and a table is one sheet")
    common = {name: value for name, value in mapping.items() if name not in ("sheets", "version")}
    return {**common, **sheets[0], "kind": sheets[0]["role"]}

"""The changes of items that are there already: field by field, before and after, as PATCH or PUT would make them."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from catalog_service.exchange.planning import items
from catalog_service.fields.definitions import NONE
from catalog_service.items.kinds import ItemKind
from catalog_service.items.service import differ, patched
from chassis.db.database import Connection

_AT_ONCE = 500


async def find(connection: Connection, kind: ItemKind, job_id: object, *, merging: bool, restoring: bool) -> None:
    """Put the changes of the rows of a kind into the plan; those that change nothing become `unchanged`."""
    async with connection.cursor(name="changed") as cursor:
        cursor.itersize = _AT_ONCE
        await cursor.execute(items.changed(kind), {"job": job_id})
        while rows := await cursor.fetchmany(_AT_ONCE):
            block = await asyncio.to_thread(_lines, kind, rows, merging=merging, restoring=restoring)
            async with connection.cursor().copy("COPY plan_changes FROM STDIN") as copy:
                await copy.write(block)
    await connection.execute(
        "UPDATE plan SET changes = found.changes,"
        " action = CASE WHEN found.changes IS NULL THEN 'unchanged' ELSE action END"
        " FROM plan_changes found WHERE plan.position = found.position"
    )
    await connection.execute("TRUNCATE plan_changes")


def _lines(kind: ItemKind, rows: Iterable[Mapping[str, Any]], *, merging: bool, restoring: bool) -> bytes:
    changes = ((row["place"], _changes(kind, row, merging=merging, restoring=restoring)) for row in rows)
    return b"".join(_line(position, changed) for position, changed in changes)


def _changes(kind: ItemKind, row: Mapping[str, Any], *, merging: bool, restoring: bool) -> dict[str, Any]:
    fields = row["fields"]
    if restoring:
        wanted = {name: fields[name] for name in kind.columns if name in fields}
        current = {name: _as_json(row[name]) for name in kind.columns}
        wanted = {name: _as_json(value) for name, value in wanted.items()}
    else:
        named = {name: fields.get(name) for name in row["given"]}
        wanted = patched(kind, dict(row), named, NONE) if merging else named
        current = {name: row[name] for name in kind.columns}
    return {
        name: {"before": current[name], "after": wanted[name]}
        for name in kind.columns
        if name in wanted and differ(current[name], wanted[name])
    }


def _as_json(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_UTC_Z))


def _line(position: int, changes: dict[str, Any]) -> bytes:
    if not changes:
        return b"%d\t\\N\n" % position
    text = orjson.dumps(changes, option=orjson.OPT_UTC_Z).replace(b"\\", b"\\\\")
    return b"%d\t%b\n" % (position, text)

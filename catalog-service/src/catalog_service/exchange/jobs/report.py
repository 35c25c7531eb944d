"""The report of a plan: its rows as they are answered, and those that were refused as a CSV file to mend."""

import csv
import io
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.tabular.places import Places
from catalog_service.items.kinds import KINDS
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

IN_ORDER = Order("position", (By("r.position", int),))
_COLUMNS = (
    "r.position, r.row, r.line, r.sheet, r.kind, r.action, r.code, r.target_id, r.changes, r.problems, r.warnings,"
    " r.fields"
)
_MOST_CHARACTERS = 200
_AT_ONCE = 500
_MEANING = {kind.name: frozenset(kind.meaning) for kind in KINDS}


async def page(database: Database, job: Job, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the rows of a job as they are answered, under conditions on `import_rows r`."""
    async with database.connection() as connection:
        found = await fetch_page(connection, _COLUMNS, "import_rows r", conditions, wanted)
        suspect = await _becoming_suspect(connection, found.rows)
    places = Places(
        (sheet, position, column)
        for sheet, columns in columns_of(job).items()
        for position, column in enumerate(columns, 1)
    )
    return found._replace(rows=[_shown(row, suspect, places) for row in found.rows])


_ENDS = {"link": ("requirement", "test_case"), "relation": ("child", "parent")}


async def _becoming_suspect(connection: Connection, rows: list[Row]) -> Mapping[UUID, int]:
    """Return of each item whose meaning changes how many links it has."""
    counts: dict[UUID, int] = {}
    for kind in KINDS:
        ids = [row["target_id"] for row in rows if row["kind"] == kind.name and _raises_version(row)]
        if not ids:
            continue
        cursor = await connection.execute(
            f"SELECT {kind.name}_id AS id, count(*) FROM links WHERE {kind.name}_id = ANY(%s) GROUP BY 1", (ids,)
        )
        counts |= {row["id"]: row["count"] for row in await cursor.fetchall()}
    return counts


def _raises_version(row: Mapping[str, Any]) -> bool:
    return row["action"] == "update" and not _MEANING.get(row["kind"], frozenset()).isdisjoint(row["changes"] or {})


def columns_of(job: Job) -> dict[str | None, list[dict[str, Any]]]:
    """Return the columns of the tables of a job by the names of their sheets; nothing where its file has no tables."""
    by_sheet: dict[str | None, list[dict[str, Any]]] = {}
    for column in (job.summary or {}).get("columns") or ():
        by_sheet.setdefault(column.get("sheet"), []).append(column)
    return by_sheet


def _shown(row: Mapping[str, Any], suspect: Mapping[UUID, int], places: Places) -> Row:
    fields = row["fields"] or {}
    raises = _raises_version(row)
    where = {"sheet": row["sheet"], "row": row["row"]}
    return {
        **{name: row[name] for name in ("position", "row", "line", "sheet", "kind", "action", "code")},
        "key": _cut(_key(row["kind"], fields)),
        "item_id": row["target_id"],
        "title": _cut(fields.get("title")),
        "changes": [
            {"field": field, "before": _cut(change["before"]), "after": _cut(change["after"])}
            for field, change in (row["changes"] or {}).items()
        ],
        "raises_version": raises,
        "makes_suspect": suspect.get(row["target_id"], 0) if raises else 0,
        "problems": [
            places.locate(one, **where) for one in row["problems"] or () if row["action"] in {"error", "conflict"}
        ],
        "warnings": [places.locate(one, **where) for one in row["warnings"] or ()],
    }


def _key(kind: str, fields: Mapping[str, Any]) -> str | None:
    if kind in _ENDS:
        ends = [fields.get(end) or {} for end in _ENDS[kind]]
        return " → ".join(str(end.get("external_id") or end.get("id") or "?") for end in ends) if any(ends) else None
    key = fields.get("external_id") or fields.get("id") or fields.get("item_id")
    return None if key is None else str(key)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
        return f"{value[: _MOST_CHARACTERS - 1]}…"
    return value


async def refused_rows(database: Database, job: Job) -> AsyncIterator[bytes]:
    """Yield the rows that were refused as CSV, as they were sent, with a last column `problem`.

    Rows of another sheet stand below its own header, behind a blank line.
    """
    headers = {sheet: [column["name"] for column in columns] for sheet, columns in columns_of(job).items()}
    yield "\ufeff".encode()
    if not headers:
        yield _written([["row", "kind", "key", "title", "problem"]])
    header: list[str] | None = None
    after = 0
    while True:
        async with database.connection() as connection:
            cursor = await connection.execute(
                "SELECT position, row, sheet, kind, fields, problems, source FROM import_rows WHERE job_id = %s"
                " AND action IN ('error', 'conflict') AND position > %s ORDER BY position LIMIT %s",
                (job.id, after, _AT_ONCE),
            )
            rows = await cursor.fetchall()
        if not rows:
            break
        after = rows[-1]["position"]
        lines: list[list[str]] = []
        for row in rows:
            own = headers.get(row["sheet"]) or next(iter(headers.values()), None)
            if own != header and own is not None:
                lines += [[*own, "problem"]] if header is None else [[], [*own, "problem"]]
                header = own
            lines += _lines(row, header)
        yield _written(lines)
    if headers and header is None:
        yield _written([[*next(iter(headers.values())), "problem"]])


def _lines(row: Mapping[str, Any], header: list[str] | None) -> list[list[str]]:
    """Return the rows of a refused item as they were sent, the problem in the first."""
    problems = " ".join(
        f"{one['name']}: {one['message']}" if one.get("name") else one["message"] for one in row["problems"] or []
    )
    if header is None:
        fields = row["fields"] or {}
        key, title = _key(row["kind"], fields) or "", str(fields.get("title") or "")
        return [[str(row["row"] or ""), row["kind"], key, title, problems]]
    width = max(len(header), 1)
    cells = list(row["source"] or [""])
    lines = [cells[at : at + width] for at in range(0, len(cells), width)]
    return [[*line, *[""] * (width - len(line)), "" if at else problems] for at, line in enumerate(lines)]


def _written(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

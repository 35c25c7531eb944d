"""Looks at the beginning of a file: what format it has, what its columns may mean, how its first rows would be read."""

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any

from fastapi import Request

from catalog_service.exchange import registry
from catalog_service.exchange.formats import Format, Inspection, ReadOptions
from catalog_service.exchange.jobs.options import ReadingQuery
from catalog_service.exchange.jobs.upload import Received, receive
from catalog_service.exchange.records import Item, Link, Notice, Record, Unreadable
from catalog_service.exchange.validation import Validation
from catalog_service.items.source_urls import SourceUrls
from chassis.core.problems import Invalid, TooLarge
from chassis.files.archives import is_archive
from chassis.web.listing import Row

_BEGINNING = 1024 * 1024
_MOST_ARCHIVE = 16 * 1024 * 1024
_HEAD = 512
_ROWS = 20
_PLACES = ("line", "column", "offset")


async def beginning(request: Request) -> tuple[BytesIO, Received]:
    """Return the first MiB of the file of a request, an archive as a whole; raises what `receive` does."""
    kept = bytearray()
    is_whole = False

    async def keep(number: int, data: bytes) -> None:
        nonlocal is_whole
        if number == 0:
            is_whole = is_archive(data)
        if is_whole and len(kept) + len(data) > _MOST_ARCHIVE:
            raise TooLarge("An archive or workbook of more than 16 MiB is not inspected; import it to see its plan.")
        if is_whole or len(kept) < _BEGINNING:
            kept.extend(data)

    received = await receive(request, keep)
    return BytesIO(kept), received


def inspect(
    file: BytesIO, received: Received, query: ReadingQuery, mapping: dict[str, Any] | None, schemes: tuple[str, ...]
) -> Row:
    """Return what a file looks like; raises Invalid where it is none of what it says."""
    length = file.getbuffer().nbytes
    is_whole = length == received.size and (length != _BEGINNING or is_archive(file.getvalue()[:_HEAD]))
    name = query.file_name or received.file_name
    try:
        chosen = (
            registry.recognise(file, name, received.media_type)
            if query.format == "auto"
            else registry.find(query.format)
        )
        options = ReadOptions(
            kind=query.kind.value,
            encoding=query.encoding,
            file_name=name,
            source_system=query.source_system,
            mapping=mapping,
            is_beginning=not is_whole,
        )
        found = _looked_at(chosen, file, options)
        rows, notices = _first_rows(chosen, file, options, schemes, is_whole=is_whole)
    except Unreadable as error:
        places = {name: getattr(error, name) for name in _PLACES if getattr(error, name) is not None}
        raise Invalid(error.message, code=error.code, members=places) from None
    known = {warning["code"] for warning in found.warnings}
    warnings = [{"code": one.code, "message": one.message} for one in notices if one.code not in known]
    return {
        "format": chosen.name,
        "encoding": found.encoding,
        "dialect": found.dialect,
        "sheets": found.sheets,
        "columns": found.columns,
        "preset": found.preset,
        "mapping": found.mapping,
        "rows": rows,
        "warnings": [*found.warnings, *warnings],
    }


def _looked_at(chosen: Format, file: BytesIO, options: ReadOptions) -> Inspection:
    file.seek(0)
    return Inspection(chosen.name) if chosen.inspect is None else chosen.inspect(file, options)


def _first_rows(
    chosen: Format, file: BytesIO, options: ReadOptions, schemes: tuple[str, ...], *, is_whole: bool
) -> tuple[list[Row], list[Notice]]:
    validation = Validation(SourceUrls(schemes), "", replacing=False, restoring=False)
    notices: list[Notice] = []
    rows: list[Row] = []
    file.seek(0)

    def records() -> Iterator[Record]:
        try:
            yield from chosen.read(file, options)
        except Unreadable:
            # Of a file of which only the beginning was read, the end cannot be right.
            if is_whole or not rows:
                raise

    found = (record for record in _noticed(records(), notices) if isinstance(record, Item | Link))
    for record in islice(found, _ROWS):
        checked = validation.check(record)
        fields = {
            name: value for name, value in checked.fields.items() if name in (checked.given or ()) or name == "id"
        }
        if isinstance(record, Link):
            fields |= {"requirement": record.requirement, "test_case": record.test_case}
        rows.append(
            {
                "row": record.row,
                "line": record.line,
                "kind": checked.kind,
                "fields": fields,
                "problems": [{"value": None, **problem} for problem in checked.problems],
                "warnings": [{"value": None, **warning} for warning in checked.warnings],
            }
        )
    return rows, notices


def _noticed(records: Iterator[Record], notices: list[Notice]) -> Iterator[Record]:
    for record in records:
        if isinstance(record, Notice):
            notices.append(record)
        yield record

"""Looks at the beginning of a file: what format it has, what its columns may mean, how its first rows would be read.

`python -m catalog_service.exchange.inspection.service`: standard input is a line with a Look as JSON, then the file;
standard output is what it looks like, or why that cannot be said. An archive may end this process without harm.
"""

import asyncio
import logging
import sys
from collections import Counter
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import orjson
from fastapi import Request

from catalog_service.exchange import registry
from catalog_service.exchange.formats import Format, Inspection, ReadOptions
from catalog_service.exchange.inspection.types import Types
from catalog_service.exchange.jobs.options import ReadingQuery
from catalog_service.exchange.jobs.service import problem_of
from catalog_service.exchange.jobs.upload import Received, receive
from catalog_service.exchange.process_limits import limit_process
from catalog_service.exchange.records import Item, Link, Notice, Unreadable
from catalog_service.exchange.tabular.places import Places
from catalog_service.exchange.validation import Validation
from catalog_service.fields.definitions import Fields, ProjectField
from catalog_service.fields.mappings import Fitted
from catalog_service.items.source_urls import SourceUrls
from catalog_service.settings import Settings
from chassis.core.problems import Invalid, Problem, TooLarge
from chassis.files.archives import is_archive
from chassis.web.costly import in_thread
from chassis.web.listing import Row

_log = logging.getLogger(__name__)

_BEGINNING = 1024 * 1024
_MOST_ARCHIVE = 16 * 1024 * 1024
_HEAD = 512
_ARCHIVE_IN_A_THREAD = 16 * 1024
"""Bytes; larger archives may unpack to so much that only a process of its own bounds what is made of it."""
_CPU_SECONDS = 20
_MOST_COMPLAINT = 2000
_TOO_MUCH = (
    "The file could not be looked at: it takes more memory or time than there is for that. Cut it up, or look whether"
    " it is damaged."
)
_LOOKED_AT = (
    "the first MiB, and no more than that is looked at: a closing quote is missing there, or its texts are that long."
    " An import reads all of the file."
)
_ROWS = 20
_READ_ROWS = 200
"""Of each table: as many as its columns are judged by."""
_PLACES = ("line", "column", "offset")


async def beginning(request: Request) -> tuple[BytesIO, Received]:
    """Return the first MiB of the file of a request, an archive as a whole; raises what `receive` does."""
    buffer = bytearray()
    is_whole = False

    async def keep(number: int, data: bytes) -> None:
        nonlocal is_whole
        if number == 0:
            is_whole = is_archive(data)
        if is_whole and len(buffer) + len(data) > _MOST_ARCHIVE:
            raise TooLarge("An archive or workbook of more than 16 MiB is not inspected; import it to see its plan.")
        if is_whole or len(buffer) < _BEGINNING:
            buffer.extend(data)

    received = await receive(request, keep)
    return BytesIO(buffer), received


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at a file, of which there may be only the beginning."""

    format: str
    kind: str
    encoding: str | None
    file_name: str | None
    media_type: str | None
    source_system: str | None
    mapping: dict[str, Any] | None
    sheet: str | None
    header_row: int | None
    delimiter: str | None
    source_url_schemes: tuple[str, ...]
    is_whole: bool
    memory_bytes: int
    fields: tuple[dict[str, Any], ...] = ()
    levels: dict[str, str] = field(default_factory=dict)


def look_at(
    file: BytesIO,
    received: Received,
    query: ReadingQuery,
    fitted: Fitted,
    levels: dict[str, str],
    settings: Settings,
) -> Look:
    """Return how to look at what was received, by a mapping that fits the fields of the project, with its levels."""
    length = file.getbuffer().nbytes
    return Look(
        format=query.format,
        kind=query.kind.value,
        encoding=query.encoding,
        file_name=query.file_name or received.file_name,
        media_type=received.media_type,
        source_system=query.source_system,
        mapping=fitted.mapping,
        fields=tuple(one.model_dump(mode="json") for one in fitted.fields.defined),
        levels=levels,
        sheet=query.sheet,
        header_row=query.header_row,
        delimiter=query.delimiter,
        source_url_schemes=settings.source_url_schemes,
        is_whole=length == received.size and (length != _BEGINNING or is_archive(file.getvalue()[:_HEAD])),
        memory_bytes=settings.import_memory_mib * 1024**2,
    )


async def inspect(file: BytesIO, look: Look) -> Row:
    """Return what a file looks like; an archive, which may unpack to much, is looked at by a process of its own.

    Raises Invalid where it is none of what it says, and UnsupportedMediaType.
    """
    content = file.getvalue()
    if len(content) < _ARCHIVE_IN_A_THREAD or not is_archive(content[:_HEAD]):
        # It looks at no deadline: a file is read up to _BEGINNING.
        return await in_thread(_CPU_SECONDS, lambda _: described(file, look))
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "catalog_service.exchange.inspection.service"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        said, complaint = await child.communicate(orjson.dumps(look, option=orjson.OPT_APPEND_NEWLINE) + content)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        complaint_end = complaint[-_MOST_COMPLAINT:].decode(errors="replace")
        _log.warning("Looking at a file ended with %d: %s", child.returncode, complaint_end)
        raise Invalid(_TOO_MUCH, code="reader_ended")
    answer: dict[str, Any] = orjson.loads(said)
    if "refused" in answer:
        raise problem_of(answer["refused"], answer["members"])
    return answer


def main() -> None:
    """Look at the file of standard input."""
    given = sys.stdin.buffer
    look = Look(**orjson.loads(given.readline()))
    limit_process(look.memory_bytes, _CPU_SECONDS)
    try:
        answer = described(BytesIO(given.read()), look)
    except Problem as problem:
        refused = {"code": problem.code, "detail": problem.detail, "status": problem.status}
        answer = {"refused": refused, "members": problem.members}
    sys.stdout.buffer.write(orjson.dumps(answer, default=str))


def described(file: BytesIO, look: Look) -> Row:
    """Return what a file looks like; raises Invalid where it is none of what it says, and UnsupportedMediaType."""
    is_whole = look.is_whole
    try:
        chosen = (
            registry.recognise(file, look.file_name, look.media_type)
            if look.format == "auto"
            else registry.find(look.format)
        )
        fields = Fields(0, map(ProjectField.model_validate, look.fields))
        options = ReadOptions(
            kind=look.kind,
            encoding=look.encoding,
            file_name=look.file_name,
            source_system=look.source_system,
            mapping=look.mapping,
            sheet=look.sheet,
            header_row=look.header_row,
            delimiter=look.delimiter,
            is_beginning=not is_whole,
            most_rows=_READ_ROWS,
            fields=fields.defined,
            levels=look.levels,
        )
        found = _looked_at(chosen, file, options)
        validation = Validation(
            SourceUrls(look.source_url_schemes),
            "",
            replacing=False,
            restoring=False,
            fields=fields,
            levels=look.levels,
        )
        types = Types()
        rows, notices = _first_rows(chosen, file, options, found, validation, types)
    except Unreadable as error:
        places = {name: getattr(error, name) for name in _PLACES if getattr(error, name) is not None}
        message = error.message
        if error.code == "file_cut_off" and not is_whole:
            message = f"The row that begins in line {error.line} does not end within {_LOOKED_AT}"
        raise Invalid(message, code=error.code, members=places) from None
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
        "parts": found.parts,
        "tables": found.tables,
        "types": found.types or types.described(look.mapping),
        "record_mapping": found.record_mapping,
        "rows": rows,
        "warnings": [*found.warnings, *warnings],
    }


def _looked_at(chosen: Format, file: BytesIO, options: ReadOptions) -> Inspection:
    file.seek(0)
    return Inspection(chosen.name) if chosen.inspect is None else chosen.inspect(file, options)


def _first_rows(
    chosen: Format, file: BytesIO, options: ReadOptions, found: Inspection, validation: Validation, types: Types
) -> tuple[list[Row], list[Notice]]:
    """Return the first records of each table, or of a file without tables, as they would be read; and what is said."""
    notices: list[Notice] = []
    rows: list[Row] = []
    shown: Counter[str | None] = Counter()
    places = Places((part["sheet"], column["position"], column) for part in found.parts for column in part["columns"])
    file.seek(0)
    try:
        for record in chosen.read(file, options):
            if isinstance(record, Notice):
                notices.append(record)
            if not isinstance(record, Item | Link):
                continue
            types.add(record)
            if shown[record.sheet] < _ROWS:
                rows.append(_row(record, validation, places))
                shown[record.sheet] += 1
            elif not found.tables and not types.found:
                break
    except Unreadable:
        # Of a file of which only the beginning was read, the end cannot be right.
        if not (options.is_beginning and rows):
            raise
    return rows, notices


def _row(record: Item | Link, validation: Validation, places: Places) -> Row:
    checked = validation.check(record)
    fields = {name: value for name, value in checked.fields.items() if name in (checked.given or ()) or name == "id"}
    if isinstance(record, Link):
        fields |= {"requirement": record.requirement, "test_case": record.test_case}
    return {
        "row": record.row,
        "line": record.line,
        "sheet": record.sheet,
        "kind": checked.kind,
        "fields": fields,
        "problems": [places.locate(problem, sheet=record.sheet, row=record.row) for problem in checked.problems],
        "warnings": [places.locate(warning, sheet=record.sheet, row=record.row) for warning in checked.warnings],
    }


if __name__ == "__main__":
    main()

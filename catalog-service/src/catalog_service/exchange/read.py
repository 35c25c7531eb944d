"""Reads a file as rows of import_rows: in a thread of a worker, or, what is large, in a process of its own.

`python -m catalog_service.exchange.read`: standard input is a line with an Order as JSON, then the file; standard
output is what `found` yields, each behind its length. A file that kills its reader ends this process alone.
"""

import os
import shutil
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO, cast

import orjson

from catalog_service.exchange import registry
from catalog_service.exchange.formats import Inspection, ReadOptions
from catalog_service.exchange.incomplete import relations_kept
from catalog_service.exchange.process_limits import limit_process
from catalog_service.exchange.readers.items import tells_of_tests
from catalog_service.exchange.records import Document, Item, Notice, Relation, Revision, Unreadable
from catalog_service.exchange.validation import Validation
from catalog_service.fields.definitions import Fields, ProjectField
from catalog_service.items.source_urls import SourceUrls
from chassis.core.full_disks import is_full, no_room_for_files
from chassis.core.problems import Problem
from chassis.core.wording import listed, shown

ROWS, END, ERROR = b"R", b"S", b"E"
"""Rows that are read, see Rows; the summary of a file that was read to its end; why it was not."""

_MOST_TYPES = 5
_ROWS_AT_ONCE = 1000
"""They are stored in one transaction; between two of them a cancellation is noticed."""
_BYTES_AT_ONCE = 4 << 20
"""Of which there are fewer rows if they are long."""
_MOST_BYTES = 1 << 30
"""Of the rows of a file: a name of a suite that is a megabyte long would come to a hundred of these."""
LENGTH = struct.Struct(">Q")
"""Of what follows it in a pipe, in bytes."""
_BLOCK = 256 * 1024
_NICENESS = 10
"""Of the process that reads a large file: requests that people wait for go first."""
_NATIVE_ONLY = "Only a native file, as GET /exports gives with profile=native, can be restored."


@dataclass(frozen=True, slots=True)
class Order:
    """What to read and how, for which job. `format`: its name, or `auto`; `most_rows` None: any number."""

    format: str
    kind: str
    author: str
    job: str = ""
    encoding: str | None = None
    file_name: str | None = None
    media_type: str | None = None
    source_system: str | None = None
    mapping: dict[str, Any] | None = None
    sheet: str | None = None
    header_row: int | None = None
    delimiter: str | None = None
    source_url_schemes: tuple[str, ...] = ()
    fields: tuple[dict[str, Any], ...] = ()
    former_fields: tuple[str, ...] = ()
    levels: dict[str, str] = field(default_factory=dict)
    replacing: bool = False
    restoring: bool = False
    most_rows: int | None = None
    memory_bytes: int = 0
    cpu_seconds: int = 0


@dataclass(slots=True)
class Rows:
    """Lines of COPY that are stored together, how many, and how many bytes of the file are read with them."""

    count: int = 0
    place: int = 0
    lines: bytes = b""

    def encode(self) -> bytes:
        """Return them as `found` yields them."""
        return b"%b%d %d\n%b" % (ROWS, self.count, self.place, self.lines)

    @classmethod
    def decode(cls, content: bytes) -> "Rows":
        """Return what `encode` wrote, without its first byte."""
        head, _, lines = content.partition(b"\n")
        count, _, place = head.partition(b" ")
        return cls(int(count), int(place), lines)


class Notices:
    """What is said of a whole file, by code: of several sheets in one sentence each."""

    _MOST_SENTENCES = 10

    def __init__(self) -> None:
        self._by_code: dict[str, dict[str, Any]] = {}
        self._sentences: dict[str, list[str]] = {}

    def add(self, notice: Notice) -> None:
        """Add a notice."""
        told = self._by_code.setdefault(notice.code, {"count": 0, "unclean": False})
        told["count"] += notice.count
        told["unclean"] |= notice.unclean
        sentences = self._sentences.setdefault(notice.code, [])
        if notice.message not in sentences and len(sentences) < self._MOST_SENTENCES:
            sentences.append(notice.message)

    def has(self, *codes: str) -> bool:
        """Check whether something is said by one of these codes."""
        return not self._by_code.keys().isdisjoint(codes)

    def listed(self) -> list[dict[str, Any]]:
        """Return code, count, message, and whether it keeps the plan from being clean; the most frequent first."""
        told = [
            {"code": code, "row": None, "message": " ".join(self._sentences[code]), **counted}
            for code, counted in self._by_code.items()
        ]
        return sorted(told, key=lambda one: -one["count"])


@dataclass(slots=True)
class _Read:
    """What is known of a file at its end."""

    format: str
    rows: int = 0
    dropped: int = 0
    notices: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] | None = None
    """Of tables: the sheet and the name of each column, and the field that it becomes."""


def found(file: BinaryIO, order: Order) -> Iterator[bytes]:
    """Yield what is in a seekable file, each with a first byte that says what it is; the last is END or ERROR."""
    try:
        yield from _found(file, order)
    except Unreadable as error:
        places = {name: getattr(error, name) for name in ("line", "column", "offset")}
        yield _error(error.code, error.message, 422, {name: at for name, at in places.items() if at is not None})
    except Problem as problem:
        yield _error(problem.code, problem.detail, problem.status, problem.members)
    except MemoryError:
        yield _error("too_large", "This file needs more memory to be read than there is for it; cut it up.", 422)
    except OSError as error:
        if not is_full(error):
            raise
        yield _no_room()


def _found(file: BinaryIO, order: Order) -> Iterator[bytes]:
    if order.format == "auto":
        chosen = registry.recognise(file, order.file_name, order.media_type)
    else:
        chosen = registry.find(order.format)
    if order.restoring and not chosen.is_native:
        raise Unreadable(_NATIVE_ONLY, code="not_restorable")
    file.seek(0)
    job = order.job.encode()
    options = ReadOptions(
        kind=order.kind,
        encoding=order.encoding,
        file_name=order.file_name,
        source_system=order.source_system,
        mapping=order.mapping,
        sheet=order.sheet,
        header_row=order.header_row,
        delimiter=order.delimiter,
        fields=tuple(map(ProjectField.model_validate, order.fields)),
        levels=order.levels,
    )
    validation = Validation(
        SourceUrls(order.source_url_schemes),
        order.author,
        replacing=order.replacing,
        restoring=order.restoring,
        fields=Fields(0, options.fields, order.former_fields),
        levels=order.levels,
    )
    read = _Read(chosen.name)
    notices = Notices()
    relations: Counter[str] = Counter()
    types: dict[str, str] = {}
    lines: list[bytes] = []
    size = total = 0
    for record in chosen.read(file, options):
        if isinstance(record, Notice):
            notices.add(record)
        elif isinstance(record, Document):
            read.documents.append({"name": record.name, "content": record.content})
        elif isinstance(record, Revision) and not order.restoring:
            continue
        elif not _is_wanted(record, order.kind):
            read.dropped += 1
        else:
            read.rows += 1
            if isinstance(record, Item):
                if record.relations:
                    relations[record.kind] += record.relations
                if record.of_type:
                    types[record.of_type] = record.kind
            if order.most_rows is not None and read.rows > order.most_rows:
                message = f"The file has more than {order.most_rows:,} rows, which is the most at once; cut it up."
                raise Unreadable(message, code="too_many_rows", line=getattr(record, "line", None))
            line = b"%b\t%d\t%b" % (job, read.rows, validation.row(record))
            lines.append(line)
            size += len(line)
            total += len(line)
            if total > _MOST_BYTES:
                message = (
                    f"The rows of the file come to more than {_MOST_BYTES >> 30} GiB: each has too long a text, perhaps"
                    " the same, such as a section's name or what a mapping puts in. Shorten it, or cut the file up."
                )
                raise Unreadable(message, code="too_long", line=getattr(record, "line", None))
            if len(lines) == _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
                yield Rows(len(lines), _place(file), b"".join(lines)).encode()
                lines, size = [], 0
    if lines:
        yield Rows(len(lines), _place(file), b"".join(lines)).encode()
    if read.dropped:
        notices.add(Notice("other_kind", "Rows of kinds that were not asked for are left out.", read.dropped))
    if (missed := _no_tests(types)) is not None:
        notices.add(missed)
    for kept in relations_kept(relations):
        notices.add(kept)
    if not read.rows and not notices.has("no_rows", "other_kind"):
        of_kind = "" if order.kind == "all" else f" of the kind that was asked for ({order.kind})"
        message = f"No item and no link{of_kind} is in the file: there is nothing to import."
        notices.add(Notice("no_rows", message, unclean=order.kind == "all" and not chosen.is_native))
    read.notices = notices.listed()
    if chosen.inspect is not None:
        file.seek(0)
        read.columns = _columns(chosen.inspect(file, options))
    yield END + orjson.dumps(
        {
            **{name: getattr(read, name) for name in read.__slots__},
            "warnings": validation.warnings.listed(),
            "defaulted": dict(validation.defaulted),
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _columns(inspection: Inspection) -> list[dict[str, Any]]:
    """Return the columns of all tables that are read; of one that is read in several ways, the field is the first."""
    found: dict[tuple[str | None, int], dict[str, Any]] = {}
    for part in inspection.parts:
        for column in part["columns"]:
            place = (part["sheet"], column["position"])
            known = found.setdefault(place, {"sheet": part["sheet"], "name": column["name"], "field": None})
            known["field"] = known["field"] or column.get("field")
    return list(found.values())


def _is_wanted(record: Any, kind: str) -> bool:
    if kind == "all" or isinstance(record, Revision):
        return True
    if isinstance(record, Relation):
        return kind == "requirements"
    return f"{getattr(record, 'kind', 'link')}s" == kind


def _no_tests(types: Mapping[str, str]) -> Notice | None:
    """Return that no type of a file is of tests, though the name of one is; `types` by what their items became."""
    missed = [name for name in types if tells_of_tests(name)]
    if not missed or "test_case" in types.values():
        return None
    names = listed(map(shown, missed[:_MOST_TYPES]), "and")
    message = f"Everything was read as requirements, and tests are called {names} here: types of the mapping says so."
    return Notice("no_tests_found", message, len(missed), unclean=True)


def _place(file: BinaryIO) -> int:
    with suppress(ValueError, OSError):
        return file.tell()
    return 0


def _no_room() -> bytes:
    problem = no_room_for_files()
    return _error(problem.code, problem.detail, problem.status)


def _error(code: str, message: str, status: int, members: Any = None) -> bytes:
    error = {"code": code, "detail": message, "status": status, **(members or {})}
    return ERROR + orjson.dumps(error, default=str, option=orjson.OPT_APPEND_NEWLINE)


def main() -> None:
    """Read the order and the file from standard input, and write what is found to standard output."""
    given = sys.stdin.buffer
    order = Order(**orjson.loads(given.readline()))
    limit_process(order.memory_bytes, order.cpu_seconds)
    with suppress(OSError):
        os.nice(_NICENESS)
    try:
        spool = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - closed below
    except OSError:  # a container without a folder to write to
        spool = BytesIO()
    with open(sys.stdout.fileno(), "wb", buffering=_BLOCK, closefd=False) as out:
        for each in _found_in(spool, given, order):
            out.write(LENGTH.pack(len(each)))
            out.write(each)


def _found_in(spool: BinaryIO, given: BinaryIO, order: Order) -> Iterator[bytes]:
    try:
        with spool as file:
            shutil.copyfileobj(given, file, _BLOCK)
            file.seek(0)
            yield from found(file, order)
    except OSError as error:
        if not is_full(error):
            raise
        yield _no_room()


if __name__ == "__main__":
    main()

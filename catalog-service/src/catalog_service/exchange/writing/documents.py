"""The forms of an export; each takes the records as they come."""

import csv
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from enum import Enum
from io import StringIO
from typing import IO, TYPE_CHECKING, Any, ClassVar, Protocol

import orjson

from catalog_service.exchange.layout import LEVEL, SCHEMA, SECTIONS, VERSION
from catalog_service.exchange.layout import MARK as NATIVE_MARK
from catalog_service.exchange.native.schemas import schema_lines
from catalog_service.exchange.native.writing import NativeJson, NativeLines
from catalog_service.exchange.reqif.writer import ReqifArchiveWriter, ReqifWriter
from catalog_service.exchange.tabular.archive import MANIFEST
from catalog_service.exchange.tabular.formulas import MARK, encode_row
from catalog_service.exchange.tabular.own import (
    COVER,
    LONG_TEXT_COLUMNS,
    LONG_TEXTS,
    REFERENCE,
    SHEETS,
    is_reference,
    reference_to,
)
from catalog_service.exchange.writing.scope import About
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, cell, text_cells
from chassis.files.archive_writing import begin_entry, write_archive

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook as Frame
    from xlsxwriter.worksheet import Worksheet

_LONG = 8_000
"""Letters of a row of a table that are no longer looked at one by one."""
_LONGEST_TEXT = 32_767
"""Of a cell of a workbook, in units of UTF-16."""
_PART = _LONGEST_TEXT // 2
_LONG_TEXT_COLUMNS = (*LONG_TEXT_COLUMNS, MARK)


class Rows(Enum):
    """How a document is given records: each as one text of JSON, or as a row of cells, each a text or None.

    REQIF: cells of what ReqIF has a place for.
    """

    JSON = "json"
    CELLS = "cells"
    REQIF = "reqif"


class ExportDocument(Protocol):
    """A document under way: begun with what it is about, given the records kind by kind, finished, closed.

    It is written to `file`; `folder` is there for what it needs until it is closed. `is_whole`: whether it is always
    given ids, versions and times, and the documents that imports of ReqIF have left.
    """

    media_type: ClassVar[str]
    suffix: ClassVar[str]
    rows: ClassVar[Rows]
    is_whole: ClassVar[bool]

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None: ...

    def write(self, kind: str, rows: Sequence[Any]) -> None:
        """Take some more records of a kind."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Release what it holds, finished or not; the file stays open."""


class NdjsonExport:
    """A line a record, between a head and an end."""

    media_type: ClassVar[str] = NativeLines.media_type
    suffix: ClassVar[str] = "ndjson"
    rows: ClassVar[Rows] = Rows.JSON
    is_whole: ClassVar[bool] = False
    _native: ClassVar[type[NativeLines]] = NativeLines

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._schemas = schema_lines(about.schemas)
        counts = {**about.counts, SECTIONS[SCHEMA]: len(self._schemas)}
        if about.levels:
            counts[SECTIONS[LEVEL]] = len(about.levels)
        self._document = self._native(file, {**about.head, "counts": counts})
        self._document.write(LEVEL, [orjson.dumps({"kind": LEVEL, **level}).decode() for level in about.levels])

    def write(self, kind: str, rows: Sequence[str]) -> None:
        """See ExportDocument.write."""
        self._document.write(kind, rows)

    def finish(self) -> None:
        """See ExportDocument.finish."""
        self._document.write(SCHEMA, self._schemas)
        self._document.finish()

    def close(self) -> None:
        """See ExportDocument.close."""


class JsonExport(NdjsonExport):
    """The same as one object."""

    media_type: ClassVar[str] = NativeJson.media_type
    suffix: ClassVar[str] = "json"
    _native: ClassVar[type[NativeLines]] = NativeJson


class CsvExport:
    """A table, in UTF-8 with a byte order mark, without which Excel takes it for another encoding."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"
    suffix: ClassVar[str] = "csv"
    rows: ClassVar[Rows] = Rows.CELLS
    is_whole: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._file = file
        (columns,) = about.columns.values()
        file.write(BOM_UTF8)
        _write_table(file, [(*columns, MARK)])

    def write(self, kind: str, rows: Sequence[Sequence[str | None]]) -> None:
        """See ExportDocument.write."""
        _write_table(self._file, map(encode_row, rows))

    def finish(self) -> None:
        """See ExportDocument.finish."""

    def close(self) -> None:
        """See ExportDocument.close."""


class CsvArchiveExport:
    """A zip with a table a kind, and a manifest that says what they are."""

    media_type: ClassVar[str] = "application/zip"
    suffix: ClassVar[str] = "csv.zip"
    rows: ClassVar[Rows] = Rows.CELLS
    is_whole: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._archive = write_archive(file)
        self._about = about
        self._left = list(about.columns)
        self._kind = ""
        self._table: IO[bytes] | None = None
        manifest = {NATIVE_MARK: VERSION, **about.head, "files": {f"{SECTIONS[kind]}.csv": kind for kind in self._left}}
        self._archive.writestr(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))

    def write(self, kind: str, rows: Sequence[Sequence[str | None]]) -> None:
        """See ExportDocument.write."""
        while self._kind != kind:
            self._next()
        assert self._table is not None
        _write_table(self._table, map(encode_row, rows))

    def finish(self) -> None:
        """See ExportDocument.finish."""
        while self._left:
            self._next()
        self.close()

    def close(self) -> None:
        """See ExportDocument.close."""
        if self._table is not None:
            self._table.close()
            self._table = None
        self._archive.close()

    def _next(self) -> None:
        if self._table is not None:
            self._table.close()
        self._kind = self._left.pop(0)
        self._table = begin_entry(self._archive, f"{SECTIONS[self._kind]}.csv", self._about.exported_at)
        self._table.write(BOM_UTF8)
        _write_table(self._table, [(*self._about.columns[self._kind], MARK)])


class XlsxExport:
    """A sheet a kind, one for the texts that no cell can hold, and one that says what the workbook is."""

    media_type: ClassVar[str] = MEDIA_TYPE
    suffix: ClassVar[str] = "xlsx"
    rows: ClassVar[Rows] = Rows.CELLS
    is_whole: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._about = about
        self._columns = {kind: (*columns, MARK) for kind, columns in about.columns.items()}
        self._long_texts = 0
        sheets = [(SHEETS[kind], columns) for kind, columns in self._columns.items()]
        self._book = Workbook(file, folder, Cover(COVER, about.exported_at, {"Traceline": self._say}), *sheets)

    def write(self, kind: str, rows: Sequence[Sequence[str | None]]) -> None:
        """See ExportDocument.write."""
        columns = self._columns[kind]
        for row in rows:
            cells = row
            texts = "\n".join(filter(None, row))
            if len(texts) > _PART or REFERENCE in texts:
                cells = [
                    self._write_long(row, column, text) if text and (_is_long(text) or is_reference(text)) else text
                    for column, text in zip(columns, row, strict=False)
                ]
            self._book.add(SHEETS[kind], columns, text_cells(cells))

    def _write_long(self, row: Sequence[str | None], field: str, text: str) -> str:
        """Write a text that no cell can hold, and return what its cell says."""
        self._long_texts += 1
        item = next(filter(None, row), "")[:100]
        for part, begin in enumerate(range(0, len(text), _PART), start=1):
            cells = (self._long_texts, item, field, part, text[begin : begin + _PART])
            self._book.add(LONG_TEXTS, _LONG_TEXT_COLUMNS, map(cell, cells))
        return reference_to(self._long_texts)

    def finish(self) -> None:
        """See ExportDocument.finish."""
        self._book.finish()

    def close(self) -> None:
        """See ExportDocument.close."""
        self._book.close()

    def _say(self, _: "Frame", worksheet: "Worksheet", head: "Format") -> None:
        worksheet.set_column(0, 1, 30)
        for row, (name, value) in enumerate({NATIVE_MARK: VERSION, **self._about.head}.items()):
            worksheet.write_string(row, 0, name, head)
            worksheet.write_string(row, 1, value if isinstance(value, str) else orjson.dumps(value).decode())


class ReqifExport:
    """ReqIF 1.2: what came from it as it was, with what people have changed."""

    media_type: ClassVar[str] = ReqifWriter.media_type
    suffix: ClassVar[str] = "reqif"
    rows: ClassVar[Rows] = Rows.REQIF
    is_whole: ClassVar[bool] = True
    _writer: ClassVar[type[ReqifWriter]] = ReqifWriter

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._document = self._writer(
            file, about.schemas, exported_at=about.exported_at, with_relations=about.counts.get("relations", 0) > 0
        )

    def write(self, kind: str, rows: Sequence[Sequence[str | None]]) -> None:
        """See ExportDocument.write."""
        self._document.write(kind, rows)

    def finish(self) -> None:
        """See ExportDocument.finish."""
        self._document.finish()

    def close(self) -> None:
        """See ExportDocument.close."""
        self._document.close()


class ReqifArchiveExport(ReqifExport):
    """The same, compressed."""

    media_type: ClassVar[str] = ReqifArchiveWriter.media_type
    suffix: ClassVar[str] = "reqifz"
    _writer: ClassVar[type[ReqifWriter]] = ReqifArchiveWriter


def _is_long(text: str) -> bool:
    return len(text) > _PART and len(text.encode("utf-16-le")) > 2 * _LONGEST_TEXT


def _write_table(file: IO[bytes], rows: Iterable[Sequence[str | None]]) -> None:
    text = StringIO(newline="")
    writer = csv.writer(text)
    for row in rows:
        if sum(map(len, filter(None, row))) > _LONG:
            # Long rows go out one by one: each step with one of them is as long as others wait.
            file.write(text.getvalue().encode())
            text.seek(0)
            text.truncate()
            file.write((",".join(map(_quote, row)) + "\r\n").encode())
        else:
            writer.writerow(row)
    file.write(text.getvalue().encode())


def _quote(cell: str | None) -> str:
    """Return a cell as csv.writer does, which looks at each letter and lets nobody in meanwhile."""
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if any(map(cell.__contains__, ',"\r\n')) else cell

"""The matrix as an Excel workbook, its lines written one by one in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, ClassVar
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from catalog_service.reports.formats import COLUMNS, lines
from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import PROJECT, About

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

_LAST_ROW = 1_048_575
_BLOCK = 256 * 1024
_DIMENSION = re.compile(rb'(<dimension ref="A1:[A-Z]+)1')
_ID_WIDTH, _TITLE_WIDTH, _WIDTH = 38, 50, 16
_ORPHAN_COLUMNS = ("external_id", "title", "module", "type", "priority", "status", "id")

# What XML cannot hold is spelled _xHHHH_ in a workbook, and so is the beginning of what looks like that.
_SPECIAL = re.compile(r"[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class _Sheet:
    """The lines of a sheet below its head, in a file of their own until the workbook is put together."""

    def __init__(self, name: str, columns: Sequence[str], folder: str) -> None:
        self.name = name
        self.columns = columns
        self.rows = 1
        self.file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the document

    def add(self, cells: Iterable[str]) -> None:
        """Add a line."""
        self.rows += 1
        self.file.write(f'<row r="{self.rows}">{"".join(cells)}</row>'.encode())


class XlsxMatrix:
    """Sheets "Matrix" and "Orphan test cases" (as many as their lines need), and "Summary" behind the first.

    A text is a text, never a formula or a link.
    """

    media_type: ClassVar[str] = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, file: IO[bytes], folder: str, about: About, *, last_row: int = _LAST_ROW) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        self._file = file
        self._folder = folder
        self._about = about
        self._last_row = last_row
        self._sheets = [_Sheet("Matrix", COLUMNS, folder)]

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """See MatrixDocument.write."""
        for line in lines(rows, _cell):
            self._sheet("Matrix", COLUMNS).add(line)

    def write_orphans(self, rows: Sequence[UnlinkedItem]) -> None:
        """See MatrixDocument.write_orphans."""
        orphans: Sequence[Mapping[str, Any]] = rows
        for row in orphans:
            cells = (_cell(row[name]) for name in _ORPHAN_COLUMNS)
            self._sheet("Orphan test cases", _ORPHAN_COLUMNS).add(cells)

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        # xlsxwriter takes ten times as long for a cell: too long for some hundred thousand lines. It makes a workbook
        # of the heads, into which the lines are put.
        with ZipFile(self._frame()) as frame, ZipFile(self._file, "w", ZIP_DEFLATED) as book:
            sheets = {f"xl/worksheets/sheet{number}.xml": sheet for number, sheet in self._numbered()}
            for entry in frame.infolist():
                content = frame.read(entry)
                if entry.filename not in sheets:
                    book.writestr(entry, content, ZIP_DEFLATED)
                    continue
                sheet = sheets[entry.filename]
                whole = ZipInfo(entry.filename, entry.date_time)
                whole.compress_type = ZIP_DEFLATED
                head, end, rest = content.partition(b"</sheetData>")
                with sheet.file, book.open(whole, "w", force_zip64=True) as target:
                    target.write(_DIMENSION.sub(rf"\g<1>{sheet.rows}".encode(), head))
                    sheet.file.seek(0)
                    copyfileobj(sheet.file, target, _BLOCK)
                    target.write(end + rest)

    def close(self) -> None:
        """See MatrixDocument.close."""
        for sheet in self._sheets:
            sheet.file.close()

    def _sheet(self, name: str, columns: Sequence[str]) -> _Sheet:
        """Return the sheet that the next line of the sheets `name` goes to."""
        sheet = self._sheets[-1]
        if sheet.columns is not columns:
            self._sheets.append(_Sheet(name, columns, self._folder))
        elif sheet.rows > self._last_row:
            number = sum(other.columns is columns for other in self._sheets) + 1
            self._sheets.append(_Sheet(f"{name} {number}", columns, self._folder))
        return self._sheets[-1]

    def _numbered(self) -> Iterator[tuple[int, _Sheet]]:
        """Return the sheets with their numbers in the workbook, in which the second is the summary."""
        return ((number + (number > 1), sheet) for number, sheet in enumerate(self._sheets, start=1))

    def _frame(self) -> BytesIO:
        """Return the workbook without lines."""
        import xlsxwriter  # a tenth of the time that the program needs to start

        frame = BytesIO()
        with xlsxwriter.Workbook(frame, {"constant_memory": True, "tmpdir": self._folder}) as book:
            book.set_properties({"title": "Traceability matrix", "created": self._about.made_at.replace(tzinfo=None)})
            head = book.add_format({"bold": True, "bg_color": "#DDE5EE", "bottom": 1})
            percent = book.add_format({"num_format": "0.0%", "align": "left"})
            for number, sheet in self._numbered():
                _write_head(book.add_worksheet(sheet.name), sheet, head)
                if number == 1:
                    _write_summary(book.add_worksheet("Summary"), self._about, head, percent)
        return frame


def _write_head(worksheet: Worksheet, sheet: _Sheet, head: Format) -> None:
    worksheet.freeze_panes(1, 0)
    worksheet.set_landscape()
    worksheet.repeat_rows(0)
    for column, name in enumerate(sheet.columns):
        worksheet.set_column(column, column, _width(name))
        worksheet.write_string(0, column, _title(name), head)
    worksheet.autofilter(0, 0, sheet.rows - 1, len(sheet.columns) - 1)


def _write_summary(worksheet: Worksheet, about: About, head: Format, percent: Format) -> None:
    worksheet.set_column(0, 1, 24)
    worksheet.write_string(0, 0, "Traceability matrix", head)
    worksheet.write_string(0, 1, f"{about.made_at:%Y-%m-%d %H:%M} UTC", head)
    said = [("Project", PROJECT), ("Filters", about.filter_text), *(("Note", note) for note in about.notes)]
    for row, (name, text) in enumerate(said, start=1):
        worksheet.write_string(row, 0, name)
        worksheet.write_string(row, 1, text)
    for row, (name, value) in enumerate(about.summary.items(), start=1 + len(said)):
        worksheet.write_string(row, 0, _title(name))
        worksheet.write_number(row, 1, value, percent if name == "coverage" else None)


def _width(column: str) -> int:
    if column.endswith("title"):
        return _TITLE_WIDTH
    return _ID_WIDTH if re.fullmatch("(requirement_|test_case_|link_)?id", column) else _WIDTH


def _title(name: str) -> str:
    return re.sub(r" id$", " ID", name.replace("_", " ").capitalize())


def _cell(value: Any) -> str:
    """Return a cell in the XML of a sheet; its place is that in its row."""
    # Most cells are texts, and most of these as they are.
    if not isinstance(value, str):
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{value:d}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value!r}</v></c>"
        value = str(value)
    text = _SPECIAL.sub(_escaped, value)
    if value == value.strip():
        return f'<c t="inlineStr"><is><t>{text}</t></is></c>'
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return _ENTITIES.get(character) or f"_x{ord(character):04X}_"

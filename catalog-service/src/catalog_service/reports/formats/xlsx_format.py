"""The matrix as an Excel workbook, its lines written one by one in constant memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, ClassVar

from catalog_service.reports.formats import COLUMNS, lines
from catalog_service.reports.scope import PROJECT, About
from chassis.web.listing import Row

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

_LAST_ROW = 1_048_575
_ID_WIDTH, _TITLE_WIDTH, _WIDTH = 38, 50, 16
_ORPHAN_COLUMNS = ("external_id", "title", "module", "type", "priority", "status", "id")

# What XML cannot hold is spelled _xHHHH_ in a workbook, and so is the beginning of what looks like that.
_SPECIAL = re.compile(r"[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class XlsxMatrix:
    """Sheets "Matrix" and "Orphan test cases" (as many as their lines need), and "Summary" behind the first.

    A text is a text, never a formula or a link.
    """

    media_type: ClassVar[str] = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, file: IO[bytes], folder: str, about: About, *, last_row: int = _LAST_ROW) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        import xlsxwriter  # a tenth of the time that the program needs to start

        self._book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": folder})
        self._book.use_zip64()
        self._book.set_properties({"title": "Traceability matrix", "created": about.made_at.replace(tzinfo=None)})
        self._head = self._book.add_format({"bold": True, "bg_color": "#DDE5EE", "bottom": 1})
        self._percent = self._book.add_format({"num_format": "0.0%", "align": "left"})
        self._last_row = last_row
        self._begin("Matrix", COLUMNS)
        self._write_summary(about)

    def write(self, rows: Sequence[Row]) -> None:
        """See MatrixDocument.write."""
        # xlsxwriter takes ten times as long for a cell: too long for some hundred thousand lines.
        for line in lines(rows, _cell):
            self._add(line)

    def write_orphans(self, rows: Sequence[Row]) -> None:
        """See MatrixDocument.write_orphans."""
        if self._columns is not _ORPHAN_COLUMNS:
            self._end_sheet()
            self._begin("Orphan test cases", _ORPHAN_COLUMNS)
        for row in rows:
            self._add([_cell(row[name]) for name in _ORPHAN_COLUMNS])

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        self._end_sheet()
        self._book.close()

    def close(self) -> None:
        """See MatrixDocument.close."""
        for sheet in self._book.worksheets():
            sheet.row_data_fh.close()

    def _begin(self, name: str, columns: Sequence[str]) -> None:
        self._name, self._columns, self._sheets = name, columns, 0
        self._sheet = self._new_sheet()

    def _add(self, line: Sequence[str]) -> None:
        if self._row > self._last_row:
            self._end_sheet()
            self._sheet = self._new_sheet()
        self._row += 1
        self._sheet.row_data_fh.write(f'<row r="{self._row}">{"".join(line)}</row>')

    def _end_sheet(self) -> None:
        self._sheet.dim_rowmax = self._row - 1
        self._sheet.autofilter(0, 0, self._row - 1, len(self._columns) - 1)

    def _new_sheet(self) -> Worksheet:
        self._sheets += 1
        sheet = self._book.add_worksheet(self._name if self._sheets == 1 else f"{self._name} {self._sheets}")
        sheet.freeze_panes(1, 0)
        sheet.set_landscape()
        sheet.repeat_rows(0)
        for column, name in enumerate(self._columns):
            sheet.set_column(column, column, _width(name))
        for column, name in enumerate(self._columns):
            sheet.write_string(0, column, _title(name), self._head)
        # The head goes to the file, before the lines that are written there.
        sheet._write_single_row(1)
        self._row = 1
        return sheet

    def _write_summary(self, about: About) -> None:
        sheet = self._book.add_worksheet("Summary")
        sheet.set_column(0, 1, 24)
        sheet.write_string(0, 0, "Traceability matrix", self._head)
        sheet.write_string(0, 1, f"{about.made_at:%Y-%m-%d %H:%M} UTC", self._head)
        said = [("Project", PROJECT), ("Filters", about.filter_text), *(("Note", note) for note in about.notes)]
        for row, (name, text) in enumerate(said, start=1):
            sheet.write_string(row, 0, name)
            sheet.write_string(row, 1, text)
        for row, (name, value) in enumerate(about.summary.items(), start=1 + len(said)):
            sheet.write_string(row, 0, _title(name))
            sheet.write_number(row, 1, value, self._percent if name == "coverage" else None)


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

"""The matrix as an Excel workbook, written row by row in constant memory."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import IO, Any, ClassVar

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from catalog_service.listing import Row
from catalog_service.reports.formats import COLUMNS, lines

_LAST_ROW = 1_048_575
_WIDTHS = {"requirement_title": 50, "test_case_title": 50, "requirement_id": 14, "test_case_id": 14, "link_id": 14}


class XlsxMatrix:
    """Sheets "Matrix" (as many as its lines need) and "Summary". A text is a text, never a formula or a link."""

    media_type: ClassVar[str] = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    headers: ClassVar[dict[str, str]] = {}

    def __init__(
        self, file: IO[bytes], folder: str, summary: Row, made_at: datetime, *, last_row: int = _LAST_ROW
    ) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": folder})
        self._book.use_zip64()
        self._book.set_properties({"title": "Traceability matrix", "created": made_at.replace(tzinfo=None)})
        self._head = self._book.add_format({"bold": True, "bg_color": "#DDE5EE", "bottom": 1})
        self._percent = self._book.add_format({"num_format": "0.0%", "align": "left"})
        self._last_row = last_row
        self._sheets = 0
        self._sheet = self._new_sheet()
        self._write_summary(summary, made_at)

    def write(self, rows: Sequence[Row]) -> None:
        """See MatrixDocument.write."""
        for line in lines(rows):
            if self._row > self._last_row:
                self._sheet = self._new_sheet()
            for column, value in enumerate(line):
                _write_cell(self._sheet, self._row, column, value)
            self._row += 1

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        self._book.close()

    def close(self) -> None:
        """See MatrixDocument.close."""
        for sheet in self._book.worksheets():
            sheet.row_data_fh.close()

    def _new_sheet(self) -> Worksheet:
        self._sheets += 1
        sheet = self._book.add_worksheet("Matrix" if self._sheets == 1 else f"Matrix {self._sheets}")
        sheet.freeze_panes(1, 0)
        sheet.set_landscape()
        sheet.repeat_rows(0)
        for column, name in enumerate(COLUMNS):
            sheet.set_column(column, column, _WIDTHS.get(name, 16))
        for column, name in enumerate(COLUMNS):
            sheet.write_string(0, column, _title(name), self._head)
        self._row = 1
        return sheet

    def _write_summary(self, summary: Row, made_at: datetime) -> None:
        sheet = self._book.add_worksheet("Summary")
        sheet.set_column(0, 1, 24)
        sheet.write_string(0, 0, "Traceability matrix", self._head)
        sheet.write_string(0, 1, f"{made_at:%Y-%m-%d %H:%M} UTC", self._head)
        for row, (name, value) in enumerate(summary.items(), start=1):
            sheet.write_string(row, 0, _title(name))
            number_format = self._percent if name == "coverage" else None
            _write_cell(sheet, row, 1, value, number_format)


def _title(name: str) -> str:
    return re.sub(r" id$", " ID", name.replace("_", " ").capitalize())


def _write_cell(sheet: Worksheet, row: int, column: int, value: Any, cell_format: Format | None = None) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value, cell_format)
    elif value is not None:
        text = str(value)
        # xlsxwriter takes such a text for markup of its own and would not escape it.
        if text.startswith("<r>") and text.endswith("</r>"):
            text += " "
        sheet.write_string(row, column, text)

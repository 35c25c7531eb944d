"""The matrix as an Excel workbook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, ClassVar

from catalog_service.reports.formats import columns, lines
from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About
from catalog_service.workbook import LAST_ROW, MEDIA_TYPE, Cover, Workbook, cell

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook as Frame
    from xlsxwriter.worksheet import Worksheet

_ORPHAN_COLUMNS = ("external_id", "title", "module", "type", "priority", "status", "id")


class XlsxMatrix:
    """Sheets "Matrix" and "Orphan test cases" (as many as their lines need), and "Summary" behind the first."""

    media_type: ClassVar[str] = MEDIA_TYPE
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, file: IO[bytes], folder: str, about: About, *, last_row: int = LAST_ROW) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        self._about = about
        self._columns = columns(about)
        cover = Cover("Traceability matrix", about.made_at, {"Summary": self._summary}, _title)
        self._book = Workbook(file, folder, cover, ("Matrix", self._columns), last_row=last_row)

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """See MatrixDocument.write."""
        for line in lines(rows, cell, self._about):
            self._book.add("Matrix", self._columns, line)

    def write_orphans(self, rows: Sequence[UnlinkedItem]) -> None:
        """See MatrixDocument.write_orphans."""
        orphans: Sequence[Mapping[str, Any]] = rows
        for row in orphans:
            self._book.add("Orphan test cases", _ORPHAN_COLUMNS, (cell(row[name]) for name in _ORPHAN_COLUMNS))

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        self._book.finish()

    def close(self) -> None:
        """See MatrixDocument.close."""
        self._book.close()

    def _summary(self, book: Frame, worksheet: Worksheet, head: Format) -> None:
        about, percent = self._about, book.add_format({"num_format": "0.0%", "align": "left"})
        worksheet.set_column(0, 1, 24)
        worksheet.write_string(0, 0, "Traceability matrix", head)
        worksheet.write_string(0, 1, f"{about.made_at:%Y-%m-%d %H:%M} UTC", head)
        said = [("Project", about.project), ("Filters", about.filter_text), *(("Note", note) for note in about.notes)]
        for row, (name, text) in enumerate(said, start=1):
            worksheet.write_string(row, 0, name)
            worksheet.write_string(row, 1, text)
        for row, (name, value) in enumerate(about.summary.items(), start=1 + len(said)):
            worksheet.write_string(row, 0, _title(name))
            worksheet.write_number(row, 1, value, percent if name == "coverage" else None)


def _title(name: str) -> str:
    return re.sub(r" id$", " ID", name.replace("_", " ").capitalize())

"""The matrix as an Excel workbook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, ClassVar

from catalog_service.reports.formats import columns, lines
from catalog_service.reports.formats.html_format import TITLE
from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About
from catalog_service.workbook import LAST_ROW, MEDIA_TYPE, Cover, Workbook, cell

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook as Frame
    from xlsxwriter.worksheet import Worksheet

_ORPHAN_COLUMNS = ("external_id", "title", "module", "type", "priority", "status", "id")


class XlsxMatrix:
    """Sheets "Summary", "Matrix" and "Orphan test cases" (as many as their lines need); ids are hidden at the end."""

    media_type: ClassVar[str] = MEDIA_TYPE
    headers: ClassVar[dict[str, str]] = {}
    gaps_first: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: About, *, last_row: int = LAST_ROW) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        self._about = about
        names = columns(about)
        self._columns = ids_last(names)
        self._in_order = itemgetter(*map(names.index, self._columns))
        cover = Cover(TITLE, about.front.made_at, {"Summary": self._summary}, _title, leads=True, hidden=is_id)
        self._book = Workbook(file, folder, cover, ("Matrix", self._columns), last_row=last_row)

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """See MatrixDocument.write."""
        for line in lines(rows, cell, self._about):
            self._book.add("Matrix", self._columns, self._in_order(line))

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
        first = write_front(book, worksheet, head, TITLE, [*about.front.facts, *(("Note", one) for one in about.notes)])
        number = book.add_format({"num_format": "#,##0", "align": "left"})
        for row, (name, value) in enumerate(about.summary.items(), start=first):
            worksheet.write_string(row, 0, _title(name))
            worksheet.write_number(row, 1, value, percent if name == "coverage" else number)


def write_front(book: Frame, worksheet: Worksheet, head: Format, title: str, facts: Sequence[tuple[str, str]]) -> int:
    """Write what a report says of itself on a sheet; return the first row below it, where its figures stand."""
    wrapped = book.add_format({"text_wrap": True, "valign": "top", "align": "left"})
    worksheet.set_column(0, 0, 24)
    worksheet.set_column(1, 1, 90)
    worksheet.write_string(0, 0, title, head)
    worksheet.write_string(0, 1, "", head)
    for row, (name, text) in enumerate(facts, start=1):
        worksheet.write_string(row, 0, name, wrapped)
        worksheet.write_string(row, 1, text, wrapped)
    return len(facts) + 2


def ids_last(names: Sequence[str]) -> tuple[str, ...]:
    """Return columns with the ids, which people do not read, behind all others."""
    return tuple(sorted(names, key=is_id))


def is_id(name: str) -> bool:
    """Check whether a column has ids of this program, which are hidden."""
    return (name == "id" or name.endswith("_id")) and not name.endswith("external_id")


def _title(name: str) -> str:
    return re.sub(r" id$", " ID", name.replace("_", " ").capitalize())

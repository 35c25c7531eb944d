"""The matrix as CSV (RFC 4180), such that spreadsheet programs read it right and execute none of it."""

import re
from collections.abc import Iterable, Sequence
from typing import IO, Any, ClassVar

from catalog_service.reports.formats import columns, lines, orphan_lines
from catalog_service.reports.formats.document import csv_text
from catalog_service.reports.front import Front
from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About

# What is passed over to get to a formula differs from program to program; full-width signs are read as plain ones.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA = rf"""[\s"'\ufeff\u200b]*[{_SIGNS}]"""
_BEGINS = re.compile(rf"[\t\r]|{_FORMULA}")
_GOES_ON = re.compile(rf"([;|\t\r\n])(?={_FORMULA})")
"""Where a program that takes another separator for the comma would begin a cell."""
_HARMLESS = re.compile(rf"""[^\s"'\ufeff\u200b;|{_SIGNS}][^;|\t\r\n]*""")
"""Almost every cell: neither of the two is found in it, and this takes a quarter of the time."""

BYTE_ORDER_MARK = "\ufeff"


class CsvMatrix:
    """Lines end in CRLF; UTF-8 with a byte order mark, without which Excel takes it for another encoding."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"
    headers: ClassVar[dict[str, str]] = {}
    gaps_first: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._file = file
        file.write(csv_beginning(about.front, about.notes).encode())
        self._columns, self._of = columns(about), about
        self._write([self._columns])

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """See MatrixDocument.write."""
        self._write(lines(rows, cell, self._of))

    def write_orphans(self, rows: Sequence[UnlinkedItem]) -> None:
        """See MatrixDocument.write_orphans."""
        self._write(orphan_lines(rows, cell, self._columns))

    def finish(self) -> None:
        """See MatrixDocument.finish."""

    def close(self) -> None:
        """See MatrixDocument.close."""

    def _write(self, table: Iterable[Sequence[object]]) -> None:
        self._file.write(csv_text(table).encode())


def csv_beginning(front: Front, notes: Sequence[str] = ()) -> str:
    """Return what stands above the columns: the byte order mark, and of what the table is where that was asked for."""
    comment = front.comment(notes)
    return BYTE_ORDER_MARK + (csv_text([(cell(comment),)]) if comment else "")


def cell(value: Any) -> object:
    """Return a value as a cell of CSV that no spreadsheet program runs."""
    # An apostrophe keeps a spreadsheet program from running the text of a cell as a formula.
    if isinstance(value, str):
        if _HARMLESS.fullmatch(value):
            return value
        text = _GOES_ON.sub(r"\1'", value)
        return f"'{text}" if _BEGINS.match(text) else text
    if isinstance(value, bool):
        return "true" if value else "false"
    return value

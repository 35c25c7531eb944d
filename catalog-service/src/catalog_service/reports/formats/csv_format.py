"""The matrix as CSV (RFC 4180), such that spreadsheet programs read it right and execute none of it."""

from collections.abc import Iterable, Sequence
from typing import IO, ClassVar

from catalog_service.reports.formats import columns, lines, orphan_lines
from catalog_service.reports.front import Front
from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About
from chassis.files.csv_writing import BYTE_ORDER_MARK, cell, csv_text


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

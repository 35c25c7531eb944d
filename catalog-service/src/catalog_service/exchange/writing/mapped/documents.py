"""The forms of an export for another tool."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO, ClassVar, Protocol

from catalog_service.exchange.writing.mapped.people import guard
from catalog_service.exchange.writing.mapped.table import MappedTable
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, text_cells
from chassis.files.csv_writing import BYTE_ORDER_MARK, csv_text

LONGEST_CELL = 32_767
"""Letters that a cell of a workbook has at most."""


class MappedDocument(Protocol):
    """A table under way: begun with its header, given rows, finished, closed."""

    media_type: ClassVar[str]
    suffix: ClassVar[str]

    def __init__(self, file: IO[bytes], folder: str, table: MappedTable) -> None: ...

    def write(self, rows: Sequence[Sequence[str]]) -> None:
        """Take some more rows."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Release what it holds, finished or not; the file stays open."""


class MappedCsv:
    """A table in UTF-8, without marks of our own."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"
    suffix: ClassVar[str] = "csv"

    def __init__(self, file: IO[bytes], folder: str, table: MappedTable) -> None:
        self._file = file
        file.write(BYTE_ORDER_MARK.encode())
        self.write([table.header])

    def write(self, rows: Sequence[Sequence[str]]) -> None:
        """See MappedDocument.write."""
        for some in _portions(rows):
            self._file.write(csv_text([list(map(guard, row)) for row in some]).encode())

    def finish(self) -> None:
        """See MappedDocument.finish."""

    def close(self) -> None:
        """See MappedDocument.close."""


class MappedWorkbook:
    """A workbook with one sheet."""

    media_type: ClassVar[str] = MEDIA_TYPE
    suffix: ClassVar[str] = "xlsx"

    def __init__(self, file: IO[bytes], folder: str, table: MappedTable) -> None:
        self._name = f"{table.kind.label.capitalize()}s"
        self._columns = table.header
        cover = Cover(self._name, datetime.now(UTC), {})
        self._book = Workbook(file, folder, cover, (self._name, self._columns))

    def write(self, rows: Sequence[Sequence[str]]) -> None:
        """See MappedDocument.write; what is longer than a cell may be is cut."""
        for row in rows:
            self._book.add(self._name, self._columns, text_cells([cell[:LONGEST_CELL] for cell in row]))

    def finish(self) -> None:
        """See MappedDocument.finish."""
        self._book.finish()

    def close(self) -> None:
        """See MappedDocument.close."""
        self._book.close()


def _portions(rows: Sequence[Sequence[str]], most: int = 20) -> Iterator[Sequence[Sequence[str]]]:
    """Yield rows some at a time: what is written in one step lets nobody in meanwhile."""
    for begin in range(0, len(rows), most):
        yield rows[begin : begin + most]

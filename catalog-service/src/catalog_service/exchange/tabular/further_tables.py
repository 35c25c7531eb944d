"""Finds where another table begins below the rows of a table: at a row that is a header again."""

from collections.abc import Iterator

from catalog_service.exchange.records import Notice
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.known_headers import is_header_of_items
from catalog_service.exchange.tabular.left_out import LeftRows
from catalog_service.exchange.tabular.marks import are_marks
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.words import fold


class FurtherTables:
    """Leaves out what stands below another header, and the same header where it is repeated."""

    def __init__(self, columns: Columns) -> None:
        self._header = [fold(name) for name in columns.header]
        self._begins: int | None = None
        self._others = LeftRows()
        self._again = LeftRows()

    def takes(self, row: Row) -> bool:
        """Check whether a row is not one of the table, and note it."""
        if row.is_blank:
            return False
        if is_header_of_items(row.cells) and not _is_of_matrix(row):
            names = [fold(cell) for cell in row.cells]
            while names and not names[-1]:
                names.pop()
            if names == self._header:
                self._begins = None
                self._again.add(row.number, row.cells)
                return True
            self._begins = self._begins or row.number
        if self._begins is None:
            return False
        self._others.add(row.number, row.cells)
        return True

    def notices(self) -> Iterator[Notice]:
        """Yield what was left out."""
        yield from self._again.notice("header_repeated", ", as the header is repeated there", on_purpose=True)
        way_out = ", as another table begins there; put it into a sheet or a file of its own"
        yield from self._others.notice("rows_of_other_table", way_out)


def _is_of_matrix(row: Row) -> bool:
    """Check whether a row says nothing but marks: `no`, which is the header of numbers, too, and types of links."""
    return are_marks([cell for cell in row.cells if cell.strip()])

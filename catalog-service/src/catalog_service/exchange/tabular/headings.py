"""Rows of a table that are headings of a document, and what stands below them."""

from collections.abc import Iterator, Sequence

from catalog_service.exchange.records import Notice
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.left_out import LeftRows
from catalog_service.exchange.tabular.mapping import HeadingsRule


class Headings:
    """Takes rows that have a heading and no text: the sections of the rows behind them, by their level.

    Rows with neither are objects that nobody has written anything in.
    """

    def __init__(self, rule: HeadingsRule, columns: Columns) -> None:
        self._heading = columns.position(rule.column, of="headings")
        self._texts = [columns.position(column, of="headings") for column in rule.texts]
        self._level = None if rule.level is None else columns.position(rule.level, of="headings")
        self._sections: list[tuple[int, str]] = []
        self._empty = LeftRows()
        self._found = 0

    @property
    def sections(self) -> list[str]:
        """The headings above the row that is read, from the top."""
        return [heading for _, heading in self._sections]

    def takes(self, number: int, cells: Sequence[str]) -> bool:
        """Check whether a row is a heading or empty; then it is no item."""
        level = self._level_of(cells)
        heading = cells[self._heading].strip()
        if any(cells[at].strip() for at in self._texts):
            self._sections = [(above, text) for above, text in self._sections if above < level]
            return False
        if heading:
            self._found += 1
            self._sections = [(above, text) for above, text in self._sections if above < level] + [(level, heading)]
        else:
            self._empty.add(number, cells)
        return True

    def notices(self) -> Iterator[Notice]:
        """Yield how many rows are headings, and which have nothing in them."""
        if self._found:
            are = "row is a heading" if self._found == 1 else "rows are headings"
            message = f"{self._found} {are}, no item: the rows below keep them as their sections."
            yield Notice("headings_as_sections", message, self._found)
        yield from self._empty.notice("empty_objects", ", without a heading and a text", on_purpose=True)

    def _level_of(self, cells: Sequence[str]) -> int:
        said = "" if self._level is None else cells[self._level].strip()
        return int(said) if said.isdecimal() and len(said) < 4 else 1

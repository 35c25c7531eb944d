"""Tables as their readers give them: rows of cells, within limits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from catalog_service.exchange.records import Unreadable

LONGEST_CELL = 1 << 20
"""Characters."""
MOST_COLUMNS = 500
MOST_ROWS = 100_000
MOST_LINES = 1_048_576
"""Rows with blank ones, as many as a sheet of Excel has."""


@dataclass(slots=True)
class Row:
    """A row of a table: `number` counts from 1 as a person does, `line` where there are lines.

    `numbers` are the positions of the cells that the file holds as numbers; `remarks` are what has to be said of cells:
    position, code, and a message that goes on after the name of the column. `sent` are the cells as a CSV file of our
    own has them, where `cells` are decoded. `merged` is what merged cells say that begin in a row above: position and
    text; `cells` are blank there.
    """

    number: int
    cells: list[str]
    line: int | None = None
    numbers: Sequence[int] = ()
    remarks: list[tuple[int, str, str]] | None = None
    sent: list[str] | None = None
    merged: list[tuple[int, str]] | None = None

    def remark(self, position: int, code: str, message: str) -> None:
        """Note what has to be said of a cell."""
        self.remarks = [*(self.remarks or ()), (position, code, message)]

    @property
    def is_blank(self) -> bool:
        """Whether no cell says anything."""
        return not any(self.cells) or all(not cell or cell.isspace() for cell in self.cells)


class Merge(NamedTuple):
    """A merged cell: its first and last row, its first column from 0, and how many columns it covers."""

    first: int
    last: int
    column: int
    width: int = 1


def _no_merges() -> list[Merge]:
    return []


@dataclass(slots=True)
class Table:
    """A sheet, or the one table of a CSV file; `rows` are read as they are taken.

    `comments` and `addresses`: how many of its cells have some, which stand beside what they say; `drawings`: how many
    pictures and shapes lie over them. `merges` reads the merged cells, in the order of their first rows.
    """

    rows: Iterator[Row]
    name: str | None = None
    is_hidden: bool = False
    comments: int = 0
    addresses: int = 0
    drawings: int = 0
    merges: Callable[[], list[Merge]] = _no_merges
    dialect: dict[str, str] = field(default_factory=dict)


def column_name(position: int) -> str:
    """Return what spreadsheet programs call the column at a position from 0: A, B, ... Z, AA, ..."""
    name = ""
    position += 1
    while position:
        position, letter = divmod(position - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def column_position(letters: str) -> int:
    """Return the position from 0 of the column that is called A, B, ... AA; beyond a million it is not exact."""
    position = 0
    for letter in letters.upper():
        position = position * 26 + ord(letter) - ord("A") + 1
        if position > 1 << 20:
            break
    return position - 1


def with_merged(rows: Iterator[Row], merges: list[Merge]) -> Iterator[Row]:
    """Yield rows, those that merged cells reach into with what these say."""
    merges = [merge for merge in merges if merge.last > merge.first]
    if not merges:
        yield from rows
        return
    begins = 0
    opened: dict[int, tuple[int, str]] = {}
    for row in rows:
        merged = [
            (at, text)
            for at, (last, text) in opened.items()
            if row.number <= last and not (at < len(row.cells) and row.cells[at].strip())
        ]
        if merged:
            row.merged = merged
        while begins < len(merges) and merges[begins].first <= row.number:
            first, last, at, _ = merges[begins]
            begins += 1
            if first == row.number and at < len(row.cells) and row.cells[at].strip():
                opened[at] = (last, row.cells[at])
        if opened and any(last <= row.number for last, _ in opened.values()):
            opened = {at: (last, text) for at, (last, text) in opened.items() if last > row.number}
        yield row


def too_many_columns(row: int, line: int | None, position: int) -> Unreadable:
    """Return the refusal of a row that is too wide."""
    return Unreadable(
        f"Row {row} has a cell in column {column_name(position)}; at most {MOST_COLUMNS} columns are read.",
        code="too_many_columns",
        line=line,
    )


def cell_too_long(row: int, line: int | None) -> Unreadable:
    """Return the refusal of a cell that is too long."""
    return Unreadable(
        f"Row {row} has a cell of more than {LONGEST_CELL >> 20} MiB; is a closing quote missing?",
        code="cell_too_long",
        line=line,
    )


def too_many_rows(line: int | None) -> Unreadable:
    """Return the refusal of a table that is too long, be its rows blank or not."""
    return Unreadable(
        f"The table has more than {MOST_ROWS:,} rows, or blank ones without end. Send it in parts.",
        code="too_many_rows",
        line=line,
    )


def limit_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows that are not blank; raise Unreadable where there are more than MOST_ROWS beside the header."""
    count = 0
    for row in rows:
        if not row.is_blank:
            count += 1
            if count > MOST_ROWS + 1:
                raise too_many_rows(row.line)
            yield row

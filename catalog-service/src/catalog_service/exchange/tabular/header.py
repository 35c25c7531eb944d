"""Finds where a table begins: which of its first rows is the header."""

from collections.abc import Iterator
from itertools import chain, zip_longest

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.further_tables import FurtherTables
from catalog_service.exchange.tabular.known_headers import is_known_header
from catalog_service.exchange.tabular.marks import are_marks
from catalog_service.exchange.tabular.own import decode_rows, has_mark, without_mark
from catalog_service.exchange.tabular.presets import Sample, find_preset
from catalog_service.exchange.tabular.start import Start
from catalog_service.exchange.tabular.table import Row, Table, limit_rows

_SAMPLED_ROWS = 200
_SAMPLED_CHARACTERS = 1 << 20
_SEARCHED_ROWS = 30
_FIRST = 2.0
"""What the first row counts more as a header than others."""


def find_start(table: Table, header_row: int | None) -> Start | None:
    """Return where a table begins; None where it has no rows."""
    rows = limit_rows(table.rows)
    first: list[Row] = []
    broken: Unreadable | None = None
    size = 0
    is_whole = False
    try:
        for row in rows:
            first.append(row)
            size += sum(map(len, row.cells))
            if len(first) > _SAMPLED_ROWS or size > _SAMPLED_CHARACTERS:
                break
        else:
            is_whole = True
    except Unreadable as error:
        broken = error
    if not first:
        if broken is not None:
            raise broken
        return None
    at = _find_header(first, header_row, table)
    header = _join_names_above(first, at)
    below: Iterator[Row] = chain(first[at + 1 :], _raise(broken) if broken is not None else rows)
    is_own = has_mark(header)
    if is_own:
        header = without_mark(header)
        if table.name is None:
            below = decode_rows(below, len(header))
    columns = Columns(header, None if is_own else _groups_above(table, first, at))
    width = len(columns)
    own = first[at + 1 :] if is_own else _rows_of(columns, first[at + 1 :])
    sampled = [(row.cells + [""] * (width - len(row.cells)))[: max(width, len(row.cells))] for row in own]
    known = len(first) - at - 1 if is_whole else None
    return Start(
        table,
        first[at].number,
        Sample(columns, sampled),
        below,
        is_own,
        known,
        header_row is not None,
        first[:at],
        [row.number for row in own],
    )


def _rows_of(columns: Columns, rows: list[Row]) -> list[Row]:
    """Return the first rows without those of another table that begins among them."""
    further = FurtherTables(columns)
    return [row for row in rows if not further.takes(row)]


def _raise(error: Unreadable) -> Iterator[Row]:
    """Raise what was found in the first rows, when all before it was read."""
    raise error
    yield


def _find_header(rows: list[Row], header_row: int | None, table: Table) -> int:
    """Return the place of the header: the row that is named, else the one that looks most like a header."""
    if header_row is not None:
        for at, row in enumerate(rows):
            if row.number == header_row:
                return at
        raise Unreadable(
            f"Row {header_row}, which is to be the header, is blank or missing.",
            code="header_not_found",
        )
    searched = rows[:_SEARCHED_ROWS]
    first = next((at for at, row in enumerate(searched) if sum(map(bool, row.cells)) > 1), 0)
    found = max(
        range(len(searched)),
        key=lambda at: (_looks_like_header(searched[at]) + _FIRST * (at == first) - 0.1 * at, -at),
    )
    return found + (_has_second_row(rows, found) or _is_of_groups(rows, found, table))


def _has_second_row(rows: list[Row], at: int) -> bool:
    """Check whether below a header there is nothing but names, of which some stand where it has none."""
    if at + 1 == len(rows) or rows[at + 1].number != rows[at].number + 1 or has_mark(rows[at].cells):
        return False
    pairs = zip_longest(rows[at].cells, rows[at + 1].cells, fillvalue="")
    below = [(name, cell) for name, cell in pairs if cell.strip()]
    return (
        len(below) > 1
        and all(is_known_header(cell) for _, cell in below)
        and any(not name.strip() for name, _ in below)
    )


def _is_of_groups(rows: list[Row], at: int, table: Table) -> bool:
    """Check whether a row has merged cells above several names each, more of which stand right below it."""
    if at + 1 == len(rows) or rows[at + 1].number != rows[at].number + 1 or has_mark(rows[at].cells):
        return False
    names = [cell for cell in rows[at + 1].cells if cell.strip()]
    if len(names) <= sum(map(bool, rows[at].cells)) or not any(map(is_known_header, names)):
        return False
    return bool(_groups_above(table, rows, at + 1))


def _join_names_above(rows: list[Row], at: int) -> list[str]:
    """Return the cells of the header; a blank one is the cell above it, which reaches down in a header of two rows."""
    header, above = rows[at].cells, rows[at - 1] if at else None
    if above is None or above.number != rows[at].number - 1 or sum(map(bool, above.cells)) < 2 or has_mark(header):
        return header
    return [cell if cell.strip() else name for cell, name in zip_longest(header, above.cells, fillvalue="")]


def _groups_above(table: Table, rows: list[Row], at: int) -> dict[int, str]:
    """Return what stands above several columns each, by column: merged cells of the row right above the header."""
    above = rows[at - 1] if at else None
    if above is None or above.number != rows[at].number - 1 or sum(map(bool, above.cells)) < 2:
        return {}
    groups: dict[int, str] = {}
    for merge in table.merges():
        if merge.first == merge.last == above.number and merge.width > 1 and merge.column < len(above.cells):
            text = " ".join(above.cells[merge.column].split())
            groups |= {place: text for place in range(merge.column, merge.column + merge.width) if text}
    return groups


def _looks_like_header(row: Row) -> float:
    """Return how much a row looks like names: those that are known count most, long texts count against it."""
    if has_mark(row.cells):
        return 10_000
    filled = [cell.strip() for cell in row.cells if cell.strip()]
    names = {cell.casefold() for cell in filled if len(cell) <= 80 and not cell.replace(".", "").isdecimal()}
    marks = [cell for cell in filled if are_marks([cell])]  # several are those of a row in a matrix
    known = sum(is_known_header(cell) and (len(marks) < 2 or cell not in marks) for cell in filled)
    known += 5 * (known < 2 and len(filled) > 1 and find_preset(Columns(row.cells)) is not None)
    long = sum(len(cell) > 80 for cell in filled)
    return 2.0 * known + 0.5 * min(len(names), 20) - 2 * long - 0.2 * (len(filled) - len(names))

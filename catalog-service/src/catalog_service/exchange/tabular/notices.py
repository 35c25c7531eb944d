"""What a person has to know of tables before they are read."""

from collections.abc import Iterator
from itertools import zip_longest

from catalog_service.exchange.records import Notice
from catalog_service.exchange.tabular.formulas import looks_encoded
from catalog_service.exchange.tabular.known_headers import is_header_of_items, is_known_header
from catalog_service.exchange.tabular.left_out import LeftRows, is_note
from catalog_service.exchange.tabular.proposed_values import SURE, Guess
from catalog_service.exchange.tabular.start import Arranged, Chosen, Start
from chassis.core.wording import listed, shown

_SHOWN_NAMES = 5
_SHOWN_SHEETS = 10
_SHOWN_WORDS = 3
_FEWEST_COLUMNS = 3
"""Of a table, whatever they are called."""
_FEWEST_MARKED = 3
"""Columns of marks that are called as items are; fewer may be anything."""


def without_rows(starts: list[Start]) -> Iterator[Notice]:
    """Yield a notice where none of the tables has a row below its header."""
    if not any(start.has_rows for start in starts):
        is_own = any(start.is_own for start in starts)
        message = "There is a header and no row below it: the file has nothing to import."
        yield Notice("no_rows", message, unclean=not is_own)


def not_read(arranged: Arranged) -> Iterator[Notice]:
    """Yield the notices of the sheets that are not read."""
    names = listed(list(dict.fromkeys(shown(part.start.table.name) for part in arranged.parts)), "and")
    if arranged.is_said:
        why = f"Only the sheet {names} was read, as was asked for"
        yield from _not_read([*arranged.ignored, *arranged.others], why, "", on_purpose=True)
        return
    yield from _not_read(arranged.ignored, "Sheets were left out, as was said", "", on_purpose=True)
    seen = [start for start in arranged.others if not start.table.is_hidden]
    way_out = " Say what the rows of one are to have it read."
    yield from _not_read(seen, f"Sheets with other columns than {names} were not read", way_out)
    hidden = [start for start in arranged.others if start.table.is_hidden]
    way_out = " Say what the rows of one are to have it read."
    yield from _not_read(hidden, "Hidden sheets were not read", way_out, code="hidden_sheet_not_read")


def sheets_not_ours(others: list[Start]) -> Iterator[Notice]:
    """Yield the notice of the sheets of a workbook of our own that are not ours."""
    way_out = (
        " Those that Traceline writes end with a column called _traceline:1; others are imported from a workbook of"
        " their own."
    )
    yield from _not_read(others, "Sheets that are not as Traceline writes them were not read", way_out)


def _not_read(
    others: list[Start], why: str, way_out: str, *, code: str = "sheet_not_read", on_purpose: bool = False
) -> Iterator[Notice]:
    if others:
        some = "; ".join(map(_said_of, others[:_SHOWN_SHEETS])) + ("; …" if len(others) > _SHOWN_SHEETS else "")
        message = f"{why}, {len(others)} in all: {some}.{way_out}"
        is_lost = not on_purpose and any(map(_may_hold_items, others))
        yield Notice(code, message, len(others), unclean=is_lost)


def _may_hold_items(start: Start) -> bool:
    """Check whether a sheet is a table: few columns have to have names that are known, more may be anything."""
    names = [name for name in start.columns.header if name]
    if not start.has_rows:
        return False
    if len(names) < _FEWEST_COLUMNS:
        return all(map(is_known_header, names))
    return any(sum(map(bool, cells)) > 1 for cells in start.sample.rows)


def _said_of(start: Start) -> str:
    """Return what a sheet is called, how many rows it has, and its first words."""
    names = [name for name in start.columns.header if name] or [cell for row in start.above for cell in row.cells]
    words = ", ".join(map(shown, names[:_SHOWN_WORDS])) + (", …" if len(names) > _SHOWN_WORDS else "")
    rows = f"more than {len(start.sample.rows)}" if start.size is None else str(start.size)
    return f"{shown(start.table.name)} ({rows} {'row' if rows == '1' else 'rows'} below {words})"


def beside(starts: list[Start]) -> Iterator[Notice]:
    """Yield what a workbook has beside the texts of cells, which is not read."""
    for start in starts if not any(start.is_own for start in starts) else ():
        name, table = shown(start.table.name), start.table
        if table.comments:
            message = f"The sheet {name} has comments at cells, {table.comments} in all: they were not read."
            yield Notice("comments_not_read", message, table.comments)
        if table.drawings:
            message = f"The sheet {name} has pictures, charts or shapes, {table.drawings} in all: they were not read."
            yield Notice("drawings_not_read", message, table.drawings)
        if table.addresses:
            message = (
                f"Cells of the sheet {name} lead to addresses, {table.addresses} in all: of a cell its text was read."
                " Write those that matter as texts."
            )
            yield Notice("addresses_not_read", message, table.addresses)


def _above(start: Start) -> Iterator[Notice]:
    """Yield the notice of what stands above the header: titles, names of groups of columns, or rows of a table."""
    rows = LeftRows()
    has_items = has_header = False
    groups = set(start.columns.groups.values())
    for row in start.above:
        cells = row.cells
        if row.number == start.header_row - 1:  # where it is a header, too, its names may be taken
            cells = [
                cell
                for cell, name in zip_longest(cells, start.columns.header[: len(cells)])
                if cell.strip() != name and " ".join(cell.split()) not in groups
            ]
        else:
            has_items |= sum(map(bool, cells)) >= _FEWEST_COLUMNS or (has_header and not is_note(cells))
            has_header |= is_header_of_items(cells)
        if any(cell.strip() for cell in cells):
            rows.add(row.number, cells)
    way_out = f", above row {start.header_row}, which is the header"
    yield from rows.notice("rows_above_table", way_out, on_purpose=start.is_header_said or not has_items)


def about(start: Start, ways: list[Chosen]) -> Iterator[Notice]:
    """Yield what a person has to know of a table before it is read; `ways` are all in which it is."""
    if not start.is_own and start.table.name is None:
        ours = sum(looks_encoded(cell) for cells in start.sample.rows for cell in cells if cell.startswith("'"))
        if ours:
            message = (
                "Cells begin with an apostrophe, as ours do before a formula, but the file has not our mark: kept."
            )
            yield Notice("apostrophes_kept", message, ours)
    if not start.is_own:
        yield from _above(start)
    header = start.columns.header
    guesses = {at: guess for chosen in ways for at, guess in chosen.guesses.items()}
    is_matrix = any(chosen.matrix is not None for chosen in ways)
    if guesses and not start.is_own and not is_matrix and not any(map(is_known_header, header)):
        names = listed([shown(name) for name in header[:_SHOWN_NAMES] if name], "and")
        message = (
            f"Row {start.header_row} was taken for the header, though none of its names is known: {names}. If it is the"
            " first row of the table, it was not read as one: put a header above it."
        )
        yield Notice("unknown_header", message)
    if guesses and len(marked := _marked(start, guesses)) >= _FEWEST_MARKED:
        names = listed([shown(name) for name in marked[:_SHOWN_NAMES]], "and")
        message = (
            f"{len(marked)} columns hold nothing but marks, as in a matrix of what covers what: {names}. No link"
            " was made of them. For links, write a table with a row for each, of the columns Requirement and Test Case."
        )
        yield Notice("marks_not_read", message, len(marked))
    for at, guess in guesses.items():
        if guess.confidence < SURE:
            name = start.columns.name(at)
            yield Notice(
                "unsure_column", f"The column {shown(name)} was taken for {_called(guess.field)}: {guess.reason}"
            )
    for at, (field, taken_at) in {at: one for chosen in ways for at, one in chosen.beside.items()}.items():
        if at not in guesses:
            name, taken = shown(start.columns.name(at)), shown(start.columns.name(taken_at))
            message = (
                f"The column {name} could be {_called(field)}, too, for which {taken} was taken: kept as further data."
            )
            yield Notice("column_beside", message)


def _called(field: str) -> str:
    return "the id" if field == "external_id" else field.replace("_", " ")


def _marked(start: Start, guesses: dict[int, Guess]) -> list[str]:
    """Return the names of the columns of a matrix that no field takes."""
    header = enumerate(start.columns.header)
    return [name for at, name in header if at not in guesses and start.sample.is_of_matrix(at)]

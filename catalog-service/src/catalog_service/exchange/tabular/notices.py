"""What a person has to know of tables before they are read."""

from collections.abc import Iterator

from catalog_service.exchange.records import Notice
from catalog_service.exchange.tabular.formulas import looks_encoded
from catalog_service.exchange.tabular.known_headers import is_known_header
from catalog_service.exchange.tabular.mapping import Mapping
from catalog_service.exchange.tabular.start import Chosen, Start
from catalog_service.exchange.tabular.table import Table
from chassis.core.wording import listed, shown

_SHOWN_NAMES = 5
_FEWEST_MARKED = 3
"""Columns of marks that are called as items are; fewer may be anything."""


def without_rows(starts: list[Start]) -> Iterator[Notice]:
    """Yield a notice where none of the tables has a row below its header."""
    if not any(start.has_rows for start in starts):
        yield Notice("no_rows", "There is a header and no row below it: the file has nothing to import.")


def sheets_not_read(names: list[str | None], main: str | None) -> Notice:
    """Return the notice of the sheets that have other columns than the one that is read."""
    some = listed([shown(name) for name in names[:_SHOWN_NAMES]], "and")
    message = (
        f"Sheets with other columns than {shown(main)} were not read, {len(names)} in all: {some}. A mapping that names"
        " one, or the kind of its rows (kind=), has it read."
    )
    return Notice("sheet_not_read", message, len(names))


def sheets_not_ours(names: list[str | None]) -> Notice:
    """Return the notice of the sheets of a workbook of our own that are not ours."""
    some = listed([shown(name) for name in names[:_SHOWN_NAMES]], "and")
    message = (
        f"Sheets that are not as Traceline writes them were not read, {len(names)} in all: {some}. Those that it writes"
        " end with a column called _traceline:1; others are imported from a workbook of their own."
    )
    return Notice("sheet_not_read", message, len(names))


def beside(tables: list[Table], starts: list[Start], given: Mapping | None) -> Iterator[Notice]:
    """Yield what a workbook has that is not read: hidden sheets, and what stands beside the texts of cells."""
    is_own = any(start.is_own for start in starts)
    if not is_own and (given is None or given.sheet is None):
        for table in tables:
            if table.is_hidden and not any(start.table is table for start in starts):
                message = (
                    f"The sheet {shown(table.name)} is hidden; it was not read. A mapping that names it has it read."
                )
                yield Notice("hidden_sheet_not_read", message)
    for start in starts if not is_own else ():
        name, table = shown(start.table.name), start.table
        if table.comments:
            message = f"The sheet {name} has comments at cells, {table.comments} in all: they were not read."
            yield Notice("comments_not_read", message, table.comments)
        if table.addresses:
            message = (
                f"Cells of the sheet {name} lead to addresses, {table.addresses} in all: of a cell its text was read."
                " Write those that matter as texts."
            )
            yield Notice("addresses_not_read", message, table.addresses)


def about(start: Start, chosen: Chosen) -> Iterator[Notice]:
    """Yield what a person has to know of a table before it is read."""
    if not start.is_own and start.table.name is None:
        ours = sum(looks_encoded(cell) for cells in start.sample.rows for cell in cells if cell.startswith("'"))
        if ours:
            message = (
                "Cells begin with an apostrophe, as ours do before a formula, but the file has not our mark: kept."
            )
            yield Notice("apostrophes_kept", message, ours)
    header = start.columns.header
    if chosen.guesses and not start.is_own and not any(map(is_known_header, header)):
        names = listed([shown(name) for name in header[:_SHOWN_NAMES] if name], "and")
        message = (
            f"Row {start.header_row} was taken for the header, though none of its names is known: {names}. If it is the"
            " first row of the table, it was not read as one: put a header above it."
        )
        yield Notice("unknown_header", message)
    if chosen.guesses and len(marked := _marked(start, chosen)) >= _FEWEST_MARKED:
        names = listed([shown(name) for name in marked[:_SHOWN_NAMES]], "and")
        message = (
            f"{len(marked)} columns hold nothing but marks, as in a matrix of what covers what: {names}. No link"
            " was made of them. For links, write a table with a row for each, of the columns Requirement and Test Case."
        )
        yield Notice("marks_not_read", message, len(marked))
    for at, guess in chosen.guesses.items():
        if guess.confidence < 0.5:
            name = start.columns.name(at)
            yield Notice("unsure_column", f"The column {shown(name)} was taken for {guess.field}: {guess.reason}")


def _marked(start: Start, chosen: Chosen) -> list[str]:
    """Return the names of the columns of a matrix that no field takes."""
    header = enumerate(start.columns.header)
    return [name for at, name in header if at not in chosen.guesses and start.sample.is_of_matrix(at)]

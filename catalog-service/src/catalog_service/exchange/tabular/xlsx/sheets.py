"""The rows of a sheet."""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from typing import BinaryIO, Protocol

from lxml import etree

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.table import MOST_COLUMNS, MOST_LINES, Row, too_many_columns, too_many_rows
from catalog_service.exchange.tabular.xlsx.elements import read_elements
from catalog_service.exchange.tabular.xlsx.values import (
    SharedTexts,
    date_text,
    integer,
    is_struck,
    number_text,
    rich_text,
    unescape,
)

_LAST_ROW = 1_048_576
"""Of a sheet, as Excel has them."""
_WITHOUT_VALUE = "the workbook holds a formula, but not what it gives; read as blank"
_STRUCK = "struck_through", "text is struck through in the workbook; it was read as any other"


class Styles(Protocol):
    """What the styles of cells make of numbers, and which of them strike texts through."""

    @property
    def kinds(self) -> Sequence[str]: ...
    @property
    def struck(self) -> Set[int]: ...


def read_rows(
    open_part: Callable[[str], BinaryIO], path: str, shared: Callable[[], SharedTexts], styles: Styles, from_1904: bool
) -> Iterator[Row]:
    """Yield the rows of a sheet that have cells."""
    kinds, struck = styles.kinds, styles.struck
    number = 0
    for count, element in enumerate(read_elements(open_part(path), "row", within="sheetData"), 1):
        if count > MOST_LINES:
            raise too_many_rows(None)
        stored = integer(element.get("r"))
        number = number + 1 if stored is None else stored
        if number > _LAST_ROW:
            raise Unreadable(f"The workbook is damaged: a row has a number beyond {_LAST_ROW:,}, the last of a sheet.")
        row = Row(number, [])
        cells = row.cells
        numbers: list[int] = []
        position = -1
        for cell in element:
            reference = cell.get("r")
            if reference is None:
                position += 1
            else:
                position = _position(reference.rstrip("0123456789"))
            kind = cell.get("t")
            if kind == "s" and len(cell):
                text = _shared(cell, shared(), row, position)
            else:
                text = _text(cell, kind, kinds, from_1904, row, position, numbers)
            if not text:
                continue
            if struck and integer(cell.get("s")) in struck:
                row.remark(position, *_STRUCK)
            if position == len(cells) < MOST_COLUMNS:
                cells.append(text)
                continue
            if position >= MOST_COLUMNS:
                raise too_many_columns(number, None, position)
            if position > len(cells):
                cells.extend([""] * (position - len(cells)))
                cells.append(text)
            else:
                cells[position] = text
        row.numbers = numbers
        yield row


def _text(
    cell: etree._Element,
    kind: str | None,
    kinds: Sequence[str],
    from_1904: bool,
    row: Row,
    position: int,
    numbers: list[int],
) -> str:
    """Return what a cell holds by itself as a text; note in the row what a person has to know of it."""
    value = None
    has_formula = False
    for part in cell:
        tag = part.tag
        if tag.endswith("}v"):
            value = part.text
        elif tag.endswith("}is"):
            if is_struck(part):
                row.remark(position, *_STRUCK)
            return rich_text(part)
        elif tag.endswith("}f"):
            has_formula = True
    if value is None:
        if has_formula and kind != "str":
            row.remark(position, "formula_without_value", _WITHOUT_VALUE)
        return ""
    if kind is None or kind == "n":
        style = integer(cell.get("s"))
        shape = kinds[style] if style is not None and style < len(kinds) else ""
        if shape:
            return date_text(value, shape, from_1904)
        numbers.append(position)
        return number_text(value)
    if kind == "b":
        return "true" if value == "1" else "false"
    if kind == "e":
        row.remark(position, "cell_error", f"the workbook holds the error {value}; read as blank")
        return ""
    return unescape(value)  # a formula's text, or a date as ISO 8601


def _shared(cell: etree._Element, texts: SharedTexts, row: Row, position: int) -> str:
    stored = cell[-1].text
    if stored is None or not stored.isdecimal():
        raise Unreadable(f"The workbook is damaged: a cell of row {row.number} names no text.")
    text = texts.at(stored)
    if texts.is_struck(stored):
        row.remark(position, *_STRUCK)
    return text


@lru_cache(1024)
def _position(letters: str) -> int:
    """Return the position from 0 of the column that is called A, B, ... AA."""
    if not (letters.isascii() and letters.isalpha()):
        raise Unreadable("The workbook is damaged: a cell has no place in its row.")
    position = 0
    for letter in letters.upper():
        position = position * 26 + ord(letter) - ord("A") + 1
        if position > 1 << 20:
            break
    return position - 1

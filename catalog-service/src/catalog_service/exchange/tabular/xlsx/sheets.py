"""The rows of a sheet."""

import html
import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from typing import BinaryIO, Protocol

from lxml import etree

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.table import (
    MOST_COLUMNS,
    MOST_LINES,
    Row,
    column_position,
    too_many_columns,
    too_many_rows,
)
from catalog_service.exchange.tabular.xlsx.plain import NOT_PLAIN, TEXT, Part
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

_Cell = tuple[str, str, str, str, str, str, str]
"""The letters of its column, its style, its kind, its formula, its value, its own text, and whether a part of that is
struck through; each is empty where it is not there. Plain cells have no such part."""
_Stored = tuple[str | None, Sequence[_Cell]]
"""The number that a row states, and its cells."""

_PLAIN_CELL = re.compile(
    r'<c(?: r="([A-Z]{1,3})\d{1,7}")?(?: s="(\d+)")?(?: t="([A-Za-z]+)")?'
    rf"(?:/>|>(<f(?: [^<>]*)?(?:/>|>{TEXT}</f>))?"
    rf'(?:<v>({TEXT})</v>|<is><t(?: xml:space="preserve")?>({TEXT})</t></is>)?</c>){NOT_PLAIN}'
)
_ATTRIBUTES = r'(?: (?!r=)[A-Za-z\d:]+="[^"<>&]*+")*+'
_PLAIN_ROW = re.compile(rf'(?:<row(?: r="\d+")?{_ATTRIBUTES}/>)*+<row(?: r="(\d{{1,7}})")?{_ATTRIBUTES}>')
_END_OF_ROW = "</row>"


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
    texts: SharedTexts | None = None
    number = 0
    part = Part(open_part(path), "row", within="sheetData")
    for count, (stored, stored_cells) in enumerate(part.read(_plain_rows, _row), 1):
        if count > MOST_LINES:
            raise too_many_rows(None)
        stated = integer(stored)
        number = number + 1 if stated is None else stated
        if number > _LAST_ROW:
            raise Unreadable(f"The workbook is damaged: a row has a number beyond {_LAST_ROW:,}, the last of a sheet.")
        row = Row(number, [])
        cells = row.cells
        numbers: list[int] = []
        position = -1
        for letters, style, kind, formula, value, inline, is_struck_through in stored_cells:
            position = _position(letters) if letters else position + 1
            if kind == "s" and value:
                texts = texts or shared()
                text = texts.at(value)
                if texts.struck and value in texts.struck:
                    row.remark(position, *_STRUCK)
            elif inline:
                text = unescape(inline)
                if is_struck_through:
                    row.remark(position, *_STRUCK)
            elif value:
                text = _text(kind, value, style, kinds, from_1904, row, position, numbers)
            else:
                if formula and kind != "str":
                    row.remark(position, "formula_without_value", _WITHOUT_VALUE)
                continue
            if not text:
                continue
            if struck and integer(style) in struck:
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


def _plain_rows(elements: str) -> list[_Stored] | None:
    rows: list[_Stored] = []
    has_entities = "&" in elements
    at = 0
    while at < len(elements):
        row = _PLAIN_ROW.match(elements, at)
        if row is None:
            return None
        end = elements.index(_END_OF_ROW, row.end())
        cells = _PLAIN_CELL.findall(elements, row.end(), end)
        if cells and cells[-1][-1]:
            return None
        if has_entities:
            cells = [tuple(map(html.unescape, cell)) for cell in cells]
        rows.append((row[1], cells))
        at = end + len(_END_OF_ROW)
    return rows


def _row(element: etree._Element) -> _Stored:
    return element.get("r"), list(map(_cell, element))


def _cell(element: etree._Element) -> _Cell:
    formula = value = inline = is_struck_through = ""
    for part in element:
        tag = part.tag
        if tag.endswith("}v"):
            value = part.text or ""
        elif tag.endswith("}is"):
            inline = rich_text(part)
            is_struck_through = "yes" if is_struck(part) else ""
        elif tag.endswith("}f"):
            formula = "yes"
    reference = element.get("r", "")
    letters = reference.rstrip("0123456789") or reference
    return letters, element.get("s", ""), element.get("t", ""), formula, value, inline, is_struck_through


def _text(
    kind: str,
    value: str,
    style: str,
    kinds: Sequence[str],
    from_1904: bool,
    row: Row,
    position: int,
    numbers: list[int],
) -> str:
    """Return what a cell holds as its value as a text; note in the row what a person has to know of it."""
    if not kind or kind == "n":
        number = integer(style)
        shape = kinds[number] if number is not None and number < len(kinds) else ""
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


@lru_cache(1024)
def _position(letters: str) -> int:
    """Return the position from 0 of the column that is called A, B, ... AA."""
    if not (letters.isascii() and letters.isalpha()):
        raise Unreadable("The workbook is damaged: a cell has no place in its row.")
    return column_position(letters)

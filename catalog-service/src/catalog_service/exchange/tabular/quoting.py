"""How a CSV file quotes its cells where it does so otherwise than Excel: backslashes, blanks before quotes, `'`."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.own import has_mark
from catalog_service.exchange.text import Encoding, read_lines

_ESCAPED_QUOTE = '\\"'
_ESCAPED = re.compile(r'\\(["\\]|\r?\n)')
_NULL = "\\N"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Quoting:
    """What a file does.

    `escapes`: a backslash stands before a quote within a cell, which is not doubled, as MySQL writes it. `indents`: a
    blank stands before the quote that opens a cell. `quote`: what cells are quoted by.
    """

    escapes: bool = False
    indents: bool = False
    quote: str = '"'


def find_quoting(file: BinaryIO, encoding: Encoding, delimiter: str) -> Quoting:
    """Return how a file quotes its cells.

    In a table that doubles its quotes a backslash may stand before one, too, at the end of a folder of Windows, and a
    blank before the quotes of a text: such a table is known by the whole of it.
    """

    def lines(of: Callable[[Iterable[str]], Iterable[str]] = iter) -> Iterable[str]:
        return of(read_lines(file, encoding))

    try:
        if _has_single_quotes(lines(), delimiter) and _is_whole(lines(), delimiter, may_be_cut=True, quote="'"):
            return Quoting(quote="'")
        escapes = (
            _has(file, encoding, _ESCAPED_QUOTE)
            and not _is_whole(lines(), delimiter)
            and _is_whole(lines(unescaped), delimiter, may_be_cut=True)
        )
        indents = (
            not escapes
            and _has(file, encoding, f'{delimiter} "')
            and _has_indented_quote(lines(), delimiter)
            and _is_whole(lines(), delimiter, may_be_cut=True, indents=True)
        )
    except Unreadable:  # who reads it says where
        return Quoting()
    return Quoting(escapes, indents)


def unescaped(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with their quotes doubled instead of escaped; a backslash that escapes something else stays."""
    for line in lines:
        yield _ESCAPED.sub(_plain, line) if "\\" in line else line


def without_nulls(cells: list[str]) -> list[str]:
    """Return cells, those empty that hold NULL of a database."""
    return ["" if cell == _NULL else cell for cell in cells] if _NULL in cells else cells


def has_escaped_quote(lines: Iterable[str]) -> bool:
    """Check whether a backslash stands before a quote anywhere."""
    return any(_ESCAPED_QUOTE in line for line in lines)


def _plain(escaped: re.Match[str]) -> str:
    return '""' if escaped[1] == '"' else escaped[1]


def _has(file: BinaryIO, encoding: Encoding, sought: str) -> bool:
    """Check whether a text may be in the bytes of a file: in most it is not, and to find that out takes no decoding."""
    needle = sought.encode(encoding.codec).removeprefix("".encode(encoding.codec))  # its byte order mark
    file.seek(0)
    before = b""
    while piece := file.read(_PIECE):
        if needle in before + piece:
            return True
        before = piece[-len(needle) :]
    return False


def _has_single_quotes(lines: Iterable[str], delimiter: str) -> bool:
    """Check whether each cell of the first row, of several, is within single quotes."""
    row = next((line.strip() for line in lines if line.strip() and not line.startswith("sep=")), "")
    cells = row.split(delimiter)
    return len(cells) > 1 and all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)


def _has_indented_quote(lines: Iterable[str], delimiter: str) -> bool:
    """Check whether a cell begins with a blank and a quote: where the quote opens no cell, both are read as text."""
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if has_mark(row):
                return False
            if any(cell.startswith(' "') for cell in row):
                return True
    except csv.Error:
        pass
    return False


def _is_whole(
    lines: Iterable[str], delimiter: str, *, may_be_cut: bool = False, indents: bool = False, quote: str = '"'
) -> bool:
    """Check whether what closes each quoted cell is followed by its end; the end of the file may have been cut off."""
    try:
        for _ in csv.reader(lines, delimiter=delimiter, skipinitialspace=indents, quotechar=quote, strict=True):
            pass
    except csv.Error as error:
        return may_be_cut and "unexpected end" in str(error)
    return True

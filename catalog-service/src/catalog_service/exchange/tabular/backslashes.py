"""CSV in which a quote within a cell has a backslash before it and is not doubled, as MySQL and others write it."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.text import Encoding, read_lines

_ESCAPED_QUOTE = '\\"'
_ESCAPED = re.compile(r'\\(["\\]|\r?\n)')
_NULL = "\\N"
_PIECE = 1 << 20


def escapes_quotes(file: BinaryIO, encoding: Encoding, delimiter: str) -> bool:
    """Check whether backslashes escape quotes in a file: as they are its rows are broken, and without them whole.

    In a table that doubles its quotes a backslash may stand before one, too: at the end of a folder of Windows.
    """
    if not _has_escaped_quote(file, encoding):
        return False
    try:
        return not _is_whole(read_lines(file, encoding), delimiter) and _is_whole(
            unescaped(read_lines(file, encoding)), delimiter, may_be_cut=True
        )
    except Unreadable:  # who reads it says where
        return False


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


def _has_escaped_quote(file: BinaryIO, encoding: Encoding) -> bool:
    """Check the same of the bytes of a file: most have none, and to find that out takes no decoding."""
    needle = _ESCAPED_QUOTE.encode(encoding.codec).removeprefix("".encode(encoding.codec))  # its byte order mark
    file.seek(0)
    before = b""
    while piece := file.read(_PIECE):
        if needle in before + piece:
            return True
        before = piece[-len(needle) :]
    return False


def _is_whole(lines: Iterable[str], delimiter: str, *, may_be_cut: bool = False) -> bool:
    """Check whether what closes each quoted cell is followed by its end; the end of the file may have been cut off."""
    try:
        for _ in csv.reader(lines, delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return may_be_cut and "unexpected end" in str(error)
    return True

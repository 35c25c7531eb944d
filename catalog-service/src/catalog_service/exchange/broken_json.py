"""Where and why a file is no JSON, in the words of those who wrote it; a parser that reads in pieces says no place."""

import re
from typing import Any, BinaryIO

import ijson

from catalog_service.exchange.records import Unreadable

NO_JSON = (ijson.JSONError, UnicodeDecodeError)
"""What ijson raises; a text with half a surrogate pair, such as `\\udc00`, fails when Python is to have it."""

_PIECE = 1 << 16
_ENDS = "premature EOF|end of data|zero-length"
_REASONS = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (_ENDS, "it ends unfinished"),
        ("depth limit", "it is nested too deep"),
        ("utf-?8", "its bytes are not UTF-8"),
        ("surrogate", "a text has half a surrogate pair, which is no character"),
        ("escape|may not|hex", "a backslash is followed by what it cannot be (write two)"),
        ("control character|inside string", "a text has a line break or another control character (write \\n)"),
        ("overflow|infinity", "a number is too large; write it as a text"),
        ("comment", "there are no comments in JSON"),
        ("garbage|after document", "something follows its end"),
        ("':'", "the colon after a name is missing"),
        ("trailing comma", "there is a comma after the last member"),
        ("','", "a comma or the closing bracket is missing"),
        ("key", "a name in double quotes is missing"),
        ("number|zero|digit", "a number is not written as JSON has it"),
        ("token|value|literal|text", "something is no value: texts stand in double quotes"),
    )
)


def reason_of(error: Exception) -> str:
    """Return what is wrong, as the end of a sentence without its stop, from an error of ijson or orjson."""
    said = "surrogate" if isinstance(error, UnicodeDecodeError) else _said(error)
    return next((words for pattern, words in _REASONS if pattern.search(said)), "something is out of place")


def broken_json(file: BinaryIO, start: int, error: Exception, *, use_float: bool = True) -> Unreadable:
    """Return the problem of a file that ijson refuses, with its place; `use_float`: how it was read."""
    line, column, offset = _place_of_error(file, start, use_float=use_float) or (None, None, None)
    if re.search(_ENDS, _said(error)):
        message, code = f"The file is cut off: its JSON ends unfinished at line {line}.", "cut_off"
    else:
        message, code = f"The file is no JSON: {reason_of(error)}.", "unreadable_file"
    return Unreadable(message, code=code, line=line, column=column, offset=offset)


def _said(error: Exception) -> str:
    """Return what a parser says, without its drawing of the place."""
    said = error.args[0] if error.args else ""
    return (said.decode(errors="replace") if isinstance(said, bytes) else str(said)).partition("\n")[0]


def _place_of_error(file: BinaryIO, start: int, *, use_float: bool) -> tuple[int, int, int] | None:
    """Return line and column from 1 and the offset in bytes at which a file stops being JSON; None where it does not.

    It is read twice more as far as the error, the last piece of it byte by byte.
    """
    good = _good_pieces(file, start, use_float=use_float)
    file.seek(start)
    parser = ijson.basic_parse_coro(_Nothing(), use_float=use_float)
    line, line_start, offset = 1, start, start
    for _ in range(good):
        piece = file.read(_PIECE)
        parser.send(piece)
        if b"\n" in piece:
            line += piece.count(b"\n")
            line_start = offset + piece.rfind(b"\n") + 1
        offset += len(piece)
    last = file.read(_PIECE)
    for byte in last:
        try:
            parser.send(bytes((byte,)))
        except (*NO_JSON, StopIteration):
            return line, offset - line_start + 1, offset
        offset += 1
        if byte == 0x0A:
            line, line_start = line + 1, offset
    return (line, offset - line_start + 1, offset) if not last else None


def _good_pieces(file: BinaryIO, start: int, *, use_float: bool) -> int:
    """Return how many pieces the parser takes before it refuses one."""
    file.seek(start)
    parser = ijson.basic_parse_coro(_Nothing(), use_float=use_float)
    good = 0
    while True:
        piece = file.read(_PIECE)
        try:
            parser.send(piece)
        except (*NO_JSON, StopIteration):
            return good
        if not piece:
            return good
        good += 1


class _Nothing:
    """Takes the events of a parser for the sake of its errors."""

    def send(self, event: Any) -> None:
        """Take an event."""

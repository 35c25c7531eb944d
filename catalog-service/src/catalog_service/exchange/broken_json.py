"""Where and why a file is no JSON, in the words of those who wrote it; a parser that reads in pieces says no place."""

import re
from collections.abc import Callable
from typing import Any, Protocol

import ijson

from catalog_service.exchange.records import Unreadable

NO_JSON = (ijson.JSONError, UnicodeDecodeError)
"""What ijson raises; a text with half a surrogate pair, such as `\\udc00`, fails when Python is to have it."""

Path = tuple[str | int, ...]

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


class Seekable(Protocol):
    """What JSON is read from more than once."""

    def seek(self, offset: int, /) -> object:
        """Go to a place."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


def reason_of(error: Exception) -> str:
    """Return what is wrong, as the end of a sentence without its stop, from an error of ijson or orjson."""
    said = "surrogate" if isinstance(error, UnicodeDecodeError) else _said(error)
    return next((words for pattern, words in _REASONS if pattern.search(said)), "something is out of place")


def broken_json(file: Seekable, start: int, error: Exception, *, use_float: bool = True) -> Unreadable:
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


def _place_of_error(file: Seekable, start: int, *, use_float: bool) -> tuple[int, int, int] | None:
    """Return line and column from 1 and the offset in bytes at which a file stops being JSON; None where it does not.

    It is read twice more as far as the error, the last piece of it byte by byte.
    """

    def parser() -> Any:
        return ijson.basic_parse_coro(_Nothing(), use_float=use_float)

    good = _good_pieces(file, start, parser())
    return _place_in(file, start, parser(), good, lambda: None)


def place_of(file: Seekable, start: int, path: Path) -> tuple[int, int, int] | None:
    """Return line and column from 1 and the offset in bytes of a value that a JSON file has.

    `path` has the names and the numbers, from 0, of the members that lead to it.
    """
    good = _good_pieces(file, start, ijson.basic_parse_coro(_Way(path), use_float=True))
    way = _Way(path)
    return _place_in(file, start, ijson.basic_parse_coro(way, use_float=True), good, lambda: way.events)


def _place_in(
    file: Seekable, start: int, parser: Any, good: int, events: Callable[[], int | None]
) -> tuple[int, int, int] | None:
    """Return the place at which a parser stops behind so many pieces that it takes.

    Where `events` counts what it has told by then, that is the beginning of what it tells next.
    """
    file.seek(start)
    line, line_start, offset = 1, start, start
    for _ in range(good):
        piece = file.read(_PIECE)
        parser.send(piece)
        if b"\n" in piece:
            line += piece.count(b"\n")
            line_start = offset + piece.rfind(b"\n") + 1
        offset += len(piece)
    last = file.read(_PIECE)
    begun, counted = 0, events()
    for at in range(len(last)):
        try:
            parser.send(last[at : at + 1])
        except (*NO_JSON, StopIteration, _Arrived):
            if counted is not None:
                at = begun + len(last[begun:at]) - len(last[begun:at].lstrip(b" \t\r\n:,"))
            before = last[:at]
            if b"\n" in before:
                line_start = offset + before.rfind(b"\n") + 1
            return line + before.count(b"\n"), offset + at - line_start + 1, offset + at
        if counted != events():
            begun, counted = at + 1, events()
    return (line, offset - line_start + 1, offset) if not last else None


def _good_pieces(file: Seekable, start: int, parser: Any) -> int:
    """Return how many pieces the parser takes before it refuses one."""
    file.seek(start)
    good = 0
    while True:
        piece = file.read(_PIECE)
        try:
            parser.send(piece)
        except (*NO_JSON, StopIteration, _Arrived):
            return good
        if not piece:
            return good
        good += 1


class _Nothing:
    """Takes the events of a parser for the sake of its errors."""

    def send(self, event: Any) -> None:
        """Take an event."""


class _Arrived(Exception):
    """The parser has come to the value that is looked for."""


class _Way:
    """Takes the events of a parser until they come to a value."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._here: list[str | int] = []
        self.events = 0

    def send(self, event: tuple[str, Any]) -> None:
        """Take an event."""
        kind, value = event
        self.events += 1
        if kind in ("end_map", "end_array"):
            self._here.pop()
        elif kind == "map_key":
            self._here[-1] = value
        else:
            if self._here and isinstance(self._here[-1], int):
                self._here[-1] += 1
            if (*self._here,) == self._path:
                raise _Arrived
            if kind in ("start_map", "start_array"):
                self._here.append("" if kind == "start_map" else -1)

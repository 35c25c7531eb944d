r"""Refuses JSON with half a surrogate pair, such as \ud800, of which ijson makes a question mark without a word."""

import re
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable

_FIRST_ALONE = rb"(\\u[dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
_LIKE_HALF = re.compile(_FIRST_ALONE)  # found ten times as fast, and hardly ever there
_HALF = re.compile(rb"(?<!\\)(?:\\\\)*+" + _FIRST_ALONE)
"""The first half without the second, not behind a backslash that makes a text of it. A second one ijson refuses."""
_ESCAPE = len(r"\ud83d")


class WholePairs:
    """A binary file that refuses to be read on where a text of its JSON has half a surrogate pair."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._before = b""
        """The end of what was read, from which it is not clear what it is the beginning of."""

    def read(self, size: int) -> bytes:
        """Return the next bytes; raise Unreadable, with its place, at half a pair."""
        block = self._file.read(size)
        seen = self._before + block
        half = _HALF.search(seen) if _LIKE_HALF.search(seen) else None
        # At the end of a file that is cut off in a pair, that is what is wrong with it.
        if half is not None and (half.end() <= len(seen) - _ESCAPE or (not block and b'"' in seen[half.end() :])):
            raise self._problem(half[1].decode(), self._file.tell() - len(seen) + half.start(1))
        self._before = seen[len(seen[: -2 * _ESCAPE].rstrip(b"\\")) :] if block else b""
        return block

    def _problem(self, half: str, offset: int) -> Unreadable:
        self._file.seek(0)
        line, line_start = 1, 0
        while (left := offset - self._file.tell()) > 0:
            start = self._file.tell()
            piece = self._file.read(min(left, 1 << 16))
            line += piece.count(b"\n")
            line_start = start + piece.rfind(b"\n") + 1 if b"\n" in piece else line_start
        return Unreadable(
            f"A text has {half}, half a surrogate pair, which is no character: write the pair, or take it away.",
            line=line,
            column=offset - line_start + 1,
            offset=offset,
        )

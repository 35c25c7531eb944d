r"""Puts U+FFFD for half a surrogate pair in JSON, such as \ud800: what cuts a text in two leaves it behind.

It is as long as the half, so that places in the file stay as they are.
"""

import re
from typing import BinaryIO

_FIRST = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_SECOND = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_MAY_BE = re.compile(rb"\\u[dD][89a-fA-F]")
_PAIR = re.compile(_FIRST + _SECOND)
_LIKE_TEXT = re.compile(rb"\\\\u[dD]")
"""A backslash that may make a text of what follows."""
_ESCAPES = re.compile(rb"(%b%b)|(%b|%b)|\\." % (_FIRST, _SECOND, _FIRST, _SECOND), re.DOTALL)
_ENDS_WITH_FIRST = re.compile(_FIRST)
_ESCAPE = len(r"\ud83d")


def mended(text: bytes) -> bytes:
    """Return JSON without halves of surrogate pairs; it begins and ends outside of what follows a backslash."""
    # Looking at each backslash takes much longer, and there is hardly ever a half.
    if not (_MAY_BE.search(text) and (_MAY_BE.search(_PAIR.sub(b"", text)) or _LIKE_TEXT.search(text))):
        return text
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[2] else found[0], text)


class Mended:
    """A seekable binary file of JSON, read without halves of surrogate pairs."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held = b""
        """The end of what was read, of which it is not clear what it is the beginning of."""

    def seek(self, offset: int) -> None:
        """Go on at a place that no backslash stands before."""
        self._file.seek(offset)
        self._held = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes, about so many; none only at the end."""
        while block := self._file.read(size):
            seen = self._held + block
            clear = _clear(seen)
            self._held = seen[clear:]
            if clear:
                return mended(seen[:clear])
        rest, self._held = self._held, b""
        return mended(rest)


def _clear(seen: bytes) -> int:
    """Return where the last escapes begin that may not be whole yet; the length where all are."""
    at = seen.find(b"\\", max(len(seen) - _ESCAPE, 0))
    if at < 0:
        return len(seen)
    at = _begun(seen, at)
    if at >= _ESCAPE and _ENDS_WITH_FIRST.fullmatch(seen, at - _ESCAPE, at):
        at = _begun(seen, at - _ESCAPE)
    return at


def _begun(seen: bytes, at: int) -> int:
    """Return where the escape begins that has its first or its second backslash here."""
    return at - (at - len(seen[:at].rstrip(b"\\"))) % 2

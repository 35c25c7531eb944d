"""Replaces what XML cannot hold in reports, such as the colours of a terminal in what a test has printed."""

import re
from typing import BinaryIO

_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n\r")
_REFERENCE = rb"&#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,9});"
_COLOURS = rb"(?:\x1b|&#(?:27|[xX]1[bB]);)\[[0-9;:]*[A-Za-z]"
_FORBIDDEN = rb"[%b]" % re.escape(_CONTROLS)
_IN_UTF8 = rb"\xef\xbf[\xbe\xbf]|\xed[\xa0-\xbf][\x80-\xbf]"
"""U+FFFE, U+FFFF and halves of surrogate pairs."""
_BEGUN = re.compile(rb"(?:&(?:#[xX]?[0-9a-fA-F]{0,9})?|\xef\xbf?|\xed[\xa0-\xbf]?)\Z")
"""What may go on behind a piece."""
_DECLARED = re.compile(rb"""<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)""")
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<", b"\0\0")
"""How a file begins whose characters have two bytes or four."""
_HEAD = 256


class ReadableXml:
    """A seekable file of XML, read with U+FFFD for each character that XML 1.0 cannot hold.

    What colours a terminal is left out. In encodings that do not have U+FFFD a question mark stands in its place. A
    file of UTF-16 or UTF-32 stays as it is.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.replaced = 0
        """How many characters were replaced or left out since the last `seek`."""
        self._file = file
        file.seek(0)
        head = file.read(_HEAD)
        declared = _DECLARED.search(head)
        is_utf8 = declared is None or declared[1].lower() in (b"utf-8", b"utf8")
        self._is_plain = not head.startswith(_WIDE)
        self._marks = (b"&#", b"\xef\xbf", b"\xed") if is_utf8 else (b"&#",)
        self._forbidden = re.compile(b"|".join((_COLOURS, _FORBIDDEN, _REFERENCE, *((_IN_UTF8,) if is_utf8 else ()))))
        self._instead = "\ufffd".encode() if is_utf8 else b"?"

    def seek(self, offset: int) -> int:
        """Go on at a place of the file."""
        self.replaced = 0
        return self._file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, about so many; none only at the end."""
        return self._whole(self._file.read(size))

    def readline(self, size: int = -1) -> bytes:
        """Return the next line, or the next bytes of one that is longer."""
        return self._whole(self._file.readline(size))

    def _whole(self, piece: bytes) -> bytes:
        if not self._is_plain:
            return piece
        while _BEGUN.search(piece, max(len(piece) - 12, 0)) and (more := self._file.read(1)):
            piece += more
        if len(piece.translate(None, _CONTROLS)) == len(piece) and not any(mark in piece for mark in self._marks):
            return piece
        return self._forbidden.sub(self._replace, piece)

    def _replace(self, found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b"&") and found[0].endswith(b";") and _can_hold(found[0][2:-1]):
            return found[0]
        self.replaced += 1
        return b"" if found[0][-1:].isalpha() else self._instead


def _can_hold(number: bytes) -> bool:
    """Check whether XML 1.0 can hold the character of a reference."""
    code = int(number[1:], 16) if number[:1] in b"xX" else int(number)
    return code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code <= 0x10FFFF

"""Parts of a workbook as most programs write them, read by patterns, several times as quickly as by a parser.

A pattern matches less than XML allows: no comment, no CDATA, no prefix, no entity but those that each document has.
What it matches can therefore mean nothing else. From the first elements on that are not plain, a parser reads.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from catalog_service.exchange.records import Unreadable
from chassis.files.refused import FileRefused

_PIECE = 1 << 14
"""Bytes, whose elements fit into the cache of one core."""
_LONGEST = 1 << 20
"""Characters of an element."""
_LONGEST_HEAD = 1 << 16
_DECLARATION = rb'<\?xml version="1\.0"(?: encoding="(?i:utf-8)")?(?: standalone="\w+")?\?>'
_HEAD = rb"(?:\xef\xbb\xbf)?(?:%b)?[^!?]*?<%%b(?: [^<>]*)?>" % _DECLARATION

_CHARACTERS = r"[^<>&\x00-\x08\x0b-\x1f\ufffe\uffff]*+"
TEXT = rf"{_CHARACTERS}(?:&(?:amp|lt|gt|quot|apos|#(?:9|10|13|x0*[9AaDd]));{_CHARACTERS})*+"
"""Matches the text of an element, its entities as they are written."""
NOT_PLAIN = r"|(?s:(.+))"
"""What a pattern ends with whose last group is to take all from the first place on that the pattern does not match."""

Found = TypeVar("Found")


class PlainPart:
    """A part of a workbook: its elements as long as they are plain, then the rest of it."""

    def __init__(self, stream: BinaryIO, within: str) -> None:
        """Take the part, and the name of the element that holds those which are asked for."""
        self._stream = stream
        self._within = within
        self._head = self._bytes = b""
        self._held = ""
        self.is_read = False
        """Whether all elements were plain."""

    def elements(self, name: str, parse: Callable[[str], list[Found] | None]) -> Iterator[Found]:
        """Yield what `parse` makes of elements of this name, several at a time, until it makes None of what it gets."""
        closing, end = f"</{name}>", f"</{self._within}>"
        goes_on = self._has_begun() and self._decode()
        while goes_on:
            length = self._held.rfind(closing) + len(closing)
            if length >= len(closing):
                found = parse(self._held[:length])
                if found is None:
                    return
                self._held = self._held[length:]
                yield from found
            self.is_read = self._held.startswith(end)
            goes_on = not self.is_read and len(self._held) < _LONGEST and self._read_on() and self._decode()

    def rest(self) -> Iterator[bytes]:
        """Yield the part in pieces, without the elements that were given."""
        yield self._head + self._held.encode() + self._bytes
        self._bytes = b""
        while self._read_on():
            yield self._bytes
            self._bytes = b""

    def _has_begun(self) -> bool:
        """Read what stands before the first element; check whether it is plain, too."""
        begins = re.compile(_HEAD % self._within.encode())
        while len(self._bytes) < _LONGEST_HEAD and self._read_on():
            head = begins.match(self._bytes)
            if head:
                self._head, self._bytes = head[0], self._bytes[head.end() :]
                return True
        return False

    def _read_on(self) -> bool:
        try:
            piece = self._stream.read(_PIECE)
        except FileRefused as refused:
            raise Unreadable(refused.message, offset=refused.offset) from None
        self._bytes += piece
        return bool(piece)

    def _decode(self) -> bool:
        """Hold what was read as text; check whether it is UTF-8."""
        try:
            text, length = codecs.utf_8_decode(self._bytes, "strict", False)  # a character may be cut
        except UnicodeDecodeError:
            return False
        self._held += text
        self._bytes = self._bytes[length:]
        return True

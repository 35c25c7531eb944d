"""Parts of a workbook as most programs write them, read by patterns, several times as quickly as by a parser.

A pattern matches less than XML allows: no comment, no CDATA, no prefix, no entity but those that each document has.
What it matches can therefore mean nothing else. What is not plain is read by a parser, with the elements about it;
where that goes on, so is all that follows.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from lxml import etree

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.xlsx.elements import read_elements
from chassis.files.refused import FileRefused

_PIECE = 1 << 14
"""Bytes, whose elements fit into the cache of one core."""
_LONGEST = 1 << 20
"""Characters of an element."""
_LONGEST_HEAD = 1 << 16
_MOST_NOT_PLAIN = 8
"""Pieces in a row with what is not plain, behind which a parser reads on: to try each first takes a quarter more."""
_DECLARATION = rb'<\?xml version="1\.0"(?: encoding="(?i:utf-8)")?(?: standalone="\w+")?\?>'
_HEAD = rb"(?:\xef\xbb\xbf)?(?:%b)?[^!?]*?<%%b(?: [^<>]*)?>" % _DECLARATION

_CHARACTERS = r"[^<>&\x00-\x08\x0b-\x1f\ufffe\uffff]*+"
TEXT = rf"{_CHARACTERS}(?:&(?:amp|lt|gt|quot|apos|#(?:9|10|13|x0*[9AaDd]));{_CHARACTERS})*+"
"""Matches the text of an element, its entities as they are written."""
NOT_PLAIN = r"|(?s:(.+))"
"""What a pattern ends with whose last group is to take all from the first place on that the pattern does not match."""

Found = TypeVar("Found")


class Part:
    """A part of a workbook, whose elements of one name are read within the one element that holds them."""

    def __init__(self, stream: BinaryIO, name: str, within: str) -> None:
        self._stream = stream
        self._name = name
        self._within = within
        self._end = f"</{within}>"
        self._head = self._bytes = b""
        self._held = ""

    def read(
        self, parse: Callable[[str], list[Found] | None], convert: Callable[[etree._Element], Found]
    ) -> Iterator[Found]:
        """Yield what `parse` makes of several elements, else, where it makes None of them, `convert` of each."""
        closing = f"</{self._name}>"
        not_plain = 0
        goes_on = self._has_begun() and self._decode()
        while goes_on:
            length = self._held.rfind(closing) + len(closing)
            if length >= len(closing):
                elements = self._held[:length]
                found = parse(elements)
                not_plain = 0 if found is not None else not_plain + 1
                if 0 < not_plain <= _MOST_NOT_PLAIN:
                    found = self._convert(elements, convert)
                if found is None:
                    break
                self._held = self._held[length:]
                yield from found
            if self._held.startswith(self._end):
                return
            goes_on = len(self._held) < _LONGEST and self._read_on() and self._decode()
        yield from map(convert, read_elements(self._rest(), self._name, self._within))

    def _convert(self, elements: str, convert: Callable[[etree._Element], Found]) -> list[Found] | None:
        """Return what is made of each of these elements; None where it cannot be told that they are whole."""
        if "<!" in elements or "<?" in elements or self._end in elements:
            return None
        document = self._head + elements.encode() + self._end.encode()
        try:
            return list(map(convert, read_elements([document], self._name, self._within)))
        except Unreadable:
            return None

    def _rest(self) -> Iterator[bytes]:
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

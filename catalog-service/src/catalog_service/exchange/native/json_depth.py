"""Keeps a JSON file from costing more memory and time than its records do: what ijson does not look at itself."""

import re
from typing import Protocol

from catalog_service.exchange.records import Unreadable

MAX_DEPTH = 64
BLOCK = 256 * 1024
_INSIDE = rb'[^"\\]*(?:\\.[^"\\]*)*'
_TEXT = re.compile(rb'"%b"' % _INSIDE, re.DOTALL)
_REST_OF_TEXT = re.compile(_INSIDE, re.DOTALL)
_AS_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_TOKEN = re.compile(rb'"%b"?|[\[\]{}]|\d{1000}' % _INSIDE, re.DOTALL)
_LONG_NUMBER = re.compile(rb"\d{1000}")
"""ijson ends the process at 4,301 digits; of those that a block cuts in two, half is in one of both."""


class Readable(Protocol):
    """What JSON comes from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


class ShallowJson:
    """A binary file that refuses to be read on where its JSON is nested too deep, or one record of it is too large.

    ijson keeps the path to each open object: 200,000 of them, one in the other, take all memory there is. Looking at
    the brackets outside of texts, a block at a time, costs a small part of the parsing.
    """

    def __init__(self, file: Readable, max_record: int, *, levels: int) -> None:
        """`levels`: how many brackets are open between two records."""
        self._file = file
        self._max_record = max_record
        self._levels = levels
        self._depth = 0
        self._of_record = 0
        self._in_text = False
        self._escaped = False
        self._offset = 0
        self._line = 1

    def read(self, size: int = BLOCK) -> bytes:
        """Return the next bytes; raise Unreadable where they go too deep."""
        block = self._file.read(min(size, BLOCK) if size >= 0 else BLOCK)
        before = self._in_text, self._escaped, self._depth
        outside = self._outside_of_texts(block)
        lowest = self._count(outside)
        if lowest is None or _LONG_NUMBER.search(outside):
            raise self._refused(block, *before)
        self._offset += len(block)
        self._line += block.count(b"\n")
        # A block without anything outside of texts lies in one, at which ijson begins anew with each block.
        self._of_record = 0 if outside and lowest <= self._levels else self._of_record + len(block)
        if self._of_record > self._max_record:
            raise Unreadable(
                f"An object or a text here has more than {self._max_record // 2**20} MiB: no item is that large.",
                offset=self._offset - self._of_record,
            )
        return block

    def _outside_of_texts(self, block: bytes) -> bytes:
        """Return what of a block is in no text."""
        if self._in_text:
            rest = _REST_OF_TEXT.match(block, 1 if self._escaped and block else 0)
            assert rest is not None
            if rest.end() >= len(block) or block[rest.end()] != ord('"'):
                self._escaped = rest.end() < len(block)
                return b""
            block = block[rest.end() + 1 :]
        self._escaped = (len(block) - len(block.rstrip(b"\\"))) % 2 == 1
        # A quote ends a text that goes on behind the block; where there is none, it is left over.
        outside = _TEXT.sub(b"", block + (b'\\"' if self._escaped else b'"'))
        self._in_text = not outside.endswith(b'"')
        return outside

    def _count(self, outside: bytes) -> int | None:
        """Count the brackets, and return how many were open where the fewest were; None where too many were."""
        brackets = outside.translate(_AS_SQUARE, _NO_BRACKETS)
        for _ in range(MAX_DEPTH):
            if b"[]" not in brackets:
                break
            brackets = brackets.replace(b"[]", b"")
        closing = brackets.count(b"]")
        lowest = self._depth - closing
        self._depth = lowest + len(brackets) - closing
        return None if b"[]" in brackets or self._depth > MAX_DEPTH else lowest

    def _refused(self, block: bytes, in_text: bool, escaped: bool, depth: int) -> Unreadable:
        """Return the refusal of the first bracket of a block that is too deep, or the first number that is too long.

        The others are what held before the block.
        """
        rest = _REST_OF_TEXT.match(block, 1 if escaped else 0) if in_text else None
        at = 0
        for token in _TOKEN.finditer(block, 0 if rest is None else rest.end() + 1):
            at, first = token.start(), token[0][:1]
            depth += (first in b"[{") - (first in b"]}")
            if depth > MAX_DEPTH or first.isdigit():
                break
        message, code = "The file has a number of more than a thousand digits; write it as a text.", "unreadable_file"
        if depth > MAX_DEPTH:
            message, code = f"The file is nested deeper than {MAX_DEPTH} levels: no item is.", "too_deep"
        line = self._line + block.count(b"\n", 0, at)
        return Unreadable(message, code=code, line=line, offset=self._offset + at)

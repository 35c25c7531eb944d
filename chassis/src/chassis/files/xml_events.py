"""XML as events, the one way in which XML is read: no tree, no entity, no other file, and bounds to all of it.

class Titles(XmlHandler):
    def start(self, tag, attributes):
        self.keeps_text = tag == "title"

    def text(self, text):
        print(text)

for _ in read_xml(file, Titles()):
    ...
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

from lxml import etree

from chassis.files.refused import FileRefused
from chassis.files.xml_errors import reason_of

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class XmlLimits:
    """How deep elements may lie, how many attributes one may have, how many characters a text or an attribute."""

    depth: int = 64
    attributes: int = 256
    text: int = 1 << 20


class XmlHandler:
    """What is done with the elements of a document: a format derives from it.

    Tags are `{namespace}name`. Text is kept only while `keeps_text` is set, as it is when the text begins: what is not
    kept costs nothing, however long it is. With `cuts_text`, a text beyond the limit ends there instead of refusing the
    document. With `counts_lines`, `line` is the line of the file that is being read, from 1; with `lines_of`, local
    names of elements, that where such an element begins, and no other. Who does with less has a file of many short
    lines read more quickly. To refuse the document, raise FileRefused; where in the file is added.
    """

    keeps_text = False
    cuts_text = False
    counts_lines = True
    lines_of: tuple[str, ...] = ()
    line = 1

    def namespace(self, prefix: str, name: str) -> None:
        """Take a prefix that the next element declares; that of the default namespace is empty."""

    def root(self, tag: str) -> None:
        """Take the tag of the first element, before its beginning: what is of another format is refused here."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""

    def text(self, text: str) -> None:
        """Take what stands between two tags, whole."""

    def end(self, tag: str) -> None:
        """Take the end of an element."""


def read_xml(
    source: BinaryIO, handler: XmlHandler, *, limits: XmlLimits | None = None, encoding: str | None = None
) -> Iterator[int]:
    """Read a seekable file from its beginning and hand its elements to the handler; yield now and then the bytes read.

    `encoding` overrides what the document says of itself. Raise FileRefused with the place when the document is not
    well-formed, has a document type declaration, breaks a limit, or when the handler refuses it.
    """
    events = _Events(handler, limits or XmlLimits())
    parser = _parser(events, encoding)
    source.seek(0)
    read = reported = 0
    try:
        for piece in _pieces_of(source, handler):
            events.since_start += len(piece)
            parser.feed(piece)
            read += len(piece)
            handler.line += piece.count(b"\n")
            if read - reported >= _PIECE:
                reported = read
                yield read
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(error) from None
    except FileRefused as refused:
        if refused.line is None:
            _locate(refused, source, events.started, encoding)
        raise
    yield read


def _parser(target: object, encoding: str | None) -> etree.XMLParser:
    # No entity can be declared, since that takes a document type. With `resolve_entities=False` libxml2 would leave
    # `&amp;` of an attribute as `&#38;`.
    try:
        return etree.XMLParser(
            target=target,
            encoding=encoding,
            resolve_entities="internal",
            no_network=True,
            load_dtd=False,
            huge_tree=True,
        )
    except (LookupError, ValueError):
        raise FileRefused(
            f"There is no encoding {str(encoding)[:40]!r} of XML; leave it out, or name utf-8, utf-16, ...",
            code="unknown_encoding",
        ) from None


def _pieces(source: BinaryIO, *, by_line: bool = True) -> Iterator[bytes]:
    """Yield pieces of a file; by line, the parser is never further than the line that it is asked for."""
    read = source.readline if by_line else source.read
    piece = read(_PIECE)
    while piece and len(piece) < 4:  # fewer bytes do not tell the encoding
        more = source.read(1)
        if not more:
            break
        piece += more
    while piece:
        yield piece
        piece = read(_PIECE)


def _pieces_of(source: BinaryIO, handler: XmlHandler) -> Iterator[bytes]:
    """Return the pieces of a file that stands at its beginning, as small as its handler has to know of lines."""
    has_ascii = b"\0" not in source.read(100)
    source.seek(0)
    if handler.lines_of and has_ascii:
        return _cut_before(handler.lines_of, _pieces(source, by_line=False))
    return _pieces(source, by_line=handler.counts_lines)


def _cut_before(names: tuple[str, ...], pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Cut pieces anew, so that each element of these local names is at the beginning of one."""
    begins = re.compile(rb"<(?:[^<>/!?\s]{1,100}:)?(?:%b)[\s/>]" % "|".join(map(re.escape, names)).encode())
    held = b""
    for piece in pieces:
        whole = held + piece
        # The last tag may go on in the next piece, but one that is long is not waited for.
        end = whole.rfind(b"<")
        if end <= 0 or len(whole) - end > _PIECE:
            end = len(whole)
        places = [0, *(found.start() for found in begins.finditer(whole, 0, end)), end]
        yield from filter(None, (whole[start:stop] for start, stop in pairwise(places)))
        held = whole[end:]
    if held:
        yield held


class _Events:
    """The parser's target: hands on what is within the limits."""

    def __init__(self, handler: XmlHandler, limits: XmlLimits) -> None:
        self._handler = handler
        self._handler_start, self._handler_end = handler.start, handler.end
        self._limits = limits
        self._deepest = limits.depth
        self._depth = 0
        # What began in an earlier piece is told of late by libxml2, so some pieces more may be of the attribute.
        self._may_be_long = limits.text - 4 * _PIECE
        self._kept: list[str] = []
        self._length = 0
        self.started = 0
        self.since_start = 0
        """Bytes of the pieces that have come since an element began: it tells that no attribute of the next is long."""

    def doctype(self, name: str, *_: str) -> None:
        raise FileRefused(
            "The file has a document type declaration (<!DOCTYPE ...>), which is not read, since it can name other "
            "files and make entities. Take it out."
        )

    def start_ns(self, prefix: str | None, name: str) -> None:
        if self._length:
            self._hand_on_text()
        self._handler.namespace(prefix or "", name)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._length:
            self._hand_on_text()
        self.started += 1
        if self.started == 1:
            self._handler.root(tag)
        self._depth += 1
        if self._depth > self._deepest:
            raise FileRefused(f"Elements lie more than {self._deepest} deep in one another here.")
        if len(attributes) > self._limits.attributes:
            raise FileRefused(
                f"An element has {len(attributes):,} attributes; at most {self._limits.attributes} are read."
            )
        if self.since_start > self._may_be_long:
            attributes = self._bounded(attributes)
        self.since_start = 0
        self._handler_start(tag, attributes)

    def _bounded(self, attributes: Mapping[str, str]) -> Mapping[str, str]:
        longest = self._limits.text
        length = max(map(len, attributes.values()), default=0)
        if length <= longest:
            return attributes
        if self._handler.cuts_text:
            return {name: text[:longest] for name, text in attributes.items()}
        raise FileRefused(f"An attribute has {length:,} characters; at most {longest:,} are read.")

    def data(self, text: str) -> None:
        if self._handler.keeps_text:
            self._length += len(text)
            if self._length > self._limits.text:
                if self._handler.cuts_text:
                    return
                raise FileRefused(f"A text has more than {self._limits.text:,} characters.")
            self._kept.append(text)

    def end(self, tag: str) -> None:
        if self._length:
            self._hand_on_text()
        self._depth -= 1
        self._handler_end(tag)

    def close(self) -> None:
        """End the document, as the parser asks of a target."""

    def _hand_on_text(self) -> None:
        text = self._kept[0] if len(self._kept) == 1 else "".join(self._kept)
        self._kept.clear()
        self._length = 0
        self._handler.text(text)


def _not_well_formed(error: etree.XMLSyntaxError) -> FileRefused:
    line, column = error.position
    return FileRefused(
        f"The file is not well-formed XML: {reason_of(error)}.",
        line=line or None,
        column=max(column, 1) if line else None,
    )


class _Found(Exception):
    """The place that was looked for has been reached."""


class _Search:
    """The target of a second reading: stops at the element of that number, or at a document type declaration."""

    def __init__(self, number: int) -> None:
        self._before = number

    def doctype(self, name: str, *_: str) -> None:
        raise _Found

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._before -= 1
        if self._before == 0:
            raise _Found

    def close(self) -> None:
        """End the document, as the parser asks of a target."""


def _locate(refused: FileRefused, source: BinaryIO, number: int, encoding: str | None) -> None:
    """Add to a refusal the place of the element that began last, its `number` in the document, by reading up to it."""
    parser = _parser(_Search(number), encoding)
    source.seek(0)
    offset = line_start = 0
    line = 1
    for piece in _pieces(source):
        for part in re.split(rb"(?=<)", piece) if offset else [piece[:4], *re.split(rb"(?=<)", piece[4:])]:
            if part.startswith(b"<"):
                refused.line, refused.column, refused.offset = line, offset - line_start + 1, offset
            try:
                parser.feed(part)
            except _Found:
                return
            offset += len(part)
        if piece.endswith(b"\n"):
            line, line_start = line + 1, offset

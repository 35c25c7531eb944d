"""Parts of a document as XML text again, so that they can be stored and written out as they were."""

import re
from collections.abc import Mapping

from lxml import etree

from catalog_service.exchange.reqif.namespaces import REQIF, XHTML, XML
from chassis.files.refused import FileRefused

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARED = {"xhtml": XHTML, "xml": XML}
_LONG = 1_000
"""Letters."""
_PRINTABLE = bytes(range(0x20, 0x7F))


def clean(text: str) -> str:
    """Return a text with a replacement character for each that XML 1.0 cannot hold."""
    return text if is_printable(text) else _NOT_IN_XML.sub("\ufffd", text)


def is_printable(text: str) -> bool:
    """Check what `str.isprintable` does, which takes three times as long for a long text."""
    if len(text) < _LONG or not text.isascii():
        return text.isprintable()
    return not text.encode().translate(None, _PRINTABLE)


def needs_escape(text: str) -> bool:
    """Check whether a text has what means something to XML; quotes do so within attributes alone."""
    return "&" in text or "<" in text or ">" in text


def escape_text(text: str) -> str:
    """Return a text as it stands between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def escape_attribute(text: str) -> str:
    """Return a text as it stands between quotes; line breaks become references, since parsers make blanks of them."""
    text = escape_text(text).replace('"', "&quot;")
    return text if is_printable(text) else text.replace("\t", "&#9;").replace("\n", "&#10;")


def parsed(markup: str, *, recover: bool = False) -> etree._Element:
    """Return a fragment as an element, within one of no meaning; raise XMLSyntaxError when it is not well-formed.

    `recover`: it was read before, so only a namespace can be wrong, which is taken as it is.
    """
    return etree.fromstring(f"{_AROUND}{markup}</x>".encode(), _PARSERS[recover])


_AROUND = f'<x xmlns="{REQIF}" xmlns:xhtml="{XHTML}">'
_PARSERS = {
    recover: etree.XMLParser(
        resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=True, recover=recover
    )
    for recover in (False, True)
}


class Fragment:
    """Collects what lies within one element. Names of ReqIF have no prefix, those of XHTML `xhtml:`.

    Other namespaces are declared where they are used, by the prefixes that the document has for them.
    """

    def __init__(self, prefixes: Mapping[str, str], *, declares: bool = False, limit: int) -> None:
        """`prefixes` by namespace; `declares`: all of them on the first element, since values may use them, too."""
        self._prefixes = prefixes
        self._declares = declares
        self._parts: list[str] = []
        self._open: list[tuple[str, str, Mapping[str, str]]] = []
        self._empty = False
        self._length = 0
        self._limit = limit

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._open)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        if self._empty:
            self._add(">")
        _, default, declared = self._open[-1] if self._open else ("", REQIF, _DECLARED)
        space, _, local = tag[1:].partition("}") if tag[0] == "{" else ("", "", tag)
        if space == XHTML:
            name, declarations = f"xhtml:{local}", ""
        elif space in ("", REQIF):
            name = local
            declarations = "" if space == default else f' xmlns="{space}"'
            default = space
        else:
            name, declarations, declared = self._prefixed(space, local, declared)
        if self._declares and not self._open:
            for other in self._prefixes.keys() - {REQIF, XHTML, XML}:
                more, declared = self._prefixed(other, "", declared)[1:]
                declarations += more
        values = []
        for key, value in attributes.items():
            if key[0] == "{":
                space, _, local = key[1:].partition("}")
                key, more, declared = self._prefixed(space, local, declared)
                declarations += more
            values.append(f' {key}="{escape_attribute(value)}"')
        self._open.append((name, default, declared))
        self._add(f"<{name}{declarations}{''.join(values)}")
        self._empty = True

    def text(self, text: str) -> None:
        """Take text between tags."""
        if self._empty:
            self._add(">")
            self._empty = False
        self._add(escape_text(text))

    def end(self) -> None:
        """Take the end of the element that is open."""
        name = self._open.pop()[0]
        self._add("/>" if self._empty else f"</{name}>")
        self._empty = False

    def markup(self) -> str:
        """Return what was collected."""
        return "".join(self._parts)

    def _prefixed(self, space: str, local: str, declared: Mapping[str, str]) -> tuple[str, str, Mapping[str, str]]:
        prefix = "xml" if space == XML else "xhtml" if space == XHTML else self._prefixes.get(space) or "ns"
        if declared.get(prefix) == space:
            return f"{prefix}:{local}", "", declared
        return f"{prefix}:{local}", f' xmlns:{prefix}="{escape_attribute(space)}"', {**declared, prefix: space}

    def _add(self, part: str) -> None:
        self._length += len(part)
        if self._length > self._limit:
            raise FileRefused(f"An element holds more than {self._limit >> 20} MiB, which is not read.")
        self._parts.append(part)

"""What readers of XML results have in common."""

from collections.abc import Iterator
from typing import BinaryIO, cast

from catalog_service.exchange.records import Notice
from catalog_service.exchange.refusals import RootHandler, xml_of
from catalog_service.executions.readers.results import LONGEST_MESSAGE, LONGEST_TRACE, Found, ReadAs, Result
from catalog_service.executions.readers.xml_characters import ReadableXml
from chassis.files.xml_events import XmlLimits


class ResultsHandler(RootHandler):
    """Collects results until they are taken, and counts what is odd in the file."""

    cuts_text = True
    counts_lines = False

    def __init__(self, as_asked: ReadAs) -> None:
        self.properties = as_asked.properties
        self.found: list[Found] = []
        self._odd: dict[str, tuple[str, int]] = {}
        self._text: list[str] = []

    def odd(self, code: str, message: str) -> None:
        """Note something that a person should know; the message is that of the first."""
        first, count = self._odd.get(code, (message, 0))
        self._odd[code] = (first, count + 1)

    def has_odd(self, code: str) -> bool:
        """Check whether something of this code was noted."""
        return code in self._odd

    def notices(self) -> Iterator[Notice]:
        """Yield what was odd."""
        for code, (message, count) in self._odd.items():
            yield Notice(code, message, count)

    def keep(self) -> None:
        """Begin to keep text."""
        self.keeps_text = True
        self._text.clear()

    def text(self, text: str) -> None:
        self._text.append(text)

    def take_text(self) -> str:
        """Return the text that was kept, and keep no more."""
        self.keeps_text = False
        text = "".join(self._text).strip()
        self._text.clear()
        return text


def results_of(file: BinaryIO, handler: ResultsHandler, limits: XmlLimits | None = None) -> Iterator[Found]:
    """Yield what a handler finds in a file."""
    readable = ReadableXml(file)
    for _ in xml_of(cast(BinaryIO, readable), handler, limits=limits):
        yield from handler.found
        handler.found.clear()
    yield from handler.found
    yield from handler.notices()
    if readable.replaced:
        yield Notice(
            "text_replaced",
            "Characters that XML cannot hold are shown as \ufffd, colours of a terminal are left out.",
            readable.replaced,
        )


def fail(result: Result, message: str | None, trace: str | None) -> None:
    """Say that a result failed and why; what several failures say is put together."""
    result.status = "failed"
    if message:
        result.message = (f"{result.message}\n{message}" if result.message else message)[:LONGEST_MESSAGE]
    if trace:
        result.trace = (f"{result.trace}\n\n{trace}" if result.trace else trace)[:LONGEST_TRACE]


def number(text: str | None) -> int:
    """Return a number that a report says; 0 for what is none."""
    return int(text[:9]) if text is not None and text.isdecimal() else 0


def local(tag: str) -> str:
    """Return the name of a tag without its namespace."""
    return tag.rpartition("}")[2]

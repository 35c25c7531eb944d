"""XHTML values as the plain text that people read, and plain text as XHTML."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from catalog_service.exchange.reqif.fragments import escape_text

_TOKEN = re.compile(r"<(/?)([^\s/>]+)([^>]*?)(/?)>|([^<]+)")
_ATTRIBUTE = re.compile(r'([\w:.-]+)="([^"]*)"')
_SPACE = re.compile(r"[ \t\n\r]+")
_BLOCK = re.compile(
    r"address|blockquote|body|caption|center|d[dlt]|div|fieldset|form|h[1-6r]|p|pre|section|t(able|body|foot|head)"
)


def plain_text(markup: str) -> str:
    """Return what a reader sees: paragraphs on lines of their own, list items with marks, cells between bars."""
    if "<" not in markup:
        return _SPACE.sub(" ", html.unescape(markup)).strip()
    page = _Page()
    for closes, tag, attributes, empty, text in _tokens(markup):
        if text:
            page.write(html.unescape(text))
        elif closes:
            page.close(tag)
        else:
            page.open(tag, attributes)
            if empty:
                page.close(tag)
    return page.result()


def embedded(markup: str) -> list[str]:
    """Return the names of the objects that are embedded in a value, in their order."""
    if "<xhtml:object" not in markup and "<xhtml:img" not in markup:
        return []
    names = []
    for closes, tag, attributes, _, _ in _tokens(markup):
        if not closes and tag in ("object", "img"):
            values = dict(_ATTRIBUTE.findall(attributes))
            name = values.get("data") or values.get("src") or values.get("name") or values.get("type") or ""
            names.append(html.unescape(name))
    return [name for name in names if name]


def paragraphs(text: str) -> str:
    """Return plain text as XHTML: each line a paragraph, so that `plain_text` gives it back."""
    lines = text.split("\n")
    return "<xhtml:div>" + "".join(f"<xhtml:p>{_line(line)}</xhtml:p>" for line in lines) + "</xhtml:div>"


def _line(line: str) -> str:
    """Return a line whose blanks at its ends and in a row are kept: as no-break spaces they would be others."""
    if _SPACE.search(line) and (line != line.strip(" \t\r") or re.search(r"[ \t\r]{2}|[\t\r]", line)):
        return f'<xhtml:span style="white-space: pre">{escape_text(line)}</xhtml:span>'
    return escape_text(line)


def _tokens(markup: str) -> Iterator[tuple[str, str, str, str, str]]:
    for closes, tag, attributes, empty, text in _TOKEN.findall(markup):
        yield closes, tag.rpartition(":")[2].lower(), attributes, empty, text


@dataclass(slots=True)
class _Page:
    """Lines of text as they grow."""

    lines: list[str] = field(default_factory=list)
    line: str = ""
    mark: str = ""
    lists: list[int | None] = field(default_factory=list)
    keeps: list[bool] = field(default_factory=list)
    cells: int = 0
    within_cell: int = 0

    def write(self, text: str) -> None:
        if self.keeps and self.keeps[-1]:
            first, *others = text.split("\n")
            self.line += first
            for other in others:
                self.lines.append(self.line)
                self.line = other
        else:
            text = _SPACE.sub(" ", text)
            self.line += text.removeprefix(" ") if not self.line or self.line.endswith(" ") else text

    def open(self, tag: str, attributes: str) -> None:
        self.keeps.append(tag == "pre" or "white-space: pre" in attributes or (bool(self.keeps) and self.keeps[-1]))
        if tag in ("td", "th"):
            if self.cells:
                self.line = self.line.rstrip(" ") + " | "
            self.cells += 1
            self.within_cell += 1
        elif tag == "tr" and not self.within_cell:
            self.end_line()
            self.cells = 0
        elif tag == "br":
            self.end_line(blank=True)
        elif tag in ("ul", "ol"):
            self.end_line()
            self.lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self.end_line()
            self.mark = self._next_mark()
            self.line += self.mark
        elif _BLOCK.fullmatch(tag):
            self.end_line()

    def close(self, tag: str) -> None:
        if self.keeps:
            self.keeps.pop()
        if tag in ("td", "th"):
            self.within_cell = max(0, self.within_cell - 1)
        elif tag == "li":
            self.mark = ""
            self.end_line()
        elif tag in ("ul", "ol"):
            self.end_line()
            if self.lists:
                self.lists.pop()
        elif tag == "tr" or _BLOCK.fullmatch(tag):
            self.end_line(blank=tag == "p")

    def end_line(self, *, blank: bool = False) -> None:
        """End the line; `blank`: even when nothing is on it. Within a cell it is a blank, behind a mark nothing."""
        if self.within_cell:
            self.line = self.line.rstrip(" ") + " " if self.line else ""
        elif not self.mark or self.line != self.mark:
            if blank or self.line.strip(" "):
                self.lines.append(self.line.rstrip(" "))
            self.line = self.mark = ""

    def result(self) -> str:
        self.within_cell, self.mark = 0, ""
        self.end_line()
        return "\n".join(self.lines).strip("\n")

    def _next_mark(self) -> str:
        indent = "" if self.within_cell else "  " * max(0, len(self.lists) - 1)
        if not self.lists or (number := self.lists[-1]) is None:
            return f"{indent}- "
        self.lists[-1] = number + 1
        return f"{indent}{number}. "

"""Formatted text as the plain text that people read: XHTML of tools, and HTML as it comes."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r"<(/?)([^\s/>]+)([^>]*?)(/?)>|([^<]+)")
_HTML = re.compile(
    r"<(?=/?(?:a|abbr|b|big|blockquote|body|br|center|cite|code|dd|del|div|dl|dt|em|font|h[1-6r]|html|i|img|ins|li|ol|p|"
    r"pre|q|s|small|span|strong|strike|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul)(?:[\s/][^<>]*)?>)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t\n\r]+")
_BLOCK = re.compile(
    r"address|blockquote|body|caption|center|d[dlt]|div|fieldset|form|h[1-6r]|p|pre|section|t(able|body|foot|head)"
)
_BEGIN, _BETWEEN, _END = "<xhtml:div><xhtml:p>", "</xhtml:p><xhtml:p>", "</xhtml:p></xhtml:div>"
_WORD = r"(?:[^<>&\s]|&(?:amp|lt|gt);)++"
_PARAGRAPHS = re.compile(rf"<xhtml:div>(?:<xhtml:p>(?:{_WORD}(?: {_WORD})*)?</xhtml:p>)+</xhtml:div>")
"""Words with one blank between them, as our own exports write most texts: what is read of them is what stands there.

Only words are possessive: before 3.11.5 Python loses its place after what is so and holds such, and took a blank more.
"""
_DEEPEST_LIST = 20
"""Lists that lie deeper are not indented further."""
_EMPTY = frozenset(("br", "hr", "img", "input", "col"))


def plain_text(markup: str) -> str:
    """Return what a reader sees: paragraphs on lines of their own, list items with marks, cells between bars."""
    if "<" not in markup:
        return _spaced(html.unescape(markup)).strip()
    if markup.endswith(_END) and _PARAGRAPHS.fullmatch(markup):
        return html.unescape(markup[len(_BEGIN) : -len(_END)].replace(_BETWEEN, "\n")).strip("\n")
    page = _Page()
    for closes, tag, attributes, empty, text in tokens(markup):
        if text:
            page.write(html.unescape(text))
        elif closes:
            page.close(tag)
        else:
            page.open(tag, attributes)
            if empty or tag in _EMPTY:
                page.close(tag)
    return page.result()


def text_of_html(text: str) -> str:
    """Return the plain text of what may be HTML, as browsers and their users write it, or may be plain already."""
    if not _HTML.search(text):
        return html.unescape(text).replace("\xa0", " ").strip()
    parts = _HTML.split(text)
    known = [parts[0].replace("<", "&lt;")]
    for part in parts[1:]:
        tag, _, rest = part.partition(">")
        known.append(f"<{tag}>{rest.replace('<', '&lt;')}")
    lines = plain_text("".join(known)).replace("\xa0", " ").split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def tokens(markup: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the parts of markup: whether a tag closes, its name, its attributes, whether it is empty; or a text."""
    for closes, tag, attributes, empty, text in _TOKEN.findall(markup):
        yield closes, tag.rpartition(":")[2].lower(), attributes, empty, text


def _spaced(text: str) -> str:
    """Return a text with one blank for each white space, as it is where no other is in it: to look is much cheaper."""
    if "  " in text or "\n" in text or "\t" in text or "\r" in text:
        return _SPACE.sub(" ", text)
    return text


@dataclass(slots=True)
class _Page:
    """Lines of text as they grow."""

    lines: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    is_marked: bool = False
    keeps_blanks: bool = False
    lists: list[int | None] = field(default_factory=list)
    keeps: list[bool] = field(default_factory=list)
    cells: int = 0
    within_cell: int = 0

    def write(self, text: str) -> None:
        if self.keeps and self.keeps[-1]:
            first, *others = text.split("\n")
            self.add(first, keeps_blanks=True)
            for other in others:
                self.lines.append("".join(self.parts))
                self.parts = [other] if other else []
        else:
            text = _spaced(text)
            self.add(text.removeprefix(" ") if not self.parts or self.parts[-1].endswith(" ") else text)

    def add(self, text: str, *, keeps_blanks: bool = False) -> None:
        if text:
            self.parts.append(text)
            self.is_marked = False
            self.keeps_blanks = keeps_blanks

    def open(self, tag: str, attributes: str) -> None:
        self.keeps.append(tag == "pre" or "white-space: pre" in attributes or (bool(self.keeps) and self.keeps[-1]))
        if tag in ("td", "th"):
            if self.cells:
                self.end_words()
                self.add(" | ")
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
            self.is_marked = False
            self.end_line()
            self.add(self.next_mark())
            self.is_marked = True
        elif _BLOCK.fullmatch(tag):
            self.end_line()

    def close(self, tag: str) -> None:
        if self.keeps:
            self.keeps.pop()
        if tag in ("td", "th"):
            self.within_cell = max(0, self.within_cell - 1)
        elif tag == "li":
            self.is_marked = False
            self.end_line()
        elif tag in ("ul", "ol"):
            self.end_line()
            if self.lists:
                self.lists.pop()
        elif tag == "tr" or _BLOCK.fullmatch(tag):
            self.end_line(blank=tag == "p")

    def end_words(self) -> None:
        """Take the blanks from the end of the line, unless they are to stay."""
        if self.keeps_blanks:
            return
        while self.parts and not (stripped := self.parts[-1].rstrip(" ")):
            self.parts.pop()
        if self.parts:
            self.parts[-1] = stripped

    def end_line(self, *, blank: bool = False) -> None:
        """End the line; `blank`: even when nothing is on it. Within a cell it is a blank, behind a mark nothing."""
        if self.is_marked:
            return
        self.end_words()
        if self.within_cell:
            if self.parts:
                self.parts.append(" ")
        elif blank or self.parts:
            self.lines.append("".join(self.parts))
            self.parts = []

    def result(self) -> str:
        self.within_cell, self.is_marked = 0, False
        self.end_line()
        return "\n".join(self.lines).strip("\n")

    def next_mark(self) -> str:
        indent = "" if self.within_cell else "  " * min(max(0, len(self.lists) - 1), _DEEPEST_LIST)
        if not self.lists or (number := self.lists[-1]) is None:
            return f"{indent}- "
        self.lists[-1] = number + 1
        return f"{indent}{number}. "

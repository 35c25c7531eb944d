"""XHTML values: what is embedded in them, and plain text as one."""

import html
import re
from urllib.parse import unquote

from catalog_service.exchange.plain_text import tokens
from catalog_service.exchange.reqif.fragments import escape_text, is_printable

_ATTRIBUTE = re.compile(r'([\w:.-]+)="([^"]*)"')
_MOST_PARAGRAPHS = 1000
_BLANKS = re.compile(r"^[ \t\r]|[ \t\r]$|[ \t\r]{2}|[\t\r]")


def embedded(markup: str) -> list[str]:
    """Return the names of the objects that are embedded in a value, in their order."""
    if "<xhtml:object" not in markup and "<xhtml:img" not in markup:
        return []
    names = []
    for closes, tag, attributes, _, _ in tokens(markup):
        if not closes and tag in ("object", "img"):
            values = dict(_ATTRIBUTE.findall(attributes))
            name = values.get("data") or values.get("src") or values.get("name") or values.get("type") or ""
            names.append(_called(html.unescape(name)))
    return [name for name in names if name]


def _called(name: str) -> str:
    """Return what an object is called, as the archive has it: data within the text by what they are."""
    if name.startswith("data:"):
        return f"{re.split('[;,]', name[len('data:') :])[0] or 'data'} within the text"
    return unquote(name)


def paragraphs(text: str) -> str:
    """Return plain text as XHTML: each line a paragraph, so that `plain_text` gives it back.

    Very many lines are one paragraph that keeps its line breaks: markup around each would make ten times of them.
    """
    if text.count("\n") >= _MOST_PARAGRAPHS:
        return f"<xhtml:div><xhtml:p>{_as_it_is(text)}</xhtml:p></xhtml:div>"
    return words(escape_text(text) if are_words(text) else "\n".join(map(_line, text.split("\n"))))


def words(markup: str) -> str:
    """Return lines that need no more than a paragraph around each."""
    return "<xhtml:div><xhtml:p>" + markup.replace("\n", "</xhtml:p><xhtml:p>") + "</xhtml:p></xhtml:div>"


def are_words(text: str) -> bool:
    """Check whether a text is nothing but words with one blank or line ends between them, as most are."""
    return (
        is_printable(text.replace("\n", ""))
        and "  " not in text
        and " \n" not in text
        and "\n " not in text
        and not text.startswith((" ", "\n"))
        and not text.endswith((" ", "\n"))
    )


def _line(line: str) -> str:
    """Return a line such that blanks at its ends and in a row are kept."""
    if _BLANKS.search(line):
        return _as_it_is(line)
    return escape_text(line)


def _as_it_is(text: str) -> str:
    return f'<xhtml:span style="white-space: pre">{escape_text(text)}</xhtml:span>'

"""What is wrong with XML that is not well-formed, in the words of those who wrote it."""

import re

from lxml import etree

from chassis.core.wording import shown

_PLACE = re.compile(r",? line \d+, column \d+\s*\Z")
_REASONS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        ("no element found|Start tag expected", "it holds no element, or something stands before the first one"),
        ("Extra content", "something follows the end of its first element"),
        (r"Premature end of data in tag (\S+) line (\d+)", "the element {0} that begins in line {1} has no end"),
        (
            r"Opening and ending tag mismatch: (\S+) line (\d+) and (\S+)",
            "the element {0} that begins in line {1} is not ended before the end of {2}",
        ),
        (r"Attribute (\S+) redefined", "an element has the attribute {0} twice"),
        (r"Specification mandates value for attribute (\S+)", "the attribute {0} has no value"),
        ("Unescaped '<'", "a < in the value of an attribute has to be written &lt;"),
        ("EntityRef|CharRef: invalid (?:dec|hexa?decimal)", "a & that begins no entity has to be written &amp;"),
        (
            "Entity '(.+)' not defined",
            "there is no entity {0} in XML itself; write its character, or &#...; with its number",
        ),
        ("(?i)invalid (?:xml)?char", "it has a character that XML cannot hold"),
        ("EBCDIC", "its encoding is EBCDIC, which is not read"),
        ("Unsupported encoding: (.+)", "its encoding {0} is not known"),
        ("encoding name", "its encoding has no proper name"),
        ("Invalid bytes|[Ee]ncoding", "bytes here are no text in its encoding"),
        ("declaration allowed only at the start", "something stands before its first line (<?xml ...?>)"),
        ("XML declaration|Malformed declaration|[?]>|String not", "its first line (<?xml ...?>) is damaged"),
        ("CData section|Comment|PI", "a comment, CDATA section or instruction is damaged or has no end"),
        ("]]>", "a ]]> in a text has to be written ]]&gt;"),
        (
            "AttValue|attribute|[Tt]ag|'>'|'='|name",
            'a tag is damaged: one is written <name attribute="value">, and a < in a text &lt;',
        ),
    )
)


def reason_of(error: etree.XMLSyntaxError) -> str:
    """Return why a document is not well-formed, as the end of a sentence without its stop."""
    said = _PLACE.sub("", error.msg or "")
    for pattern, words in _REASONS:
        if found := pattern.search(said):
            return words.format(*map(_shown, found.groups()))
    return "it is damaged here"


def _shown(part: str) -> str:
    return part if part.isdecimal() else shown(part)

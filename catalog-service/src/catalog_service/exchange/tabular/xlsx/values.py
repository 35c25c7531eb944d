"""What the cells of a workbook hold: texts, numbers and dates."""

import html
import re
from array import array
from datetime import datetime, timedelta
from functools import lru_cache
from typing import BinaryIO

from lxml import etree

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.xlsx.plain import NOT_PLAIN, TEXT, Part

_MOST_TEXT = 160 << 20
_REPEATED = 4096
"""Texts that are kept as such: words of priorities and modules stand in each row."""
_PLAIN_TEXT = re.compile(rf'<si><t(?: xml:space="preserve")?>({TEXT})</t></si>{NOT_PLAIN}')
_LONGEST_CODE = 255
"""Characters of a number format, as Excel takes them."""
_ESCAPE = re.compile(r"(?:_x[0-9A-Fa-f]{4}_)+")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_BUILT_IN_DATES = frozenset({*range(14, 18), 22, *range(27, 32), 34, 35, 36, *range(50, 55), 57, 58})
_BUILT_IN_TIMES = frozenset({18, 19, 20, 21, 32, 33, 45, 46, 47, 55, 56})


class SharedTexts:
    """The texts that the cells of a workbook share, as one run of bytes: a text of its own takes 50 bytes more.

    `stream` is that of `sharedStrings.xml`; it is read as far as cells ask.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._pieces = Part(stream, "si", within="sst").read(_plain_texts, _shared_text)
        self._bytes = bytearray()
        self._ends = array("I", [0])
        self.struck: set[str] = set()
        """The indices of those that are read and have something that is struck through."""
        self.at = lru_cache(_REPEATED)(self._at)
        """Gives the text at an index that a cell states; raises Unreadable."""

    def _at(self, stored: str) -> str:
        index = integer(stored)
        if index is None:
            raise Unreadable("The workbook is damaged: a cell names a text that is not there.")
        while index >= len(self._ends) - 1:
            self._read_more()
        return unescape(self._bytes[self._ends[index] : self._ends[index + 1]].decode())

    def _read_more(self) -> None:
        texts, struck = next(self._pieces, (None, False))
        if texts is None:
            raise Unreadable("The workbook is damaged: a cell names a text that is not there.")
        if struck:
            self.struck.add(str(len(self._ends) - 1))
        for text in texts:
            self._bytes += text.encode("utf-8", "replace")
            self._ends.append(len(self._bytes))
        if len(self._bytes) > _MOST_TEXT:
            raise Unreadable(f"The texts of the workbook are larger than {_MOST_TEXT >> 20} MiB.")


def _shared_text(element: etree._Element) -> tuple[list[str], bool]:
    return [rich_text(element)], is_struck(element)


def _plain_texts(elements: str) -> list[tuple[list[str], bool]] | None:
    """Return shared texts, escaped still, as one; whether something is struck through is told of one by itself."""
    found = _PLAIN_TEXT.findall(elements)
    if found[-1][-1]:
        return None
    texts = [text for text, _ in found]
    return [(list(map(html.unescape, texts)) if "&" in elements else texts, False)]


def rich_text(element: etree._Element) -> str:
    """Return the text of an element `si` or `is`, its runs as one, without what tells how it is pronounced.

    It is escaped still.
    """
    if not has_runs(element):
        return (element[0].text or "") if len(element) else ""
    parts = []
    for child in element:
        name = etree.QName(child).localname
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [part.text or "" for part in child if etree.QName(part).localname == "t"]
    return "".join(parts)


def is_struck(element: etree._Element) -> bool:
    """Check whether an element `si` or `is` has a run that is struck through."""
    return has_runs(element) and any(is_on(mark.get("val")) for mark in element.iter("{*}strike"))


def has_runs(element: etree._Element) -> bool:
    """Check whether an element `si` or `is` has more than one text."""
    return len(element) > 1 or (len(element) == 1 and len(element[0]) > 0)


def is_on(stored: str | None) -> bool:
    """Check whether a property that is there, as `<strike/>` or with a value, is one that a text has."""
    return stored not in ("0", "false")


def unescape(text: str) -> str:
    """Return a text with the characters that XML cannot hold, which workbooks write as `_x0001_`."""
    return _ESCAPE.sub(_characters, text) if "_x" in text else text


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("_x", "").replace("_", ""))
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]


def number_text(stored: str) -> str:
    """Return a number as a person writes it: `1` for 1.0, and without what binary fractions add."""
    if stored.isdecimal() and len(stored) < 16:
        return str(int(stored))
    try:
        number = float(stored)
    except ValueError:
        return stored
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)


def integer(stored: str | None) -> int | None:
    """Return a number or an index that a part of a workbook states; None where it is none, or beyond all there are."""
    return int(stored) if stored is not None and len(stored) < 10 and stored.isdecimal() else None


@lru_cache(1000)
def kind_of_format(number: int, code: str | None) -> str:
    """Return what a number format makes of a number: `date`, `time`, `moment`, `duration` or nothing."""
    if code is None:
        if number == 22:
            return "moment"
        return "date" if number in _BUILT_IN_DATES else "time" if number in _BUILT_IN_TIMES else ""
    shown = _NOT_SHOWN.sub("", code[:_LONGEST_CODE].split(";")[0]).lower()
    if re.search(r"\[(h+|m+|s+)\]", shown):
        return "duration"
    if "general" in shown or re.search(r"[#0?]", re.sub(r"s[.,]0+", "s", shown)):
        return ""
    shown = shown.replace("am/pm", "h").replace("a/p", "h")
    has_time = re.search("[hs]", shown) is not None
    has_day = re.search("[yd]", shown) is not None or ("m" in shown and not has_time)
    if re.search(r"[^\x00-\x7f]", shown) and not (has_day or has_time):
        return ""
    return "moment" if has_day and has_time else "date" if has_day else "time" if has_time else ""


def date_text(stored: str, kind: str, from_1904: bool) -> str:
    """Return a date or a time as ISO 8601; the number where it is none."""
    try:
        days = float(stored)
        if kind == "duration":
            return _clock(timedelta(days=days))
        if kind == "time" and 0 <= days < 1:
            return _clock(timedelta(days=days))
        moment = _epoch(days, from_1904) + timedelta(milliseconds=round(days * 86_400_000))
    except (ValueError, OverflowError):
        return number_text(stored)
    if days < 0:
        return number_text(stored)
    if kind == "date" and moment == datetime.combine(moment, datetime.min.time()):
        return moment.date().isoformat()
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def _epoch(days: float, from_1904: bool) -> datetime:
    if from_1904:
        return datetime(1904, 1, 1)  # noqa: DTZ001 (a sheet has no time zones)
    return datetime(1899, 12, 31 if days < 60 else 30)  # noqa: DTZ001 (the sheet has a 29 February 1900)


def _clock(time: timedelta) -> str:
    seconds, milliseconds = divmod(round(time / timedelta(milliseconds=1)), 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}" + (f".{milliseconds:03}" if milliseconds else "")

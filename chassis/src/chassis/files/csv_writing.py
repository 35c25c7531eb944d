"""Lines of CSV (RFC 4180), such that spreadsheet programs read them right and execute none of them."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

BYTE_ORDER_MARK = "\ufeff"
"""At the beginning of a file: without it Excel takes UTF-8 for another encoding."""

# What is passed over to get to a formula differs from program to program; full-width signs are read as plain ones.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA = rf"""[\s"'\ufeff\u200b]*[{_SIGNS}]"""
_BEGINS = re.compile(rf"[\t\r]|{_FORMULA}")
_GOES_ON = re.compile(rf"([;|\t\r\n])(?={_FORMULA})")
"""Where a program that takes another separator for the comma would begin a cell."""
_HARMLESS = re.compile(rf"""[^\s"'\ufeff\u200b;|{_SIGNS}][^;|\t\r\n]*""")
"""Almost every cell: neither of the two is found in it, and this takes a quarter of the time."""


def csv_text(table: Iterable[Sequence[object]]) -> str:
    """Return lines of CSV."""
    text = StringIO(newline="")
    csv.writer(text).writerows(table)
    return text.getvalue()


def cell(value: Any) -> object:
    """Return a value as a cell of CSV that no spreadsheet program runs."""
    # An apostrophe keeps a spreadsheet program from running the text of a cell as a formula.
    if isinstance(value, str):
        if _HARMLESS.fullmatch(value):
            return value
        text = _GOES_ON.sub(r"\1'", value)
        return f"'{text}" if _BEGINS.match(text) else text
    if isinstance(value, bool):
        return "true" if value else "false"
    return value

"""Keeps spreadsheet programs from running texts of a CSV file as formulas, so that each text comes back as it was.

An apostrophe is put before what a program could run; and before an apostrophe, so that the two can be told apart.
Only files with the mark are decoded: what stands in others is theirs.
"""

import re

MARK = "_traceline:1"
"""The last cell of the header of a CSV file whose texts are encoded."""

_PLACE = r"(?:\A|(?<=[;|\t\r\n]))"  # where a program may see the beginning of a cell
_UNSAFE = re.compile(rf"""{_PLACE}(?=(?:[^\S\t\r\n]|["'])*[=+\-@＝＋－＠]|')|\A(?=[\t\r])""")
_SEPARATOR = re.compile(r"[;|\t\r\n]")
_ENCODED = re.compile(rf"{_PLACE}'")


def encode(text: str) -> str:
    """Return the text as a cell of a CSV file that no program runs."""
    if _SEPARATOR.search(text):
        return _UNSAFE.sub("'", text)
    # Only its beginning is the beginning of a cell, and most texts have no separator.
    return f"'{text}" if _UNSAFE.match(text) else text


def decode(cell: str) -> str:
    """Return the text that `encode` was given."""
    return _ENCODED.sub("", cell)


def looks_encoded(cell: str) -> bool:
    """Check whether a cell of a file without the mark begins as `encode` would have it."""
    return cell.startswith("'") and encode(cell[1:]) == cell

"""Keeps spreadsheet programs from running texts of a CSV file as formulas, so that each text comes back as it was.

An apostrophe is put before what a program could run; and before an apostrophe, so that the two can be told apart.
Only files with the mark are decoded: what stands in others is theirs.
"""

import re
from collections.abc import Sequence

MARK = "_traceline:1"
"""The last cell of the header of a CSV file whose texts are encoded."""

_PLACE = r"(?:\A|(?<=[;|\t\r\n]))"  # where a program may see the beginning of a cell
_RUN = r"""(?=(?:[^\S\t\r\n]|["'])*[=+\-@＝＋－＠]|')"""
_AT_BEGIN = re.compile(rf"{_RUN}|(?=[\t\r])")
_WITHIN = re.compile(rf"[;|\t\r\n]{_RUN}")
_IN_A_ROW = re.compile(rf"[;|\t\r\n](?:{_RUN}|[\t\r])")
_ENCODED = re.compile(rf"{_PLACE}'")


def encode(text: str) -> str:
    """Return the text as a cell of a CSV file that no program runs."""
    # Nearly all texts stay as they are, and to look for something is cheaper than to replace nothing.
    inside = _WITHIN.sub(r"\g<0>'", text) if _WITHIN.search(text) else text
    return f"'{inside}" if _AT_BEGIN.match(text) else inside


def encode_row(cells: Sequence[str | None]) -> Sequence[str | None]:
    """Return the cells of a row, each encoded: most rows have none that is to be, which one look tells."""
    if _IN_A_ROW.search("\n" + "\n".join(filter(None, cells))) is None:
        return cells
    return [cell if cell is None else encode(cell) for cell in cells]


def decode(cell: str) -> str:
    """Return the text that `encode` was given."""
    return _ENCODED.sub("", cell)


def looks_encoded(cell: str) -> bool:
    """Check whether a cell of a file without the mark begins as `encode` would have it."""
    return cell.startswith("'") and encode(cell[1:]) == cell

"""Keeps spreadsheet programs from running texts of a CSV file as formulas, so that each text comes back as it was.

An apostrophe is put before what a program could run; and before an apostrophe, so that the two can be told apart.
Only files with the mark are decoded: what stands in others is theirs.
"""

import re
from collections.abc import Iterator, Sequence

MARK = "_traceline:1"
"""The last cell of the header of a CSV file whose texts are encoded."""

_PLACE = r"(?:\A|(?<=[;|\t\r\n]))"  # where a program may see the beginning of a cell
_RUN = r"""(?=(?:[^\S\t\r\n]|["'])*[=+\-@＝＋－＠]|')"""
_AT_BEGIN = re.compile(rf"{_RUN}|(?=[\t\r])")
_WITHIN = re.compile(rf"[;|\t\r\n]{_RUN}")
_IN_A_ROW = re.compile(rf"[;|\t\r\n](?:{_RUN}|[\t\r])")
_NO_BLANK = re.compile(r"""[^\s"']""")
_PIECE = 8_000
"""Letters of a text that are looked through at once: a search lets nobody in meanwhile."""
_ENCODED = re.compile(rf"{_PLACE}'")


def encode(text: str) -> str:
    """Return the text as a cell of a CSV file that no program runs."""
    inside = _encode_inside(text) if len(text) <= _PIECE else "".join(_encode_long(text))
    return f"'{inside}" if _AT_BEGIN.match(text) else inside


def _encode_inside(text: str) -> str:
    # Nearly all texts stay as they are, and to look for something is cheaper than to replace nothing.
    return _WITHIN.sub(r"\g<0>'", text) if _WITHIN.search(text) else text


def _encode_long(text: str) -> Iterator[str]:
    """Yield a text encoded, in pieces that are looked through in no time.

    Each begins with a separator, so that nothing lies across two. Behind its first letters it has none, and what
    stands behind the blanks there is not looked at.
    """
    begin, separators = 0, [*";|\t\r\n"]
    while begin < len(text):
        places = {separator: text.find(separator, begin + _PIECE) for separator in separators}
        separators = [separator for separator, place in places.items() if place >= 0]
        end = min((places[separator] for separator in separators), default=len(text))
        seen = _NO_BLANK.search(text, begin + _PIECE, end)
        looked_at = end if seen is None else seen.end()
        yield _encode_inside(text[begin:looked_at])
        yield text[looked_at:end]
        begin = end


def encode_row(cells: Sequence[str | None]) -> Sequence[str | None]:
    """Return the cells of a row, each encoded: most rows have none that is to be, which one look tells."""
    together = "\n" + "\n".join(filter(None, cells))
    if len(together) <= _PIECE and _IN_A_ROW.search(together) is None:
        return cells
    return [cell if cell is None else encode(cell) for cell in cells]


def decode(cell: str) -> str:
    """Return the text that `encode` was given."""
    return _ENCODED.sub("", cell)


def looks_encoded(cell: str) -> bool:
    """Check whether a cell of a file without the mark begins as `encode` would have it."""
    return cell.startswith("'") and encode(cell[1:]) == cell

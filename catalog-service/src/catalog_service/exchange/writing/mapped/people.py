"""Cells of CSV files for people and other tools, who get texts as they are unless a program could run them."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from io import StringIO

_FORMULA = re.compile(
    r"""(\A|[;\t\r\n])(?=(?:[^\S\t\r\n]|["'])*(?:[=+@＝＋＠]|[-－](?=[^\W_]|[(.]))|(?<![^\t\r])[\t\r])"""
)
"""Where a program may see the beginning of a formula: at the begin of a cell, or behind what another separator may be.

A `-` begins one before a letter or a digit alone, so that lists with bullets stay as they are.
"""
BEGIN = BOM_UTF8
"""What a file begins with: without it Excel takes the texts for another encoding."""


def guard(cell: str) -> str:
    """Return a cell with an apostrophe before what a program could run as a formula."""
    return _FORMULA.sub(r"\1'", cell) if _FORMULA.search(cell) else cell


def write_lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as lines of a CSV file."""
    text = StringIO(newline="")
    csv.writer(text).writerows([list(map(guard, row)) for row in rows])
    return text.getvalue().encode()

"""Cells of CSV files for people and other tools, who get texts as they are unless a program could run them."""

import re

_FORMULA = re.compile(
    r"""(\A|[;\t\r\n])(?=(?:[^\S\t\r\n]|["'])*(?:[=+@＝＋＠]|[-－](?=[^\W_]|[(.]))|(?<![^\t\r])[\t\r])"""
)
"""Where a program may see the beginning of a formula: at the begin of a cell, or behind what another separator may be.

A `-` begins one before a letter or a digit alone, so that lists with bullets stay as they are.
"""


def guard(cell: str) -> str:
    """Return a cell with an apostrophe before what a program could run as a formula."""
    return _FORMULA.sub(r"\1'", cell) if _FORMULA.search(cell) else cell

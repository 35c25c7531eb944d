"""The binary form of the matrix, `application/vnd.traceline.matrix`; README.md of this service describes it."""

import struct
from array import array
from collections import Counter
from itertools import accumulate
from typing import NamedTuple

MEDIA_TYPE = "application/vnd.traceline.matrix"
_MAGIC = b"TLM1"


class Cells(NamedTuple):
    """The cells by row and column, as PostgreSQL gives them: u32 of `row_places` and `column_places` big-endian."""

    rows: int
    columns: int
    row_places: bytes
    column_places: bytes
    states: bytes


def encode(cells: Cells) -> bytes:
    """Return the document."""
    count = len(cells.states)
    in_row = Counter(struct.unpack(f">{count}I", cells.row_places))
    offsets = accumulate((in_row[row] for row in range(cells.rows)), initial=0)
    columns = array("I", cells.column_places)
    columns.byteswap()
    head = struct.pack("<4sIII", _MAGIC, cells.rows, cells.columns, count)
    return b"".join((head, struct.pack(f"<{cells.rows + 1}I", *offsets), columns, cells.states))

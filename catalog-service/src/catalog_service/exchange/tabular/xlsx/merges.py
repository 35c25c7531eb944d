"""The merged cells of a sheet, which say their value once for all rows and columns that they cover."""

import re
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.table import MOST_COLUMNS, Merge, column_position
from chassis.files.refused import FileRefused

_MARK = b"mergeCell "
_MERGE = re.compile(
    rb'<(?:\w{1,40}:)?mergeCell [^<>]{0,200}?\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"[^<>]{0,200}>'
)
_LONGEST = 512
"""Bytes of what the pattern matches."""
_PIECE = 1 << 16
_MOST = 100_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_merges(sheet: BinaryIO) -> list[Merge]:
    """Return the merged cells, in the order of their first rows.

    They stand behind all rows of a sheet, which is read a second time for them: by a pattern, as texts cannot have it.
    What cannot be read is left to who reads the rows.
    """
    found: list[Merge] = []
    held = b""
    is_wide = False
    try:
        while piece := sheet.read(_PIECE):
            is_wide = is_wide or (not held and piece.startswith(_UTF_16))
            held += piece.replace(b"\0", b"") if is_wide else piece
            end = 0
            if _MARK in held:
                for merge in _MERGE.finditer(held):
                    end = merge.end()
                    first, last, at = int(merge[2]), int(merge[4]), column_position(merge[1].decode())
                    width = column_position(merge[3].decode()) - at + 1
                    if last >= first and width > 0 and at < MOST_COLUMNS:
                        found.append(Merge(first, last, at, width))
                if len(found) > _MOST:
                    raise Unreadable(f"The sheet has more than {_MOST:,} merged cells, which is not read.")
            held = held[max(end, len(held) - _LONGEST) :]
    except FileRefused:
        pass
    return sorted(found)

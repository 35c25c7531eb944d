"""Where JSON is broken: the parser that reads large files in pieces does not say it."""

from typing import Any, BinaryIO

import ijson

from catalog_service.exchange.native.json_depth import NO_JSON

_PIECE = 1 << 16


class _Nothing:
    """Takes the events of a parser for the sake of its errors."""

    def send(self, event: Any) -> None:
        """Take an event."""


def place_of_error(file: BinaryIO, start: int = 0) -> tuple[int, int, int] | None:
    """Return line and column from 1 and the offset in bytes at which a file stops being JSON; None where it does not.

    It is read twice more as far as the error, the last piece of it byte by byte.
    """
    good = _good_pieces(file, start)
    file.seek(start)
    parser = ijson.basic_parse_coro(_Nothing(), use_float=True)
    line, line_start, offset = 1, start, start
    for _ in range(good):
        piece = file.read(_PIECE)
        parser.send(piece)
        if b"\n" in piece:
            line += piece.count(b"\n")
            line_start = offset + piece.rfind(b"\n") + 1
        offset += len(piece)
    last = file.read(_PIECE)
    for byte in last:
        try:
            parser.send(bytes((byte,)))
        except (*NO_JSON, StopIteration):
            return line, offset - line_start + 1, offset
        offset += 1
        if byte == 0x0A:
            line, line_start = line + 1, offset
    return (line, offset - line_start + 1, offset) if not last else None


def _good_pieces(file: BinaryIO, start: int) -> int:
    """Return how many pieces the parser takes before it refuses one."""
    file.seek(start)
    parser = ijson.basic_parse_coro(_Nothing(), use_float=True)
    good = 0
    while True:
        piece = file.read(_PIECE)
        try:
            parser.send(piece)
        except (*NO_JSON, StopIteration):
            return good
        if not piece:
            return good
        good += 1

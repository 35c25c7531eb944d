"""What readers of JSON results have in common."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import ijson
import orjson

from catalog_service.exchange.broken_json import NO_JSON, broken_json, reason_of
from catalog_service.exchange.native.json_depth import BLOCK, ShallowJson
from catalog_service.exchange.records import Unreadable
from catalog_service.executions.readers.results import whole_milliseconds

MAX_RECORD = 64 << 20
"""Bytes of one object that is held in memory: a feature or a suite with its pictures."""
LONGEST_LINE = 64 << 20
_BOM = b"\xef\xbb\xbf"
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def items(file: BinaryIO, prefix: str, *, levels: int) -> Iterator[Any]:
    """Yield the values at a place of a file, as ijson calls places, one after the other; raise Unreadable.

    `levels`: how many brackets are open between two of them.
    """
    start = len(_BOM) if file.read(3) == _BOM else 0
    file.seek(start)
    try:
        yield from ijson.items(ShallowJson(file, MAX_RECORD, levels=levels), prefix, use_float=True, buf_size=BLOCK)
    except NO_JSON as error:
        raise broken_json(file, start, error) from None


def lines(file: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield each line that is a JSON object with its number, and None for any other line; raise Unreadable."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise Unreadable("The line is longer than 64 MiB.", code="too_long", line=number)
        text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
        if not text:
            continue
        if not text.startswith(b"{"):
            yield number, None
            continue
        try:
            yield number, orjson.loads(text)
        except orjson.JSONDecodeError as error:
            column = error.colno + len(line) - len(line.lstrip())
            told = f"Line {number} is no JSON: {reason_of(error)}."
            raise Unreadable(told, line=number, column=column) from None


def a_dict(value: Any) -> dict[str, Any]:
    """Return an object of a file, empty for what is none."""
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """Return a list of a file, empty for what is none."""
    return value if isinstance(value, list) else []


def a_text(value: Any) -> str:
    """Return a text of a file, without what colours terminals; numbers as texts, empty for what is neither."""
    if isinstance(value, str):
        return _COLOURS.sub("", value) if "\x1b" in value else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(int(value)) if value == int(value) else str(value)


def a_duration(value: Any, unit: float = 1) -> int | None:
    """Return whole milliseconds of a number of a unit, which is so many of them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return whole_milliseconds(value * unit)

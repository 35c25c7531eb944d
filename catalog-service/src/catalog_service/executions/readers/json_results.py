"""What readers of JSON results have in common."""

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import ijson
import orjson

from catalog_service.exchange.broken_json import NO_JSON, Path, broken_json, place_of, reason_of
from catalog_service.exchange.native.json_depth import BLOCK, ShallowJson
from catalog_service.exchange.records import Unreadable
from catalog_service.executions.readers.results import whole_milliseconds
from catalog_service.executions.readers.whole_texts import Mended, mended
from chassis.files.spools import open_spool

Shape = dict[str, Any]
"""What members of an object are to be where it has them: a Shape for an object, in brackets for a list of objects."""

MAX_RECORD = 64 << 20
"""Bytes of one object that is held in memory: a feature or a suite with its pictures."""
LONGEST_LINE = 64 << 20
_BOM = b"\xef\xbb\xbf"
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def items(file: BinaryIO, place: Path, *, levels: int, shape: Shape, needed: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list of a file, one after the other; raise Unreadable, also for what is none of `shape`.

    `place`: the names that lead to the list, which a file may lack when it is not `needed`. `levels`: how many
    brackets are open between two objects.
    """
    with as_utf8(file) as whole:
        start = len(_BOM) if whole.read(3) == _BOM else 0
        plain = Mended(whole)
        number = -1
        try:
            for number, found in enumerate(_values(plain, start, (*place, "item"), levels)):
                check(plain, start, found, shape, (*place, number))
                yield found
            if number < 0:
                _check_list(plain, start, place, needed=needed)
        except NO_JSON as error:
            raise broken_json(plain, start, error) from None


def member(file: BinaryIO, place: Path) -> dict[str, Any]:
    """Return an object of a file, to which names lead; empty where it is not there or is none."""
    with as_utf8(file) as whole:
        start = len(_BOM) if whole.read(3) == _BOM else 0
        plain = Mended(whole)
        try:
            return a_dict(next(_values(plain, start, place, len(place)), None))
        except NO_JSON as error:
            raise broken_json(plain, start, error) from None


def _values(file: Mended, start: int, prefix: Sequence[str | int], levels: int) -> Iterator[Any]:
    file.seek(start)
    shallow = ShallowJson(file, MAX_RECORD, levels=levels)
    return iter(ijson.items(shallow, ".".join(map(str, prefix)), use_float=True, buf_size=BLOCK))


def _check_list(file: Mended, start: int, place: Path, *, needed: bool) -> None:
    """Check that a list of which nothing was found is there and empty."""
    for found in _values(file, start, place, levels=0):
        check(file, start, found, [{}], place)
        return
    if needed:
        raise Unreadable(f"The file has no {_told(place)}, where its results would be.", line=1, column=1, offset=start)


def check(file: BinaryIO | Mended, start: int, value: Any, shape: Shape | list[Shape], path: Path) -> None:
    """Raise Unreadable with its place for a value of a file, to which `path` leads, that is none of `shape`."""
    wrong = _misfit(value, shape, path)
    if wrong is not None:
        at, is_to_be, there = wrong
        line, column, offset = place_of(file, start, at) or (None, None, None)
        detail = f"{_told(at)} is to be {is_to_be}, not {there}."
        raise Unreadable(detail, line=line, column=column, offset=offset)


def _misfit(value: Any, shape: Shape | list[Shape], path: Path) -> tuple[Path, str, str] | None:
    """Return where a value is not as it is to be: the path, what is to be there, and what is."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return path, "a list", _kind(value)
        for at, one in enumerate(value):
            if (wrong := _misfit(one, shape[0], (*path, at))) is not None:
                return wrong
        return None
    if not isinstance(value, dict):
        return path, "an object", _kind(value)
    for name, inner in shape.items():
        member = value.get(name)
        if member is not None and (wrong := _misfit(member, inner, (*path, name))) is not None:
            return wrong
    return None


def _told(path: Path) -> str:
    """Return how people write a path: `results.tests[3]`."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path).lstrip(".") or "The whole"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")


@contextmanager
def as_utf8(file: BinaryIO) -> Iterator[BinaryIO]:
    """Open a file from its beginning, in UTF-8: what PowerShell redirects is UTF-16; raise Unreadable."""
    file.seek(0)
    is_utf16 = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    file.seek(0)
    if not is_utf16:
        yield file
        return
    decoder = codecs.getincrementaldecoder("utf-16")()
    with open_spool() as spool:
        try:
            while block := file.read(BLOCK):
                spool.write(decoder.decode(block).encode())
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise Unreadable("The file begins as UTF-16 and does not go on as such; send it in UTF-8.") from None
        spool.seek(0)
        yield spool


def lines(file: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield each line that is a JSON object with its number, and any other as its bytes; raise Unreadable."""
    with as_utf8(file) as plain:
        number = 0
        while line := plain.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise Unreadable("The line is longer than 64 MiB.", code="too_long", line=number)
            text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if text:
                yield number, _object(text, number, len(line) - len(line.lstrip())) if text.startswith(b"{") else text


def _object(text: bytes, number: int, indented: int) -> Any:
    try:
        return orjson.loads(mended(text))
    except orjson.JSONDecodeError as error:
        detail = f"Line {number} is no JSON: {reason_of(error)}."
        raise Unreadable(detail, line=number, column=error.colno + indented) from None


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

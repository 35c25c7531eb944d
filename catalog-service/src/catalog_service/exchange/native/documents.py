"""A JSON document that holds objects in a list, read without holding it whole."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, BinaryIO

import ijson
import orjson

from catalog_service.exchange.broken_json import NO_JSON, broken_json, place_of
from catalog_service.exchange.layout import LISTS, MARK, PROFILE, Count, cut_off
from catalog_service.exchange.native.json_depth import BLOCK, ShallowJson
from catalog_service.exchange.native.members import LeftLists
from catalog_service.exchange.native.surrogates import WholePairs
from catalog_service.exchange.records import Unreadable
from chassis.core.wording import shown

RECORDS = "records"
"""The member of our own documents that holds all records."""
_LISTS = (RECORDS, "items", *LISTS)
"""The members of somebody's document in which records are looked for; `items` is what the API's lists have."""
_BEGINS = frozenset({"start_array", "start_map"})
_SAID = (MARK, PROFILE)
_END = re.compile(rb'"end"\s*:\s*(\{[^{}]*\{[^{}]*\}[^{}]*\})\s*\}\s*\Z')
_TAIL = 4096
_INT64 = range(-(2**63), 2**63)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """A document: what it says of itself, the names of its lists (empty: it is one itself), and what it holds.

    `others` are lists in which no records are looked for.
    """

    file: BinaryIO
    start: int
    max_record: int
    head: dict[str, Any]
    lists: tuple[str, ...]
    others: LeftLists
    count: Count = field(default_factory=Count)

    def entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects, each with the name of its list; raise Unreadable."""
        for name in self.lists or ("",):
            for number, entry in enumerate(self._items(f"{name}.item" if name else "item")):
                try:
                    if not isinstance(entry, dict):
                        raise Unreadable("The file has values in its list that are no objects.")
                    entry = _with_floats(entry)
                except Unreadable as refused:
                    at = place_of(self.file, self.start, (name, number) if name else (number,))
                    refused.line, refused.column, refused.offset = at or (None, None, None)
                    raise
                yield name, entry

    def _items(self, prefix: str) -> Iterator[Any]:
        self.file.seek(self.start)
        guarded = ShallowJson(WholePairs(self.file), self.max_record, levels=2 if self.lists else 1)
        try:
            yield from ijson.items(guarded, prefix, buf_size=BLOCK, map_type=_Members)
        except NO_JSON as error:
            raise broken_json(self.file, self.start, error, use_float=False) from None

    def check_end(self) -> None:
        """Raise Unreadable unless the end is there and is that of what was read; hashes all that stands before it."""
        size = self.file.seek(0, 2)
        self.file.seek(max(0, size - _TAIL))
        found = _END.search(self.file.read())
        if found is None:
            raise cut_off()
        left = max(0, size - _TAIL) + found.start() - self.start
        self.file.seek(self.start)
        while left > 0 and (block := self.file.read(min(BLOCK, left))):
            self.count.sha256.update(block)
            left -= len(block)
        self.count.check(orjson.loads(found[1]))


def open_document(file: BinaryIO, max_record: int, *, is_beginning: bool = False) -> Document:
    """Return the document of a file: what it says before its records; raise Unreadable where it holds none.

    `is_beginning`: the file may be cut off, once a list has begun.
    """
    file.seek(0)
    start = len(_BYTE_ORDER_MARK) if file.read(3) == _BYTE_ORDER_MARK else 0
    file.seek(start)
    head: dict[str, Any] = {}
    lists: list[str] = []
    others = LeftLists()
    try:
        for prefix, event, value in ijson.parse(ShallowJson(WholePairs(file), max_record, levels=2), buf_size=BLOCK):
            if not prefix and event == "start_array":
                return Document(file, start, max_record, {}, (), others)
            if event == "start_array" and prefix in _LISTS:
                lists.append(prefix)
                if prefix == RECORDS:
                    break
            elif prefix in _SAID and event in {"string", "number"}:
                head[prefix] = value
            elif prefix == others.entry:
                others.take(event)
            elif event in _BEGINS and prefix and "." not in prefix and prefix not in _LISTS:
                others.begin(prefix, is_list=event == "start_array")
    except NO_JSON as error:
        if not (is_beginning and lists):
            raise broken_json(file, start, error, use_float=False) from None
    if not lists:
        raise Unreadable(
            "The file is JSON, but no list of items: an array of objects is expected, or an object with"
            f" one of {', '.join(_LISTS)}. From another tool, such as Jira or Qase, export a table (CSV or XLSX)"
            " instead."
        )
    return Document(file, start, max_record, head, tuple(lists), others)


class _Members(dict[str, Any]):
    """An object as it is read, that says which name it was given twice, if any."""

    __slots__ = ("doubled",)

    def __init__(self) -> None:
        self.doubled: str | None = None

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self:
            self.doubled = name
        super().__setitem__(name, value)


def _with_floats(value: Any) -> Any:
    """Return a value of ijson with floats as the API reads it, in place; raise Unreadable for what that refuses."""
    if isinstance(value, _Members):
        if value.doubled is not None:
            raise Unreadable(f"The file has {shown(value.doubled)} twice in an object; leave one.")
        for name, member in value.items():
            if not isinstance(member, str):
                dict.__setitem__(value, name, _with_floats(member))
    elif isinstance(value, list):
        value[:] = [_with_floats(member) for member in value]
    elif isinstance(value, Decimal):
        value = float(value)
        if not math.isfinite(value):
            raise Unreadable("The file has a number beyond 1.8e308; write it as a text.")
    elif isinstance(value, int) and value not in _INT64:
        raise Unreadable(f"The file has the integer {str(value)[:40]}, beyond 64 bits; write it as a text.")
    return value

"""NDJSON and JSON as formats that files are read from."""

from typing import Any, BinaryIO

import orjson

from catalog_service.exchange.formats import Format
from catalog_service.exchange.layout import LISTS, MARK, SECTIONS
from catalog_service.exchange.native.documents import RECORDS
from catalog_service.exchange.native.entries import KIND, is_link
from catalog_service.exchange.native.reading import read_document, read_lines
from catalog_service.items.kinds import KINDS

_MARKED = f'"{MARK}"'.encode()
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TELLING = frozenset(name for kind in KINDS for name in kind.columns) - {"id", "version", "status", "type", "steps"}


def _recognise_lines(file: BinaryIO, name: str) -> float:
    head = file.read().removeprefix(_BYTE_ORDER_MARK).lstrip()
    line, _, rest = head.partition(b"\n")
    entry = _object(line)
    if entry is None:
        return 0.0
    if MARK in entry:
        return 0.0 if RECORDS in entry else 1.0
    is_one_of_many = _object(rest.lstrip().partition(b"\n")[0]) is not None
    return _likeness(entry) * (1.0 if is_one_of_many or not rest.strip() else 0.5)


def _recognise_document(file: BinaryIO, name: str) -> float:
    head = file.read().removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"{"):
        if _MARKED in head[:1024] and head[1:].lstrip()[: len(_MARKED)] == _MARKED:
            return 0.9
        return 0.4 if any(f'"{section}"'.encode() in head for section in LISTS) else 0.1
    return 0.4 if head[:1] == b"[" and head[1:].lstrip()[:1] in {b"{", b"]"} else 0.0


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return entry if isinstance(entry, dict) else None


def _likeness(entry: dict[str, Any]) -> float:
    """Return how much a plain object looks like one of the record, 0..1."""
    if str(entry.get(KIND)).lower() in SECTIONS or is_link(entry):
        return 0.8
    return 0.6 if not _TELLING.isdisjoint(entry) else 0.2


NDJSON = Format(
    name="ndjson",
    label="JSON, a line an object; our own complete exports",
    media_types=("application/x-ndjson", "application/ndjson", "application/jsonl"),
    suffixes=(".ndjson", ".jsonl"),
    recognise=_recognise_lines,
    read=read_lines,
    is_native=True,
)
JSON = Format(
    name="json",
    label="JSON, a list of objects; our own complete exports",
    media_types=("application/json",),
    suffixes=(".json",),
    recognise=_recognise_document,
    read=read_document,
    is_native=True,
)

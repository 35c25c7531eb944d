"""Writes records as NDJSON or as one JSON document, such that a reader knows whether it has all of them."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar

import orjson

from catalog_service.exchange.layout import LEVEL, MARK, SECTIONS, VERSION
from catalog_service.exchange.native.documents import RECORDS

_NO_BREAKS = str.maketrans("\r\n", "  ")


class NativeLines:
    """A file of our own under way, as NDJSON: the head is written at once, then records, at last the end."""

    media_type: ClassVar[str] = "application/x-ndjson"
    _head: ClassVar[bytes] = b"%s}"
    _between: ClassVar[str] = "\n"
    _after_records: ClassVar[bytes] = b"\n"
    _end: ClassVar[bytes] = b'{"kind":"end",%s}\n'

    def __init__(self, file: IO[bytes], about: Mapping[str, Any]) -> None:
        """`about` are the members of the head behind the mark."""
        self._file = file
        self._sha256 = hashlib.sha256()
        self._counts = {section: 0 for kind, section in SECTIONS.items() if kind != LEVEL}
        self._put(self._head % orjson.dumps({MARK: VERSION, **about}).removesuffix(b"}"))

    def write(self, kind: str, records: Sequence[str]) -> None:
        """Add records of a kind, each one JSON object with its `kind` as the first member."""
        if not records:
            return
        before = self._between if any(self._counts.values()) else "\n"
        self._counts[SECTIONS[kind]] = self._counts.get(SECTIONS[kind], 0) + len(records)
        content = before + self._between.join(records)
        if content.count("\n") + content.count("\r") != len(records):
            # Between members, of JSON that somebody has sent with them: those of a text are escaped.
            content = before + self._between.join(record.translate(_NO_BREAKS) for record in records)
        self._put(content.encode())

    def finish(self) -> None:
        """Write the end, with the hash of all that stands before it."""
        self._put(self._after_records)
        end = orjson.dumps({"counts": self._counts, "sha256": self._sha256.hexdigest()})
        self._file.write(self._end % end[1:-1])

    def _put(self, content: bytes) -> None:
        self._sha256.update(content)
        self._file.write(content)


class NativeJson(NativeLines):
    """The same as one object, its records in a list."""

    media_type: ClassVar[str] = "application/json"
    _head: ClassVar[bytes] = f'%s,"{RECORDS}":['.encode()
    _between: ClassVar[str] = ",\n"
    _after_records: ClassVar[bytes] = b"\n],"
    _end: ClassVar[bytes] = b'"end":{%s}}\n'

"""The forms of an export; each takes the records as they come."""

from collections.abc import Sequence
from typing import IO, Any, ClassVar, Protocol

from catalog_service.exchange.native.writing import NativeJson, NativeLines
from catalog_service.exchange.writing.scope import About


class ExportDocument(Protocol):
    """A document under way: begun with what it is about, given the records kind by kind, finished, closed.

    It is written to `file`; `folder` is there for what it needs until it is closed. `as_json`: whether it is given each
    record as one text of JSON, or as a row of cells, each a text or None.
    """

    media_type: ClassVar[str]
    suffix: ClassVar[str]
    as_json: ClassVar[bool]

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None: ...

    def write(self, kind: str, rows: Sequence[Any]) -> None:
        """Take some more records of a kind."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Give back what it holds, finished or not; the file stays open."""


class NdjsonExport:
    """A line a record, between a head and an end."""

    media_type: ClassVar[str] = NativeLines.media_type
    suffix: ClassVar[str] = "ndjson"
    as_json: ClassVar[bool] = True
    _native: ClassVar[type[NativeLines]] = NativeLines

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._document = self._native(file, about.head)

    def write(self, kind: str, rows: Sequence[str]) -> None:
        """See ExportDocument.write."""
        self._document.write(kind, rows)

    def finish(self) -> None:
        """See ExportDocument.finish."""
        self._document.finish()

    def close(self) -> None:
        """See ExportDocument.close."""


class JsonExport(NdjsonExport):
    """The same as one object."""

    media_type: ClassVar[str] = NativeJson.media_type
    suffix: ClassVar[str] = "json"
    _native: ClassVar[type[NativeLines]] = NativeJson

"""Takes the file of a request as it comes, whole body or a part of a form, and stores it in chunks."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from python_multipart import multipart
from python_multipart.exceptions import MultipartParseError

from chassis.core.problems import Invalid, MalformedBody, TooLarge
from chassis.core.wording import shown
from chassis.web import strict_json
from chassis.web.body_limits import with_file

CHUNK = 256 * 1024
_MOST_MAPPING = 1024 * 1024
_FORM = b"multipart/form-data"
_MOST_HEADERS = 16

Store = Callable[[int, bytes], Awaitable[None]]
"""Stores a chunk by its number, from 0."""


@dataclass(slots=True)
class Received:
    """What came: the file's name, type, size and hash, and the mapping that came beside it."""

    file_name: str | None = None
    media_type: str | None = None
    size: int = 0
    sha256: str = ""
    mapping: dict[str, Any] | None = None


@dataclass(slots=True)
class _File:
    """A file on its way into chunks."""

    store: Store
    size: int = 0
    number: int = 0
    pending: bytearray = field(default_factory=bytearray)
    sha256: Any = field(default_factory=hashlib.sha256)

    async def write(self, data: bytes) -> None:
        self.size += len(data)
        self.sha256.update(data)
        self.pending += data
        while len(self.pending) >= CHUNK:
            await self._store(bytes(self.pending[:CHUNK]))
            del self.pending[:CHUNK]

    async def end(self) -> None:
        if self.pending:
            await self._store(bytes(self.pending))

    async def _store(self, data: bytes) -> None:
        await self.store(self.number, data)
        self.number += 1


async def receive(request: Request, store: Store) -> Received:
    """Store the file of a request and return what it is.

    Raises TooLarge, MalformedBody for a form that is none, and Invalid for one without a file.
    """
    content_type = request.headers.get("content-type", "")
    media_type, options = multipart.parse_options_header(content_type)
    file = _File(store)
    received = Received()
    stream = with_file(request).stream()
    if media_type.lower() == _FORM:
        await _read_form(stream, options.get(b"boundary", b""), file, received)
    else:
        received.media_type = content_type.partition(";")[0].strip().lower() or None
        async for data in stream:
            await file.write(data)
    await file.end()
    if file.size == 0:
        raise Invalid("The file is empty; send the file itself, or a form with a part `file`.", code="empty_file")
    received.size, received.sha256 = file.size, file.sha256.hexdigest()
    return received


class _Form:
    """What the parser of a form says, kept until it can be acted upon: its callbacks cannot wait for a database."""

    def __init__(self, boundary: bytes) -> None:
        self.said: list[tuple[str, bytes]] = []
        self.is_complete = False
        self._name = self._value = b""
        self._parser = multipart.MultipartParser(
            boundary,
            {
                "on_part_begin": lambda: self.said.append(("part", b"")),
                "on_part_data": lambda data, start, end: self.said.append(("data", data[start:end])),
                "on_header_field": self._on_name,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header,
                "on_headers_finished": lambda: self.said.append(("begin", b"")),
                "on_end": self._on_end,
            },
        )

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Return what is in the next bytes."""
        self.said = []
        self._parser.write(data)
        return self.said

    def _on_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self.said.append(("header", self._name.lower() + b":" + self._value))
        self._name = self._value = b""

    def _on_end(self) -> None:
        self.is_complete = True


async def _read_form(stream: AsyncIterator[bytes], boundary: bytes, file: _File, received: Received) -> None:
    if not boundary:
        raise MalformedBody("The form names no boundary in its Content-Type.", code="malformed_form")
    try:
        form = _Form(boundary)
        headers: dict[bytes, bytes] = {}
        name = ""
        seen: set[str] = set()
        mapping = bytearray()
        async for data in stream:
            for what, content in form.feed(data):
                if what == "part":
                    headers = {}
                elif what == "header":
                    key, _, value = content.partition(b":")
                    headers[key] = value
                    if len(headers) > _MOST_HEADERS:
                        raise MalformedBody("A part of the form has too many headers.", code="malformed_form")
                elif what == "begin":
                    name = _begin(headers, seen, received)
                elif name == "file":
                    await file.write(content)
                else:
                    mapping += content
                    if len(mapping) > _MOST_MAPPING:
                        raise TooLarge("The mapping is larger than 1 MiB.")
    except MultipartParseError as error:
        raise MalformedBody(f"The form cannot be read: {error}.", code="malformed_form") from None
    if not form.is_complete:
        raise MalformedBody("The form ended before its last boundary.", code="malformed_form")
    if "file" not in seen:
        raise Invalid.field("/file", "The form has no part `file`; send the file as one.", "missing")
    if mapping.strip():
        received.mapping = _mapping(bytes(mapping))


def _begin(headers: dict[bytes, bytes], seen: set[str], received: Received) -> str:
    """Note what a part of a form says of itself; return its name."""
    _, options = multipart.parse_options_header(headers.get(b"content-disposition", b""))
    name = options.get(b"name", b"").decode("utf-8", "replace")
    if name not in {"file", "mapping"}:
        message = f"There is no part {shown(name)}; a form has `file` and perhaps `mapping`. Options are in the query."
        raise Invalid.field(f"/{name}", message, "unknown_field")
    if name in seen:
        raise Invalid.field(f"/{name}", f"The form has two parts `{name}`; send one.", "repeated")
    seen.add(name)
    if name == "file":
        file_name = options.get(b"filename", b"").decode("utf-8", "replace").replace("\0", "")
        received.file_name = file_name.replace("\\", "/").rpartition("/")[2][:255] or None
        media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        received.media_type = media_type or None
    return name


def _mapping(text: bytes) -> dict[str, Any]:
    value = strict_json.parse(text)
    if not isinstance(value, dict):
        raise Invalid.field("/mapping", "A mapping is a JSON object.", "dict_type")
    return value

"""Takes the file of a request as it comes, whole body or parts of a form, and stores it in chunks."""

import hashlib
from collections import Counter
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
MOST_MAPPING = 1024 * 1024
_FORM = b"multipart/form-data"
_MOST_HEADERS = 16
MOST_FILES = 100
"""In one form; each is read by itself, and open until all are stored."""

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
    """A file on its way into chunks, and what is known of it."""

    store: Store
    received: Received = field(default_factory=Received)
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

    async def end(self) -> Received:
        if self.pending:
            await self._store(bytes(self.pending))
        if self.size == 0:
            name = f" {shown(self.received.file_name)}" if self.received.file_name else ""
            detail = f"The file{name} is empty; send the file itself, or a form with a part `file`."
            raise Invalid(detail, code="empty_file")
        self.received.size, self.received.sha256 = self.size, self.sha256.hexdigest()
        return self.received

    async def _store(self, data: bytes) -> None:
        await self.store(self.number, data)
        self.number += 1


async def receive(request: Request, store: Store) -> Received:
    """Store the file of a request and return what it is.

    Raises TooLarge, MalformedBody for a form that is none, and Invalid for one without a file.
    """
    (received,) = await _receive(request, lambda: store, most=1, with_mapping=True)
    return received


async def receive_all(request: Request, begin: Callable[[], Store]) -> list[Received]:
    """Store the files of a request, each by a store of its own that `begin` returns; raise what `receive` raises."""
    return await _receive(request, begin, most=MOST_FILES, with_mapping=False)


async def _receive(request: Request, begin: Callable[[], Store], *, most: int, with_mapping: bool) -> list[Received]:
    content_type = request.headers.get("content-type", "")
    media_type, options = multipart.parse_options_header(content_type)
    stream = with_file(request).stream()
    if media_type.lower() == _FORM:
        allowed = {"file": most, **({"mapping": 1} if with_mapping else {})}
        return await _read_form(stream, options.get(b"boundary", b""), begin, allowed)
    file = _File(begin())
    file.received.media_type = content_type.partition(";")[0].strip().lower() or None
    async for data in stream:
        await file.write(data)
    return [await file.end()]


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


async def _read_form(
    stream: AsyncIterator[bytes], boundary: bytes, begin: Callable[[], Store], allowed: dict[str, int]
) -> list[Received]:
    if not boundary:
        raise MalformedBody("The form names no boundary in its Content-Type.", code="malformed_form")
    ended: list[Received] = []
    file: _File | None = None
    try:
        form = _Form(boundary)
        headers: dict[bytes, bytes] = {}
        name = ""
        seen: Counter[str] = Counter()
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
                    name = _name_of(headers, seen, allowed)
                    if name == "file":
                        if file is not None:
                            ended.append(await file.end())
                        file = _File(begin(), _described(headers))
                elif name == "file" and file is not None:
                    await file.write(content)
                else:
                    mapping += content
                    if len(mapping) > MOST_MAPPING:
                        raise TooLarge("The mapping is larger than 1 MiB.")
    except MultipartParseError as error:
        raise MalformedBody(f"The form cannot be read: {error}.", code="malformed_form") from None
    if not form.is_complete:
        raise MalformedBody("The form ended before its last boundary.", code="malformed_form")
    if file is None:
        raise Invalid.field("/file", "The form has no part `file`; send the file as one.", "missing")
    ended.append(await file.end())
    if mapping.strip():
        ended[0].mapping = _mapping(bytes(mapping))
    return ended


def _name_of(headers: dict[bytes, bytes], seen: Counter[str], allowed: dict[str, int]) -> str:
    """Return the name of a part of a form, and count it; raise Invalid for one that a form does not have.

    `allowed`: how often it has which.
    """
    _, options = multipart.parse_options_header(headers.get(b"content-disposition", b""))
    name = options.get(b"name", b"").decode("utf-8", "replace")
    if name not in allowed:
        parts = "`file` and perhaps `mapping`" if "mapping" in allowed else "`file`, once for each file"
        message = f"There is no part {shown(name)}; a form has {parts}. Options are in the query."
        raise Invalid.field(f"/{name}", message, "unknown_field")
    seen[name] += 1
    most = allowed[name]
    if seen[name] > most == 1:
        raise Invalid.field(f"/{name}", f"The form has two parts `{name}`; send one.", "repeated")
    if seen[name] > most:
        raise Invalid.field(f"/{name}", f"The form has more than {most} files; send it in parts.", "too_long")
    return name


def _described(headers: dict[bytes, bytes]) -> Received:
    """Return what a part of a form says of its file."""
    _, options = multipart.parse_options_header(headers.get(b"content-disposition", b""))
    file_name = options.get(b"filename", b"").decode("utf-8", "replace").replace("\0", "")
    media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    return Received(file_name.replace("\\", "/").rpartition("/")[2][:255] or None, media_type or None)


def _mapping(text: bytes) -> dict[str, Any]:
    value = strict_json.parse(text, "mapping")
    if not isinstance(value, dict):
        raise Invalid.field("/mapping", "A mapping is a JSON object.", "dict_type")
    return value

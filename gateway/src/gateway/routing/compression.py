"""gzip on the way out: for texts from a kilobyte on, and never for what may carry a secret.

A compressed answer keeps its ETag as it is, though its bytes are others: no part of an answer can be asked for by its
place, so that the tag names the state of the item alone, and If-Match has to work with what a GET answered. `Vary`
keeps caches from giving it to those who cannot read it.
"""

import zlib
from collections.abc import Mapping

from starlette.types import Message, Send

from chassis.core.turns import let_others_in
from gateway.routing.encodings import accepts
from gateway.routing.versions import is_secret

_LEAST = 1024
_LEVEL = 1
_GZIP = 31
"""The window of zlib, and the format."""
_SLICE = 64 * 1024
"""Bytes that are compressed at a time: the others' requests go on between."""
_KINDS = frozenset(
    {
        b"application/javascript",
        b"application/json",
        b"application/problem+json",
        b"application/vnd.traceline.matrix",
        b"application/x-ndjson",
        b"application/xml",
        b"image/svg+xml",
        b"text/css",
        b"text/csv",
        b"text/html",
        b"text/javascript",
        b"text/plain",
    }
)
_BODILESS = frozenset({204, 206, 304})
_ADDED = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]


def begun(path: str, sent: Mapping[bytes, bytes], start: Message, send: Send) -> Send:
    """Return the `send` of an answer that begins with `start`: one that compresses it, where that is worth it.

    `path` and `sent` are the address and the headers of the request.
    """
    if b"accept-encoding" not in sent:
        return send
    length = kind = None
    for name, value in start["headers"]:
        if name == b"content-length":
            if int(value) < _LEAST:  # most answers: nothing else is looked at
                return send
            length = value
        elif name == b"content-type":
            kind = value.partition(b";")[0].strip()
        elif name == b"content-encoding":
            return send
    if kind not in _KINDS or start["status"] in _BODILESS or is_secret(path):
        return send
    if not accepts(sent[b"accept-encoding"], b"gzip"):
        return send
    return _Compressing(send, is_sized=length is not None)


def compressing(path: str, sent: Mapping[bytes, bytes], send: Send) -> Send:
    """Return a `send` for an answer that has not begun yet."""

    async def send_on(message: Message) -> None:
        nonlocal send
        if message["type"] == "http.response.start":
            send = begun(path, sent, message, send)
        await send(message)

    return send_on


class _Compressing:
    """Holds the head of an answer back until its body shows how long it is, where nothing else has said so."""

    __slots__ = ("_compressor", "_is_sized", "_send", "_start")

    def __init__(self, send: Send, *, is_sized: bool) -> None:
        self._send = send
        self._is_sized = is_sized
        self._start: Message | None = None
        self._compressor: zlib._Compress | None = None

    async def __call__(self, message: Message) -> None:
        if self._compressor is not None:
            await self._compress(message)
        elif self._start is not None:
            await self._begin(self._start, message)
        elif message["type"] == "http.response.start":
            self._start = message
        else:
            await self._send(message)

    async def _begin(self, start: Message, first: Message) -> None:
        self._start = None
        body = first.get("body", b"")
        is_whole = not first.get("more_body", False)
        if is_whole and len(body) < _LEAST:
            await self._send(start)
            await self._send(first)
            return
        headers = [header for header in start["headers"] if header[0] != b"content-length"]
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        if is_whole and len(body) <= _SLICE:
            body = self._compressor.compress(body) + self._compressor.flush()
            headers.append((b"content-length", b"%d" % len(body)))
            await self._send({**start, "headers": [*headers, *_ADDED]})
            await self._send({**first, "body": body})
            return
        await self._send({**start, "headers": [*headers, *_ADDED]})
        await self._compress(first)

    async def _compress(self, message: Message) -> None:
        """Send the next part; of an answer whose end is not known, all that there is so far."""
        assert self._compressor is not None
        body = message.get("body", b"")
        for begin in range(0, len(body), _SLICE):
            part = self._compressor.compress(body[begin : begin + _SLICE])
            if part:
                await self._send({"type": "http.response.body", "body": part, "more_body": True})
            await let_others_in()
        more = message.get("more_body", False)
        if not more:
            rest = self._compressor.flush()
        elif self._is_sized or not body:
            return
        else:
            rest = self._compressor.flush(zlib.Z_SYNC_FLUSH)
        await self._send({"type": "http.response.body", "body": rest, "more_body": more})

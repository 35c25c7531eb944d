"""A document that takes long to make: made on disk, from where it is sent while it grows, so that memory stays bounded.

A reader who is slow holds no connection to the database, for the document does not wait for readers. An error before
its first bytes is answered as a problem; one that comes later ends the connection, so that half a document is not
taken for the whole.
"""

import asyncio
import math
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import IO

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chassis.core.problems import TooManyRequests
from chassis.core.turns import let_others_in

_BLOCK = 256 * 1024
_UNTIL_DONE = 5
"""Seconds after which a caller may ask again whether their document has ended."""

_LOOKS, _LOOK_AGAIN = 20, 0.05
"""How often, and after how many seconds: who has read the last byte may be faster than we are."""

_LONGEST_REST = 0.5
"""Seconds: the next document waits as long as this one took, so that one after another take half of the process."""

_next_from: dict[int | None, float] = {}
"""When the users may get their next document from this process, by its clock; never while one is made or sent.

Each holds disk, and a place in the line of those to make.
"""

Making = Callable[[IO[bytes]], AsyncGenerator[int, None]]
"""Writes a document to an empty file, and yields how long the file is, as it grows: what is written stays as it is."""


class DocumentResponse(Response):
    """Makes a document and sends it from its beginning on, while it is made."""

    def __init__(self, making: Making, media_type: str, headers: Mapping[str, str], *, reader: int | None) -> None:
        """`reader` is the id of the user who gets it: each gets one at a time; None: any number."""
        self._reader = reader
        super().__init__(
            headers={
                "Content-Type": media_type,
                "Cache-Control": "no-store",  # whoever takes it away decides where it is kept
                "X-Content-Type-Options": "nosniff",
                **headers,
            }
        )
        # Nobody knows yet how long it will be.
        del self.headers["Content-Length"]
        self._making = making
        self._written = 0
        self._grown = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; raise TooManyRequests while the reader gets another."""
        if not await self._is_its_turn():
            raise TooManyRequests(
                "You get another document already, and each user gets one at a time; wait for its end, or end it.",
                retry_after=_UNTIL_DONE,
                code="document_under_way",
            )
        began = time.monotonic()
        _next_from[self._reader] = math.inf
        try:
            await self._answer(send)
        finally:
            now = time.monotonic()
            _next_from[self._reader] = now + min(now - began, _LONGEST_REST)

    async def _is_its_turn(self) -> bool:
        """Check whether the reader gets no other document; one that has just come to its end is waited for."""
        if self._reader is None:
            return True
        for _ in range(_LOOKS):
            if time.monotonic() >= _next_from.get(self._reader, 0.0):
                return True
            await asyncio.sleep(_LOOK_AGAIN)
        return False

    async def _answer(self, send: Send) -> None:
        with tempfile.TemporaryFile(prefix="document-") as file:
            making = asyncio.create_task(self._make(file))
            making.add_done_callback(lambda _: self._grown.set())
            try:
                await self._send(file, making, send)
            finally:
                making.cancel()
                await asyncio.wait([making])

    async def _make(self, file: IO[bytes]) -> None:
        async with aclosing(self._making(file)) as growing:
            async for self._written in growing:
                file.flush()
                self._grown.set()

    async def _send(self, file: IO[bytes], making: asyncio.Task[None], send: Send) -> None:
        sent, whole = 0, False
        while not whole:
            await self._grown.wait()
            self._grown.clear()
            if whole := making.done():
                making.result()
            while sent < self._written:
                if not sent:
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                block = os.pread(file.fileno(), min(_BLOCK, self._written - sent), sent)
                sent += len(block)
                await send({"type": "http.response.body", "body": block, "more_body": True})
                await let_others_in()
        await send({"type": "http.response.body", "body": b""})

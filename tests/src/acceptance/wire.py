"""HTTP as bytes on a connection: what no ordinary client sends, and what comes back."""

import asyncio
import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httptools

CLOSES_WITHIN = 120.0
"""Seconds after which every connection that a server was told nothing sensible on is over."""


_QUIET = 0.1
"""Seconds after a whole answer in which another one would come."""


class Answer:
    """One answer as it came."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_whole = False

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"<{self.status} {self.media_type} {self.body[:300]!r}>"


class Answers:
    """Reads the answers on one connection; `all` holds them in order, the last one perhaps not whole."""

    def __init__(self) -> None:
        self.all: list[Answer] = []
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.all.append(Answer())

    def on_header(self, name: bytes, value: bytes) -> None:
        self.all[-1].headers[name.decode().lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.all[-1].status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self.all[-1].body += body

    def on_message_complete(self) -> None:
        self.all[-1].is_whole = True
        if self.all[-1].status < 200:
            self.all.pop()


async def connect(base_url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(base_url)
    return await asyncio.open_connection(address.hostname, address.port)


async def say(base_url: str, data: bytes, *, listen: float = 1.0) -> list[Answer]:
    """Send bytes over a connection of their own; return the whole answers until it is closed.

    Args: ``listen`` is how many seconds to wait for an answer before closing the sending side.
    Raises AssertionError when the connection then stays open, or what comes back is no HTTP.
    """
    reader, writer = await connect(base_url)
    answers = Answers()
    try:
        with suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(listen) as patience:
                while await _hear(reader, answers):
                    if answers.all and answers.all[-1].is_whole:
                        patience.reschedule(asyncio.get_running_loop().time() + _QUIET)
        with suppress(OSError):
            writer.write_eof()
        async with asyncio.timeout(CLOSES_WITHIN):
            while await _hear(reader, answers):
                pass
    except TimeoutError:
        raise AssertionError(f"The connection is still open: {answers.all}") from None
    except httptools.HttpParserError as error:
        raise AssertionError(f"What came back is no HTTP: {error}") from None
    finally:
        writer.close()
    assert all(answer.is_whole for answer in answers.all), answers.all
    return answers.all


async def _hear(reader: asyncio.StreamReader, answers: Answers) -> bool:
    """Take what comes; return whether more may come."""
    try:
        data = await reader.read(65536)
    except ConnectionError:
        return False
    answers.feed(data)
    return bool(data)

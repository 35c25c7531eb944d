"""A paced load: some connections, each with one request at a time and a rest between two, as people have."""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.load import Measured

Answered = Callable[[int, bytes], None]
Ask = tuple[str, bytes, Answered | None]
"""The name of an operation, its request, and who wants to know of status and body."""


@dataclass
class Loaded:
    """What came of a load: the seconds of each operation, and what went wrong."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[str] = field(default_factory=list)
    duration: float = 0.0

    @property
    def requests(self) -> int:
        return sum(len(each) for each in self.seconds.values())

    def of(self, name: str) -> Measured:
        """Return the answers of one operation."""
        return Measured(self.seconds[name], self.duration, 0)


async def load(port: int, ask: Callable[[], Ask], *, connections: int, rate: float, seconds: float) -> Loaded:
    """Send what `ask` gives, about `rate` requests a second in all; an answer other than 2xx is wrong.

    Each connection rests for a random time after each answer, so that it comes back `rate / connections` times a
    second when answers take no time. It is opened again when it was closed meanwhile; one that breaks is wrong.
    """
    loaded = Loaded()
    began = time.perf_counter()
    end = began + seconds
    pause = random.Random(3)

    async def converse() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                await asyncio.sleep(pause.uniform(0.5, 1.5) * connections / rate)
                if time.perf_counter() >= end or reader.at_eof():
                    return
                name, request, answered = ask()
                sent = time.perf_counter()
                try:
                    writer.write(request)
                    status, body = await _answer(reader)
                except (OSError, asyncio.IncompleteReadError):
                    loaded.wrong.append(f"{name}: the connection broke")
                    return
                loaded.seconds[name].append(time.perf_counter() - sent)
                if not 200 <= status < 300:
                    loaded.wrong.append(f"{name}: {status} {body[:300].decode(errors='replace')}")
                elif answered is not None:
                    answered(status, body)
        finally:
            writer.close()

    async def client() -> None:
        while time.perf_counter() < end:
            await converse()

    await asyncio.gather(*(client() for _ in range(connections)))
    loaded.duration = time.perf_counter() - began
    return loaded


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    return int(head[9:12]), await reader.readexactly(int(length or 0))

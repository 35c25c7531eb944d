"""A closed-loop load of keep-alive connections, from one process, on loopback."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """What a load of `len(seconds)` requests took."""

    seconds: list[float]
    duration: float
    errors: int

    @classmethod
    def joined(cls, parts: Sequence["Measured"]) -> "Measured":
        """Return loads that went on one after the other as one."""
        latencies = [latency for part in parts for latency in part.seconds]
        return cls(latencies, sum(part.duration for part in parts), sum(part.errors for part in parts))

    @property
    def per_second(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.duration

    def percentile(self, share: float) -> float:
        """Milliseconds within which `share` (0..1) of the requests were answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def request(method: str, path: str, token: str, body: bytes = b"") -> bytes:
    """Return the bytes of one HTTP/1.1 request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def in_turn(requests: Iterable[bytes]) -> Callable[[], bytes]:
    """Return what gives these requests over and over, one at a time."""
    return itertools.cycle(requests).__next__


async def run(port: int, make: Callable[[], bytes], *, connections: int, seconds: float) -> Measured:
    """Send what `make` gives over and over on each connection; an answer other than 2xx counts as an error."""
    latencies: list[float] = []
    errors = 0
    began = time.perf_counter()
    end = began + seconds

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (sent := time.perf_counter()) < end:
            writer.write(make())
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
            latencies.append(time.perf_counter() - sent)
            errors += not head.startswith(b"HTTP/1.1 2")
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return Measured(latencies, time.perf_counter() - began, errors)

"""`GET /metrics`, the text that Prometheus reads: of this process, and of nothing else that it answers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from prometheus_client import REGISTRY, Metric, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from chassis.observability.collectors import GaugeCollectors
from chassis.server.http_server import Server

_GRACE = 1

# When each counter began: not needed, and it would be a third of the text.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Everything(Collector):
    """What was counted and what was read."""

    def __init__(self, read: Sequence[Metric]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        yield from REGISTRY.collect()
        yield from self._read


@asynccontextmanager
async def served(listener: socket.socket, collectors: GaugeCollectors) -> AsyncIterator[None]:
    """Answer on `listener` until the block ends."""
    server = Server(create_app(collectors), grace=_GRACE)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.stop()
        await serving


def create_app(collectors: GaugeCollectors) -> ASGIApp:
    """Return the app; it needs no authentication: its port is for those who run Traceline."""

    async def metrics(request: Request) -> Response:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        everything = Everything(await collectors.get())
        # In a thread: it takes some 10 ms, for which no request should have to wait.
        return Response(await asyncio.to_thread(encode, everything), headers={"content-type": media_type})

    return Starlette(routes=[Route("/metrics", metrics)])

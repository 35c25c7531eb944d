"""`python -m acceptance.bench.server`: the embedded run with a bare FastAPI route on the same server.

The route, GET /bare, is the yardstick: the same event loop, HTTP parser and process, and nothing behind it.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
import uvloop
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from chassis import logs
from embedded.composition import SCHEMAS, Traceline, compose, read_settings
from embedded.postgres import Postgres, migrate
from embedded.settings import Settings

bare = FastAPI()


@bare.get("/bare")
async def answer() -> dict[str, int]:
    """What FastAPI costs by itself."""
    return {"unread_count": 1}


def main(settings: Settings) -> None:
    """Serve until SIGINT."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    logs.configure(terminal="WARNING", file=settings.data_dir / "traceline.log")
    postgres = Postgres(settings.data_dir.resolve() / "postgresql")
    try:
        urls = {}
        for service, (package, schema_version) in SCHEMAS.items():
            urls[service] = postgres.database(package)
            migrate(package, urls[service], schema_version)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(compose(read_settings(), urls), settings.port))
    finally:
        postgres.stop()


class _Server(uvicorn.Server):
    """Leaves the signals to us, as the embedded run does."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(traceline: Traceline, port: int) -> None:
    await traceline.start()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (bare if scope["type"] == "http" and scope["path"] == "/bare" else traceline.app)(scope, receive, send)

    config = uvicorn.Config(
        app, port=port, http="httptools", lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = _Server(config)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: setattr(server, "should_exit", True))
    try:
        await server.serve()
    finally:
        await traceline.stop()


if __name__ == "__main__":
    main(Settings())

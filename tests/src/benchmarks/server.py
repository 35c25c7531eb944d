"""`python -m benchmarks.server`: the embedded run with a bare FastAPI route on the same server.

The route, GET /bare, is the yardstick: the same event loop, HTTP parser and process, and nothing behind it.
"""

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from embedded.settings import read_settings
from embedded.start import start

bare = FastAPI()


@bare.get("/bare")
async def answer() -> dict[str, int]:
    """What FastAPI costs by itself."""
    return {"unread_count": 1}


def beside(gateway: ASGIApp) -> ASGIApp:
    """Return an app that answers /bare itself and everything else by the gateway."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (bare if scope["path"] == "/bare" else gateway)(scope, receive, send)

    return app


if __name__ == "__main__":
    start(read_settings(), wrap=beside)

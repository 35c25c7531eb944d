"""Requests a second through the gateway, each beside a bare FastAPI route on the same server."""

import asyncio
import itertools
import statistics
from collections.abc import Callable
from pathlib import Path

import orjson
import uvloop

from acceptance.client import Traceline, created
from benchmarks.load import Measured, in_turn, request, run
from benchmarks.running import Server, serving
from benchmarks.texts import Texts

CONNECTIONS = 32
_SECONDS = 2.0
_ROUNDS = 3
_ITEMS = 1000
_GOALS = {"unread-count": 0.35, "me": 0.35, "list of 20": 0.25, "read": None, "create": 0.15}


def main(folder: Path) -> None:
    """Print the table."""
    with serving(folder, "benchmarks.server") as server:
        texts = Texts(1)
        for number in range(_ITEMS):
            server.client.post("/api/v1/requirements", json=texts.requirement(number, "REQ")).raise_for_status()
        server.client.post("/api/v1/suggestions/generate").raise_for_status()
        print(f"\nHTTP through the gateway, {CONNECTIONS} connections, {_ITEMS} requirements")
        print(f"{'':14}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'bare/s':>9}{'ratio':>8}{'goal':>7}{'errors':>8}")
        for name, make in _requests(server, texts).items():
            uvloop.run(_compare(server, name, make))
        uvloop.run(_compare_tokens(server))


def _requests(server: Server, texts: Texts) -> dict[str, Callable[[], bytes]]:
    """Return what makes the next request of each kind: other users, other pages and other items each time."""
    numbers = itertools.count()
    ids = [item["id"] for item in server.client.get("/api/v1/requirements?limit=500").json()["items"]]
    admin = Traceline(str(server.client.base_url), token=server.token)
    tokens = [admin.new_user("viewer").token or "" for _ in range(CONNECTIONS)]

    def create() -> bytes:
        body = orjson.dumps(texts.requirement(next(numbers), "NEW"))
        return request("POST", "/api/v1/requirements", server.token, body)

    return {
        "unread-count": in_turn(request("GET", "/api/v1/notifications/unread-count", token) for token in tokens),
        "me": in_turn(request("GET", "/api/v1/auth/me", token) for token in tokens),
        "list of 20": in_turn(
            request("GET", f"/api/v1/requirements?limit=20&skip={skip}", server.token) for skip in range(0, _ITEMS, 20)
        ),
        "read": in_turn(request("GET", f"/api/v1/requirements/{item_id}", server.token) for item_id in ids),
        "create": create,
    }


async def _compare(server: Server, name: str, make: Callable[[], bytes]) -> None:
    """Measure in turns with the bare route, since the machine's speed drifts."""
    bare_request = request("GET", "/bare", server.token)
    ratios, all_measured, bare_rates = [], [], []
    for _ in range(_ROUNDS):
        bare = await run(server.port, lambda: bare_request, connections=CONNECTIONS, seconds=_SECONDS / 2)
        measured = await run(server.port, make, connections=CONNECTIONS, seconds=_SECONDS)
        await asyncio.sleep(0.5)
        ratios.append(measured.per_second / bare.per_second)
        all_measured.append(measured)
        bare_rates.append(bare.per_second)
    whole = Measured.joined(all_measured)
    goal = _GOALS[name]
    print(
        f"{name:14}{whole.per_second:11,.0f}{whole.percentile(0.5):9.1f}{whole.percentile(0.99):9.1f}"
        f"{statistics.median(bare_rates):9,.0f}{statistics.median(ratios):8.0%}"
        f"{'' if goal is None else format(goal, '.0%'):>7}{whole.errors:8}"
    )


async def _compare_tokens(server: Server) -> None:
    """Measure the same read with the JWT and with an API token of one user, in turns."""
    admin = Traceline(str(server.client.base_url), token=server.token)
    user = admin.new_user("viewer")
    made = created(user.post("/auth/tokens", json={"name": "benchmark", "scopes": ["read"]}))
    path = f"/api/v1/requirements/{user.read('/requirements', limit=1)['items'][0]['id']}"
    by_jwt, by_token = (request("GET", path, token) for token in (user.token or "", made["token"]))
    ratios = []
    for _ in range(_ROUNDS):
        jwt = await run(server.port, lambda: by_jwt, connections=CONNECTIONS, seconds=_SECONDS)
        token = await run(server.port, lambda: by_token, connections=CONNECTIONS, seconds=_SECONDS)
        if jwt.errors or token.errors:
            raise RuntimeError(f"{jwt.errors} and {token.errors} requests were refused.")
        ratios.append(token.per_second / jwt.per_second)
    print(f"A read with an API token: {statistics.median(ratios):.0%} of the requests/s with a JWT, goal 90%")

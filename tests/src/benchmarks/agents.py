"""What a tool of /mcp takes beside the route that it asks, of one caller who waits for each answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import uvloop

from benchmarks.load import Measured, in_turn, run
from benchmarks.running import Server, serving
from benchmarks.texts import Texts

_ITEMS = 1000
_ROUNDS = 5
_SECONDS = 2.0
_VERSION = "2026-07-28"
_GET_GOAL = 60
"""Milliseconds of the 95th percentile: this one tells what several routes do."""
_MORE_GOAL = 5
"""Milliseconds more than the route."""


def main(folder: Path) -> bool:
    """Print the table; return whether the goals are met."""
    with serving(folder, "embedded") as server:
        texts = Texts(1)
        for number in range(_ITEMS):
            server.client.post("/api/v1/requirements", json=texts.requirement(number, "REQ")).raise_for_status()
        ids = [item["id"] for item in server.client.get("/api/v1/requirements?limit=200").json()["items"]]
        words = [texts.requirement(number, "REQ")["title"].split()[0] for number in range(50)]
        print(f"\nTools of /mcp beside the route that they ask, one connection, {_ITEMS} requirements, milliseconds")
        print(f"{'':8}{'route p50':>11}{'p95':>8}{'tool p50':>11}{'p95':>8}{'ratio':>8}{'more':>8}{'errors':>8}  goal")
        get = uvloop.run(
            _measure(
                server,
                [_read(server, f"/requirements/{one}") for one in ids],
                [_call(server, "get", items=[one]) for one in ids],
            )
        )
        _print("get", *get, f"p95 of {_GET_GOAL}")
        find = uvloop.run(
            _measure(
                server,
                [_read(server, f"/requirements?search={word}&limit=20&expand=coverage") for word in words],
                [_call(server, "find", type="requirement", query=word) for word in words],
            )
        )
        _print("find", *find, f"{_MORE_GOAL} more")
        return get[1].percentile(0.95) <= _GET_GOAL and _more(*find) <= _MORE_GOAL


async def _measure(server: Server, route: Sequence[bytes], tool: Sequence[bytes]) -> tuple[Measured, Measured]:
    """Measure both in turns, since the machine's speed drifts."""
    routes, tools = [], []
    for _ in range(_ROUNDS):
        routes.append(await run(server.port, in_turn(route), connections=1, seconds=_SECONDS))
        tools.append(await run(server.port, in_turn(tool), connections=1, seconds=_SECONDS))
    return Measured.joined(routes), Measured.joined(tools)


def _more(route: Measured, tool: Measured) -> float:
    return tool.percentile(0.95) - route.percentile(0.95)


def _print(name: str, route: Measured, tool: Measured, goal: str) -> None:
    print(
        f"{name:8}{route.percentile(0.5):11.1f}{route.percentile(0.95):8.1f}"
        f"{tool.percentile(0.5):11.1f}{tool.percentile(0.95):8.1f}"
        f"{tool.percentile(0.5) / route.percentile(0.5):8.1f}{_more(route, tool):8.1f}"
        f"{route.errors + tool.errors:8}  {goal}",
        flush=True,
    )


def _read(server: Server, path: str) -> bytes:
    return _request(server, "GET", f"/api/v1/projects/MAIN{path}", "")


def _call(server: Server, name: str, **arguments: Any) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": _VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "name": name, "arguments": arguments}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = f"MCP-Protocol-Version: {_VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    return _request(server, "POST", "/mcp/projects/MAIN", headers, body)


def _request(server: Server, method: str, path: str, headers: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n{headers}"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body

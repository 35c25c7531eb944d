"""Accepting many suggestions by one request, beside accepting each by one of its own."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from acceptance.rest import settled
from acceptance.stack import RunningStack
from benchmarks.running import admin_of

_COUNT = 500
"""As many ids as a bulk review takes."""
_AT_ONCE = 8


def measure(stack: RunningStack) -> None:
    """Print how long each takes, and their ratio."""
    with admin_of(stack.base_url) as client:
        # So low that whatever shares a word is suggested.
        client.post("/suggestions/generate", params={"algorithm": "keyword", "threshold": 0.01}).raise_for_status()
        settled(stack, within=120)
        one_by_one, together = (_pending(client, skip) for skip in (0, _COUNT))
        began = time.perf_counter()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for answer in pool.map(lambda one: client.post(f"/suggestions/{one}/accept"), one_by_one):
                answer.raise_for_status()
        each = time.perf_counter() - began
        began = time.perf_counter()
        body = {"action": "accept", "ids": together}
        reviewed = client.post("/suggestions/bulk-review", json=body).raise_for_status().json()["reviewed"]
        at_once = time.perf_counter() - began
    if reviewed != _COUNT:
        raise RuntimeError(f"Of {_COUNT} suggestions {reviewed} were accepted.")
    print(f"\nAccepting {_COUNT} suggestions")
    print(f"{'':38}{'s':>10}{'ratio':>10}")
    print(f"{f'a request each, {_AT_ONCE} at a time':38}{each:10.2f}{1:10.2f}")
    print(f"{'one request for all':38}{at_once:10.2f}{at_once / each:10.2f}")


def _pending(client: httpx.Client, skip: int) -> list[str]:
    page: dict[str, str | int] = {"status": "pending", "sort": "score:desc", "skip": skip, "limit": _COUNT}
    found = [one["id"] for one in client.get("/suggestions", params=page).raise_for_status().json()["items"]]
    if len(found) < _COUNT:
        raise RuntimeError(f"Only {skip + len(found)} suggestions are pending; this takes {2 * _COUNT}.")
    return found

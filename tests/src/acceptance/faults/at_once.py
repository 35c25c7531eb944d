"""Many requests at the same moment, each over a connection of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx

from acceptance.client import API, Traceline

Ask = Callable[[Traceline], httpx.Response]


def at_once(user: Traceline, asks: Sequence[Ask]) -> list[httpx.Response]:
    """Have one user ask all of this together; return the answers in the same order."""
    start = threading.Barrier(len(asks))
    limits = httpx.Limits(max_connections=len(asks), max_keepalive_connections=len(asks))

    with httpx.Client(base_url=user.base_url + API, timeout=60, limits=limits) as connections:
        one = Traceline(user.base_url, token=user.token, http=connections)

        def wait_and_ask(ask: Ask) -> httpx.Response:
            start.wait(timeout=300)
            return ask(one)

        with ThreadPoolExecutor(len(asks)) as pool:
            return list(pool.map(wait_and_ask, asks))

"""A server under measurement, in a process of its own."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from acceptance.client import Traceline
from acceptance.process import RunningTraceline
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD


@dataclass(frozen=True)
class Server:
    """Where it listens, a client that is logged in as an admin, and how long it took to be ready."""

    port: int
    pid: int
    token: str
    client: httpx.Client
    start_seconds: float


@contextmanager
def serving(folder: Path, *module: str, **settings: str) -> Iterator[Server]:
    """Run `python -m MODULE...` with its data in `folder` until the block ends."""
    began = time.perf_counter()
    with RunningTraceline(folder, module, **settings) as running:
        start_seconds = time.perf_counter() - began
        with httpx.Client(base_url=running.base_url, timeout=60) as client:
            token = log_in(running.base_url)
            client.headers["Authorization"] = f"Bearer {token}"
            yield Server(running.port, running.pid, token, client, start_seconds)


def log_in(base_url: str) -> str:
    """Return a token of the admin."""
    with Traceline(base_url) as anyone:
        return anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).token or ""


@contextmanager
def admin_of(base_url: str) -> Iterator[httpx.Client]:
    """A client of the API's addresses, logged in as the admin."""
    headers = {"Authorization": f"Bearer {log_in(base_url)}"}
    with httpx.Client(base_url=f"{base_url}/api/v1", timeout=60, headers=headers) as client:
        yield client


@contextmanager
def again_and_again(look: Callable[[], object], pause: float) -> Iterator[None]:
    """Do something in a thread until the block ends."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(pause):
            look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()

"""A server under measurement, in a process of its own."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

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
    credentials = {"username": ADMIN_EMAIL, "password": ADMIN_PASSWORD}
    answer = httpx.post(f"{base_url}/api/v1/auth/login", data=credentials, timeout=60).raise_for_status()
    token: str = answer.json()["access_token"]
    return token

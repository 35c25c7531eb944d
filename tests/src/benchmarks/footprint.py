"""How fast it starts and how much memory it takes with the demo project loaded."""

import time
from pathlib import Path

import psutil

from benchmarks.running import serving


def main(folder: Path) -> None:
    """Print the figures of a second start: the first one also creates the database."""
    with serving(folder, "embedded", "--demo") as server:
        while server.client.get("/api/v1/suggestions").json()["total"] == 0:
            time.sleep(0.1)
    with serving(folder, "embedded", "--demo") as server:
        server.client.get("/api/v1/requirements").raise_for_status()
        server.client.post("/api/v1/suggestions/generate").raise_for_status()
        memory = psutil.Process(server.pid).memory_info().rss / 2**20
        print(f"\nStart until /healthz says 200: {server.start_seconds:.2f} s")
        print(f"Memory with the demo project loaded: {memory:.0f} MB")

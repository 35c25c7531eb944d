"""How fast it starts and how much memory it takes with the demo project loaded."""

from pathlib import Path

import psutil

from acceptance.waiting import eventually
from benchmarks.running import Server, serving
from contracts.projects import DEMO

_OF_DEMO = f"/api/v1/projects/{DEMO}"


def main(folder: Path) -> None:
    """Print the figures of a second start: the first one also creates the database."""
    with serving(folder, "embedded", "--demo") as server:
        # It is healthy before the demo is there.
        eventually(lambda: _suggestions(server), "suggestions of the demo", every=0.1)
    with serving(folder, "embedded", "--demo") as server:
        server.client.get(f"{_OF_DEMO}/requirements").raise_for_status()
        server.client.post(f"{_OF_DEMO}/suggestions/generate").raise_for_status()
        memory = psutil.Process(server.pid).memory_info().rss / 2**20
        print(f"\nStart until /healthz says 200: {server.start_seconds:.2f} s")
        print(f"Memory with the demo project loaded: {memory:.0f} MB")


def _suggestions(server: Server) -> int:
    found = server.client.get(f"{_OF_DEMO}/suggestions")
    return int(found.json()["total"]) if found.is_success else 0

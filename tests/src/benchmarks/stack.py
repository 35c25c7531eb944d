"""The stack: how fast it starts, what it takes while nothing happens, how soon suggestions come and are accepted."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from acceptance.program import is_ready
from acceptance.rest import settled
from acceptance.stack import READY_WITHIN, RunningStack
from acceptance.waiting import eventually
from benchmarks import accepting, create_to_suggestions, idle
from benchmarks.running import log_in
from embedded.demo import load_demo


def main(folder: Path) -> None:
    """Print the figures of a second start: the first one also creates the databases."""
    stack = RunningStack(folder)
    with stack:
        asyncio.run(load_demo(stack.base_url, log_in(stack.base_url)))
        settled(stack)
    began = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(_healthy, stack.base_url)
        with stack:
            everything = time.perf_counter() - began
            healthy = watching.result() - began
            print(
                f"\nStart of the stack until /healthz says 200: {healthy:.1f} s, until all is ready: {everything:.1f} s"
            )
            idle.measure(stack)
            create_to_suggestions.measure(stack)
            accepting.measure(stack)


def _healthy(base_url: str) -> float:
    """Wait until it says that it is healthy; return when that was."""
    eventually(lambda: is_ready(f"{base_url}/healthz"), "a healthy stack", seconds=READY_WITHIN)
    return time.perf_counter()

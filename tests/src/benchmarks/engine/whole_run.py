"""A whole run through the API of a filled Traceline: read, scored, written; beside what peers take to score alone."""

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg

from acceptance.process import RunningTraceline, fresh_folder
from acceptance.stack import RunningStack
from benchmarks.engine import concurrent_reads, peers
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.measuring import TooSlow, measure
from benchmarks.engine.pairs import THRESHOLD
from benchmarks.engine.record import fill
from benchmarks.engine.sizes import Size
from benchmarks.engine.table import header, row, seconds
from benchmarks.engine.texts import Items, make_items
from benchmarks.load import Measured
from benchmarks.running import log_in

Traceline = RunningStack | RunningTraceline
Answer = TypeVar("Answer")

_OF_THE_PEERS = 0.5
_LARGE = 10**10
"""Pairs, from which on another goal holds."""
_LARGE_GOAL = 60.0
_P99_GOAL = 200
_THREADS = 2
_FIRST_RUNS = 5
_FEW = 300
_LOOK = 0.05


def on_the_stack(folder: Path, sizes: list[Size], within: float) -> bool:
    """Print the tables of the stack: every service as processes."""
    for size in sizes:
        with fresh_folder() as data:
            _report("the stack", RunningStack(data, AUTO_SUGGESTIONS_ENABLED="false"), folder, size, within)
    return True


def embedded(folder: Path, sizes: list[Size], within: float) -> bool:
    """Print the tables of the embedded run: everything in one process."""
    for size in sizes:
        with fresh_folder() as data:
            _report("embedded", RunningTraceline(data, AUTO_SUGGESTIONS_ENABLED="false"), folder, size, within)
    return True


def _report(name: str, traceline: Traceline, folder: Path, size: Size, within: float) -> None:
    header(f"A whole tfidf run through the API ({name}), {size} items, {THRESHOLD} and above", "s", "goal")
    try:
        goal = _peers(folder, size, within)
        with traceline:
            asyncio.run(_runs(traceline, size, _LARGE_GOAL if size.pairs >= _LARGE else goal, within))
    except TooSlow:
        print(f"Given up: it takes more than {within:,g} s.")


def _peers(folder: Path, size: Size, within: float) -> float:
    """Measure the peers; return what is the goal beside them."""
    inputs = Inputs(folder / f"{size.requirements}x{size.test_cases}")
    fitted = measure(peers.fit, within, inputs, size).median
    rows = peers.sample(size)
    product = measure(peers.sparse_product, within, inputs, peers.OWN_WORDS, THRESHOLD, _THREADS, rows).value
    row("sklearn: fit", seconds(fitted))
    row(f"sparse-dot-topn, {_THREADS} threads, {rows:,} rows", seconds(product))
    row("both", seconds(fitted + product))
    return _OF_THE_PEERS * (fitted + product)


async def _runs(traceline: Traceline, size: Size, goal: float, within: float) -> None:
    items = make_items(size)
    token = log_in(traceline.base_url)
    # What is compiled once on a machine is, after a run over a few of the items.
    await _fill(traceline, {side: items[side][:_FEW] for side in items})
    await _timed(_generate(traceline, token, THRESHOLD), within)
    _forget_suggestions(traceline)
    taken, _ = await _timed(_fill(traceline, {side: items[side][_FEW:] for side in items}), within)
    row("ours: the record is filled, beside the API", seconds(taken))
    # Each worker loads the items at its first run, and a project has one run at a time: more runs than workers.
    token = log_in(traceline.base_url)
    first = [(await _timed(_generate(traceline, token, 1.0), within))[0] for _ in range(_FIRST_RUNS)]
    row(f"ours: slowest of {_FIRST_RUNS} first runs, loads items", seconds(max(first)))
    alone = await concurrent_reads.reading_alone(traceline.port, token)

    token = log_in(traceline.base_url)
    taken, run = await _timed(_generate(traceline, token, THRESHOLD), within)
    row("ours: read, score, write", seconds(taken), seconds(goal))
    _forget_suggestions(traceline)
    token = log_in(traceline.base_url)
    again = _timed(_generate(traceline, token, THRESHOLD), within)
    (taken, _), read = await concurrent_reads.reading(traceline.port, token, again)
    row("ours: the same while lists are read", seconds(taken), seconds(goal))
    print(f"{run['suggestions_created']:,} suggestions of {run['pairs_analyzed']:,} pairs")
    title = f"GET {concurrent_reads.PATH}, {concurrent_reads.CONNECTIONS} connections"
    header(title, "p50 ms", "p99 ms", "goal", "a second", "errors")
    _show("alone", alone)
    _show("while a run is under way", read)


async def _fill(traceline: Traceline, items: Items) -> None:
    urls = {name: traceline.database_url(f"{name}-service") for name in ("suggestion", "catalog")}
    await fill(items, suggestion_url=urls["suggestion"], catalog_url=urls["catalog"])


async def _generate(traceline: Traceline, token: str, threshold: float) -> dict[str, Any]:
    """Ask for a run, and return it when it is completed; raise RuntimeError when it ends otherwise."""
    headers = {"Authorization": f"Bearer {token}", "Prefer": "respond-async"}
    async with httpx.AsyncClient(
        base_url=f"{traceline.base_url}/api/v1/suggestions", headers=headers, timeout=60
    ) as client:
        asked = await client.post("/generate", params={"algorithm": "tfidf", "threshold": threshold})
        run: dict[str, Any] = asked.raise_for_status().json()
        while run["status"] in ("queued", "running"):
            await asyncio.sleep(_LOOK)
            run = (await client.get(f"/runs/{run['id']}")).raise_for_status().json()
    if run["status"] != "completed":
        raise RuntimeError(f"The run has {run['status']}: {run['error']}")
    return run


async def _timed(work: Awaitable[Answer], within: float) -> tuple[float, Answer]:
    """Return the seconds that it took, and its answer; raise TooSlow when it is not there in time."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(within):
            answer = await work
    except TimeoutError:
        raise TooSlow from None
    return time.perf_counter() - began, answer


def _forget_suggestions(traceline: Traceline) -> None:
    with psycopg.connect(traceline.database_url("suggestion-service")) as connection:
        connection.execute("TRUNCATE suggestions CASCADE")


def _show(name: str, read: Measured) -> None:
    p50, p99 = (f"{read.percentile(share):.1f}" for share in (0.5, 0.99))
    row(name, p50, p99, f"{_P99_GOAL}", f"{read.per_second:,.0f}", f"{read.errors}")

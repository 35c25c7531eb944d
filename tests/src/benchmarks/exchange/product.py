"""Imports and exports of the whole product, over HTTP through the gateway, beside POST and PostgreSQL's own copies."""

import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import psycopg

from acceptance.client import Traceline, ok
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from benchmarks.cpu import used_by_postgres
from benchmarks.engine.table import header, row, seconds
from stack.postgres import cluster

_BY_POST = 500
_PAUSE = 0.05
_WITHIN = 300.0
_QUIET = 6.0
"""Seconds; in two there are so few requests that their p95 is twice as much in one run as in another."""
_WORKER = "catalog-worker"


def main(table: Path, rows: int) -> None:
    """Print what it takes to plan and apply a table of so many rows, and to export the record."""
    with fresh_folder() as place, RunningStack(place) as running, Traceline(running.base_url) as client:
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        header(
            f"An import of {rows:,} rows of csv, in the stack",
            "s",
            "rows/s",
            "postgres CPU",
            "worker +MB",
            "others p95 ms",
        )
        _by_post(admin)
        before = _others(running, admin)
        row("others, before it", "", "", "", "", f"{before:.1f}")
        planned = _timed(running, admin, "planned", rows, lambda: _plan(admin, table))
        _timed(running, admin, "applied", rows, lambda: _apply(admin, planned))
        began = time.perf_counter()
        while not admin.read(f"/imports/{planned['id']}")["search_ready"]:
            time.sleep(1)
        row("search ready, after that", seconds(time.perf_counter() - began))
        _copy_alone(running, rows)
        header(f"An export of {rows:,} requirements", "begins, s", "s", "MB")
        for form in ("ndjson", "csv", "xlsx", "reqif"):
            _export(admin, form)
        _dump(running)


def _plan(admin: Traceline, table: Path) -> Any:
    with table.open("rb") as file:
        files = {"file": (table.name, file, "text/csv")}
        answer = admin.post("/imports", files=files, params={"kind": "requirements"}, headers=_ASYNC)
    return _ended(admin, answer, "planned")


_ASYNC = {"Prefer": "respond-async"}


def _apply(admin: Traceline, planned: Any) -> Any:
    answer = admin.post(f"/imports/{planned['id']}/apply", json={"suggest": False}, headers=_ASYNC)
    return _ended(admin, answer, "applied")


def _ended(admin: Traceline, answer: httpx.Response, status: str) -> Any:
    job = ok(answer, answer.status_code)
    deadline = time.perf_counter() + _WITHIN
    while job["status"] in {"received", "reading", "applying"} or job["status"] != status:
        assert job["status"] not in {"failed", "cancelled"}, job
        assert time.perf_counter() < deadline, job
        time.sleep(_PAUSE)
        job = admin.read(f"/imports/{job['id']}")
    return job


def _timed(running: RunningStack, admin: Traceline, what: str, rows: int, work: Any) -> Any:
    """Print how long a step takes, how the worker grows, and what lists take meanwhile; return what it gives."""
    began, used = time.perf_counter(), used_by_postgres(_server(running))
    with _memory_of(running, _WORKER) as grown, _asking(admin) as times:
        result = work()
    took, used = time.perf_counter() - began, used_by_postgres(_server(running)) - used
    p95 = f"{np.percentile(times, 95) * 1000:.1f}" if times else ""
    row(what, seconds(took), f"{rows / took:,.0f}", f"{used:.1f}", f"{grown[0]:.0f}", p95)
    return result


def _server(running: RunningStack) -> psutil.Process:
    return psutil.Process(running.pids()["postgres"])


@contextmanager
def _memory_of(running: RunningStack, program: str) -> Iterator[list[float]]:
    """Give the most MB by which a program and what it has started have grown, once the block is over."""
    process = psutil.Process(running.pids()[program])
    begun = _megabytes(process)
    most, stop = [0.0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.1):
            most[0] = max(most[0], _megabytes(process) - begun)

    thread = threading.Thread(target=watch)
    thread.start()
    yield most
    stop.set()
    thread.join()


def _megabytes(process: psutil.Process) -> float:
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**20


@contextmanager
def _asking(admin: Traceline) -> Iterator[list[float]]:
    """Read a list again and again for the time of the block; give how long each took, in seconds."""
    times: list[float] = []
    stop = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=admin.base_url, headers={"Authorization": f"Bearer {admin.token}"}) as client:
            while not stop.is_set():
                began = time.perf_counter()
                client.get("/api/v1/test-cases?limit=20", timeout=60).raise_for_status()
                times.append(time.perf_counter() - began)
                time.sleep(_PAUSE)

    thread = threading.Thread(target=ask)
    thread.start()
    yield times
    stop.set()
    thread.join()


def _others(running: RunningStack, admin: Traceline) -> float:
    """Return the p95 of lists while nothing is imported, in ms; as later, imports are looked for and memory watched."""
    until = time.perf_counter() + _QUIET
    with _memory_of(running, _WORKER), _asking(admin) as times:
        while time.perf_counter() < until:
            time.sleep(_PAUSE)
            admin.read("/imports")
    return float(np.percentile(times, 95)) * 1000


def _by_post(admin: Traceline) -> None:
    began = time.perf_counter()
    for number in range(_BY_POST):
        admin.create_requirement(title=f"One by one {number}")
    row("by POST, one after the other", "", f"{_BY_POST / (time.perf_counter() - began):,.0f}")


def _copy_alone(running: RunningStack, rows: int) -> None:
    """Print how fast PostgreSQL copies as many rows into a table without indexes, and into the record."""
    columns = "id, external_id, title, description, type, priority, status, tags, version, created_at, updated_at"
    with psycopg.connect(running.database_url("catalog-service")) as connection:
        connection.execute("SELECT set_config('traceline.project', 'MAIN', true)")
        connection.execute("SET LOCAL traceline.search_later = 'on'")
        connection.execute("CREATE TEMP TABLE copied (LIKE requirements INCLUDING DEFAULTS)")
        others = columns.replace("id, external_id", "gen_random_uuid(), 'copy of ' || external_id", 1)
        with connection.cursor().copy(f"COPY (SELECT {others} FROM requirements) TO STDOUT") as source:
            parts: Sequence[Any] = list(source)
        for name, table in (("COPY alone", "copied"), ("COPY into the record", "requirements")):
            began, used = time.perf_counter(), used_by_postgres(_server(running))
            with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as target:
                for part in parts:
                    target.write(part)
            took, used = time.perf_counter() - began, used_by_postgres(_server(running)) - used
            row(name, seconds(took), f"{rows / took:,.0f}", f"{used:.1f}")
        connection.rollback()


def _export(admin: Traceline, form: str) -> None:
    began = time.perf_counter()
    with httpx.stream(
        "GET",
        f"{admin.base_url}/api/v1/exports?format={form}",
        headers={"Authorization": f"Bearer {admin.token}"},
        timeout=_WITHIN,
    ) as answer:
        size, first = 0, 0.0
        for part in answer.raise_for_status().iter_raw():
            first = first or time.perf_counter() - began
            size += len(part)
    row(form, seconds(first), seconds(time.perf_counter() - began), f"{size / 1e6:.0f}")


def _dump(running: RunningStack) -> None:
    url = running.database_url("catalog-service")
    command = [str(cluster(running.data_dir).programs / "pg_dump"), "--data-only", "--dbname", url]
    tables = [word for name in ("requirements", "test_cases", "links") for word in ("--table", name)]
    began = time.perf_counter()
    answer = subprocess.run([*command, *tables], check=True, capture_output=True)
    row("pg_dump of the same tables", "", seconds(time.perf_counter() - began), f"{len(answer.stdout) / 1e6:.0f}")

"""One stack: filled, read while it is quiet, put under load, and judged."""

import gc
import time

import psycopg

from acceptance.client import Traceline
from acceptance.faults.databases import events_kept_back
from acceptance.faults.draining import drained
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from benchmarks.engine.table import header, row, seconds
from benchmarks.scale import documents, reads
from benchmarks.scale.memory import Watch
from benchmarks.scale.mix import LIST, Mix
from benchmarks.scale.paced import Loaded, load
from benchmarks.scale.reads import Timed
from benchmarks.scale.record import Record
from benchmarks.scale.sizes import Scale
from chassis.messaging.events import Actor

_USERS = 16
_GATEWAY_PATIENCE = 30.0
_DOCUMENTS = (
    *(
        (f"matrix, {form}", f"/reports/traceability-matrix?format={form}", _GATEWAY_PATIENCE, None)
        for form in ("csv", "xlsx", "html")
    ),
    *(
        (f"export, {form}", f"/exports?kind=all&format={form}", 0.3, 20.0)
        for form in ("ndjson", "csv", "xlsx", "reqif")
    ),
)
"""Name, path, and in how many seconds it is to begin and to be there."""
_WARM = 60.0
"""Seconds of load after which memory must not grow any more."""
_REST_WITHIN = 900.0
_REST_SECONDS, _REST_CPU = 5.0, 0.5
"""It is at rest when it has used so many seconds of a processor at most in so many seconds."""
_TIMES_AS_LONG = 3.0
"""What a list may take at p99, beside its p50 with the small record."""
_DOCUMENT_MB = 64.0
_GROWTH_MB = 1.0
"""A minute; a program may grow by as many percent of what it holds if that is more."""
_FILLS_UP = {"rabbitmq": 64.0, "postgres": 96.0}
"""MB that a server may come to hold on top, however long that takes.

RabbitMQ has the newest of its log in memory; PostgreSQL has a backend of some MB for each connection, which the pools
open when they first need it.
"""
_SHOWN_WRONG = 5


class Session:
    """Does one thing after the other and prints what came of it; `missed` is what was not as it should be."""

    def __init__(self, stack: RunningStack, full: Scale, *, connections: int, rate: float) -> None:
        self.missed: list[str] = []
        self._stack = stack
        self._connections, self._rate = connections, rate
        self._admin = Traceline(stack.base_url).logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        self._users = [self._admin.new_user("reviewer") for _ in range(_USERS)]
        self._record = Record(stack, full, [Actor(me["id"], me["email"]) for me in (one.me() for one in self._users)])

    async def grow(self, to: Scale) -> None:
        """Fill the record up to this scale, and wait until everything has come to rest."""
        header(f"The record: {to}", "s")
        began = time.perf_counter()
        await self._record.grow(to)
        row("filled, beside the API", seconds(time.perf_counter() - began))
        began = time.perf_counter()
        self._rest()
        row("suggested, and at rest", seconds(time.perf_counter() - began))

    def read(self) -> dict[str, Timed]:
        """Read one thing after the other while nobody else asks."""
        assert self._admin.token is not None
        timed = reads.measure(self._stack.base_url, self._admin.token, reads.reads(self._record))
        return {one.name: one for one in timed}

    def show_reads(self, small: dict[str, Timed], large: dict[str, Timed]) -> None:
        """Print reads of the small record beside those of the large one."""
        header("Quiet: one read after the other, ms", "small p50", "large p50", "large worst", "goal p50")
        for name, one in large.items():
            row(name, f"{small[name].median:.1f}", f"{one.median:.1f}", f"{one.worst:.1f}", _goal(one.goal))
            if one.goal is not None:
                self._expect(one.median <= one.goal, f"quiet, {name}: {one.median:.0f} ms, not {one.goal:.0f}")

    def take_documents(self) -> None:
        """Take the matrix and the export of everything in each form."""
        header(
            "Everything in one document",
            "begins, s",
            "goal",
            "all of it, s",
            "goal",
            "MB",
            "catalog +MB",
            "gateway +MB",
        )
        assert self._admin.token is not None
        for name, path, begins, takes in _DOCUMENTS:
            one = documents.fetch(self._stack, self._admin.token, path)
            taken = (f"{megabytes:.0f}" for megabytes in (one.size, one.catalog, one.gateway))
            row(
                name,
                seconds(one.begins),
                f"{begins:g}",
                seconds(one.seconds),
                "" if takes is None else f"{takes:g}",
                *taken,
            )
            self._expect(one.begins <= begins, f"{name}: begins after {one.begins:.1f} s")
            self._expect(takes is None or one.seconds <= takes, f"{name}: takes {one.seconds:.0f} s")
            most = max(one.catalog, one.gateway)
            self._expect(most <= _DOCUMENT_MB, f"{name}: takes {most:.0f} MB, not {_DOCUMENT_MB:.0f}")

    async def load(self, length: float, watch: Watch | None = None, only: str | None = None) -> Loaded:
        """Put it under the load of a mix for so many seconds; what is answered wrongly is missed."""
        tokens = [user.token for user in self._users if user.token is not None]
        mix = Mix(self._record, tokens, only)
        # The record is large: a look through all of it for garbage would be measured.
        gc.collect()
        gc.freeze()
        working = load(self._stack.port, mix, connections=self._connections, rate=self._rate, seconds=length)
        if watch is None:
            loaded = await working
        else:
            async with watch.over(self._stack):
                loaded = await working
        for wrong in loaded.wrong[:_SHOWN_WRONG]:
            print(wrong)
        self._expect(not loaded.wrong, f"{len(loaded.wrong)} answers were wrong")
        return loaded

    def show_load(self, small: Loaded, large: Loaded, alone: Loaded) -> None:
        """Print what both loads took, an operation a row; `alone` is the large record with nothing but the list."""
        header(
            f"Mixed load, {self._connections} connections, {large.requests / large.duration:.0f} requests a second"
            f" for {large.duration:.0f} s, ms",
            *("times", "small p50", "small p99", "large p50", "large p99", "goal p99"),
        )
        for name in sorted(large.seconds, key=lambda one: -len(large.seconds[one])):
            before, now = small.of(name), large.of(name)
            p50, p99_before = (before.percentile(share) if before.seconds else 0.0 for share in (0.5, 0.99))
            goal = _TIMES_AS_LONG * p50 if name == LIST else None
            p99 = now.percentile(0.99)
            figures = (f"{figure:.1f}" for figure in (p50, p99_before, now.percentile(0.5), p99))
            row(name, f"{len(now.seconds):,}", *figures, _goal(goal))
            if goal is not None:
                self._expect(p99 <= goal, f"under load, {name}: p99 {p99:.1f} ms, not {goal:.1f}")
        quiet = alone.of(LIST)
        percentiles = (f"{quiet.percentile(share):.1f}" for share in (0.5, 0.99))
        row(f"{LIST} and nothing else", f"{len(quiet.seconds):,}", "", "", *percentiles)
        print(f"{len(small.wrong) + len(large.wrong) + len(alone.wrong)} wrong answers")

    def show_memory(self, watch: Watch, length: float) -> None:
        """Print what each program held from when it was warm on."""
        header("Memory of its own, MB", "when warm", "at the end", "at most", "a minute", "goal")
        for one in watch.growth(after=min(_WARM, length / 4)):
            goal = max(_GROWTH_MB, _GROWTH_MB / 100 * one.first)
            sizes = (f"{megabytes:.0f}" for megabytes in (one.first, one.last, one.most))
            row(one.program, *sizes, f"{one.per_minute:+.2f}", f"{goal:.2f}")
            fills_up = one.last - one.first <= _FILLS_UP.get(one.program, 0)
            right = one.per_minute <= goal or fills_up
            self._expect(right, f"{one.program} grows by {one.per_minute:.1f} MB a minute")

    def check_record(self) -> None:
        """See that every event was applied, and that the kept totals are what counting gives."""
        drained(self._stack, within=_REST_WITHIN)
        self._expect(not events_kept_back(self._stack), "events could not be applied")
        for path, table in (("/requirements", "requirements"), ("/test-cases", "test_cases"), ("/links", "links")):
            with psycopg.connect(self._stack.database_url("catalog-service")) as connection:
                counted = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            total = self._admin.read(path, limit=1)["total"]
            self._expect(counted == (total,), f"{path} says {total} rows, and there are {counted}")

    def _rest(self) -> None:
        """Wait until all events are applied and nobody is at work any more, on suggestions for example."""
        drained(self._stack, within=_REST_WITHIN)
        end = time.monotonic() + _REST_WITHIN
        while time.monotonic() < end:
            before = self._stack.cpu_seconds()
            time.sleep(_REST_SECONDS)
            if self._stack.cpu_seconds() - before <= _REST_CPU:
                return
        self._expect(False, f"it was not at rest within {_REST_WITHIN:.0f} s")

    def _expect(self, right: bool, otherwise: str) -> None:
        if not right:
            self.missed.append(otherwise)


def _goal(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds:.1f}"

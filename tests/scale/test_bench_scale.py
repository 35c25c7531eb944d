"""The benchmark of large records, at sizes that say nothing about speed."""

import asyncio
import subprocess
import sys
from collections import Counter

import pytest

from benchmarks.load import request
from benchmarks.scale.memory import growth
from benchmarks.scale.paced import Ask, load

TABLES = (
    "The record: 60 requirements, 60 test cases, 180 links",
    "The record: 120 requirements, 120 test cases, 360 links",
    "Quiet: one read after the other",
    "The matrix of everything",
    "Mixed load, 8 connections",
    "Memory of its own",
)


@pytest.mark.long
def test_the_bench_prints_all_its_tables_and_ends_by_itself() -> None:
    arguments = "--small 60 --items 120 --connections 8 --rate 30 --minutes 0.15"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", *arguments.split()],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = iter(done.stdout.splitlines())
    for table in TABLES:
        assert any(line.startswith(table) for line in lines), f"{table!r} is missing: {done.stdout}\n{done.stderr}"
    assert "\n0 wrong answers\n" in done.stdout
    # How fast so little is says nothing: the goals of speed and memory may be missed, but nothing else.
    missed = [line for line in done.stdout.splitlines() if line.startswith("Missed: ")]
    assert done.returncode == bool(missed)
    wrong = [line for line in missed if any(word in line for word in ("events", "there are", "wrong"))]
    assert not wrong, done.stdout


async def test_a_load_is_paced_and_tells_wrong_answers_and_broken_connections() -> None:
    answers = {b"/good": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"/bad": b"HTTP/1.1 500 No\r\n\r\n"}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(1000):
            writer.write(answers.get(head.split()[1], b""))
            if head.split()[1] not in answers:
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    told: list[bytes] = []
    asks = iter(["/good", "/bad", "/good", "/away"] + ["/good"] * 1000)

    def ask() -> Ask:
        path = next(asks)
        return path, request("GET", path, "token"), lambda _, body: told.append(body)

    loaded = await load(server.sockets[0].getsockname()[1], ask, connections=4, rate=40, seconds=2)
    server.close()
    assert 40 <= loaded.requests <= 100, "about 40 a second for two seconds"
    assert loaded.of("/good").percentile(0.5) > 0
    assert Counter(wrong.partition(":")[0] for wrong in loaded.wrong) == {"/bad": 1, "/away": 1}
    assert told == [b"ok"] * len(loaded.seconds["/good"])


def test_growth_is_told_of_what_grows_once_it_is_warm() -> None:
    looks = [
        (10.0 * n, Counter(steady=50_000_000, growing=50_000_000 + n * 1_000_000, warming=min(n, 5) * 10_000_000))
        for n in range(30)
    ]
    found = growth(looks, after=60.0)
    assert found[0].program == "growing"
    assert found[0].per_minute == pytest.approx(6.0)
    assert [round(abs(one.per_minute), 2) for one in found[1:]] == [0, 0]

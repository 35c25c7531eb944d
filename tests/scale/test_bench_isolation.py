"""The benchmark of what isolation costs, at a size that says nothing about speed."""

import subprocess
import sys

import pytest


@pytest.mark.long
def test_the_bench_prints_its_table_and_ends_by_itself() -> None:
    command = [sys.executable, "-m", "benchmarks.isolation", "--items", "50"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    heading, _, *rows = done.stdout.splitlines()
    assert heading.startswith("CPU of a request among 50 requirements"), done.stderr
    assert [row.split()[0] for row in rows] == ["list", "read", "create"]
    assert done.returncode in (0, 1), "how much slower so little is says nothing"

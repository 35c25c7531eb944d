"""The benchmark of following the audit log, at a size that says nothing about speed."""

import subprocess
import sys

import pytest


@pytest.mark.long
def test_the_bench_finds_what_was_done_to_the_log() -> None:
    command = [sys.executable, "-m", "benchmarks.audit", "--entries", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    heading, _, *rows = done.stdout.splitlines()
    assert heading.startswith("verify-audit of 1,000 entries"), done.stderr
    ends = (
        "as it was",
        "the entry with id -1 was put in",
        "entry 1000 (id 1000) was changed",
        "entry 999 (id 999) was removed",
    )
    assert [end in row for row, end in zip(rows, ends, strict=True)] == [True] * 4
    assert done.returncode == 0

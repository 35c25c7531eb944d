"""The benchmark of results, at a size that says nothing about speed."""

import pytest

from benchmarks.results.__main__ import compare
from benchmarks.results.record import Year


@pytest.mark.long
def test_each_read_is_asked_for_beside_the_raw_rows(capsys: pytest.CaptureFixture[str]) -> None:
    compare(Year(tests=20, runs_a_day=2, days=70))
    printed = capsys.readouterr().out
    assert "The record: 2,800 results" in printed
    asked = [line.split("  ")[0] for line in printed.splitlines() if line.strip() and not line.startswith(" ")]
    assert {"history of a test case", "trend of 30 days", "gate", "flaky tests", "dropped"} <= set(asked)

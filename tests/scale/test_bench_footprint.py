"""The benchmark of the demo's start and memory."""

from pathlib import Path

import pytest

from benchmarks import footprint


@pytest.mark.long
def test_it_finds_the_demo_and_prints_both_figures(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    footprint.main(place)
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "Start until /healthz says 200",
        "Memory with the demo project loaded",
    ]

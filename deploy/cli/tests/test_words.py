"""What the command line says of files that it sent: figures that add up."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from traceline_cli.main import main
from traceline_cli.results import line_of

ENDS = ("passed", "failed", "flaky", "skipped")


def sent(tests: int, matched: int, *counts: int, **others: Any) -> dict[str, Any]:
    ends = dict(zip(ENDS, counts, strict=False))
    return {"tests": tests, "matched": matched, "duplicate": False, "counts": {"results": sum(counts), **ends}} | others


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (sent(3, 2, 3, 1), "a.xml: 4 results of 3 tests: 3 passed, 1 failed; 2 of them have a test case"),
        (sent(2, 2, 2), "a.xml: 2 tests: 2 passed; each of them has a test case"),
        (sent(1, 0, 0, 1), "a.xml: 1 test: 1 failed; it has no test case"),
        (sent(1, 1, 1), "a.xml: 1 test: 1 passed; it has a test case"),
        (sent(3, 1, 1, 0, 0, 2), "a.xml: 3 tests: 1 passed, 2 skipped; 1 of them has a test case"),
        (sent(2, 0, 2), "a.xml: 2 tests: 2 passed; none of them has a test case"),
        (sent(0, 0), "No test is in a.xml"),
        (sent(1, 1, 1, duplicate=True, run={"key": "ci 7"}), "a.xml: the run ci 7 has it already"),
    ],
)
def test_figures_of_a_file_add_up(answer: dict[str, Any], said: str) -> None:
    assert line_of(Path("a.xml"), answer) == said


def test_help_has_each_command_once_and_says_what_all_take_in_one_place() -> None:
    told = CliRunner().invoke(main, ["--help"]).output
    for name in main.commands:
        assert len(re.findall(rf"^  {name} ", told, re.MULTILINE)) == 1, name
    assert "Others:" not in told
    assert "..." not in told.partition("Begin:")[2]
    of_one = CliRunner().invoke(main, ["gate", "--help"]).output
    assert "--tries INTEGER" not in of_one
    assert "Every command takes --url" in of_one

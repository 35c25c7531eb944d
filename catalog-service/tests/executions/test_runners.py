"""The examples of runners: each report names the test case of its lines, and is known as one of its runner alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from catalog_service.executions.runners.examples import (
    BEGINS,
    ENDS,
    TEST_CASE,
    Example,
    as_markdown,
    examples,
    find_runner,
)
from testing.service import ok

from .conftest import Results

RUNNERS = (
    *(
        "pytest",
        "jest",
        "vitest",
        "playwright",
        "cypress",
        "mocha",
        "junit5",
        "testng",
        "nunit",
        "xunit",
        "mstest",
        "go",
    ),
    *("googletest", "catch2", "ctest", "robot", "behave", "cucumber", "karate", "newman"),
)


def _named_in(text: str) -> bool:
    return TEST_CASE in text or TEST_CASE.replace("-", "_") in text


def test_each_runner_has_an_example() -> None:
    assert sorted(example.name for example in examples()) == sorted(RUNNERS)
    assert {example.by for example in examples()} == {"property", "tag", "name"}


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_example_names_its_test_case_in_a_few_lines(example: Example) -> None:
    lines = example.lines.strip("\n").split("\n")
    assert 3 <= len(lines) <= 6
    assert max(map(len, lines)) <= 72
    assert _named_in(example.lines)
    assert _named_in(example.report)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_a_report_is_known_as_one_of_its_runner_alone(example: Example) -> None:
    known = [one.name for one in examples() if re.search(one.known_by, example.report)]
    assert known == [example.name]
    assert find_runner(example.report.encode()) is example
    without_indents = re.sub(r">\s+<", "><", example.report)
    assert find_runner(without_indents.encode()) is example


async def test_each_report_comes_to_the_test_case_that_it_names(results: Results) -> None:
    matched = {}
    for number, example in enumerate(examples()):
        key = f"TC-{71000 + number}"
        test_case = await results.catalog.test_case(external_id=key)
        report = example.report.replace(TEST_CASE, key).replace("TC_1", key.replace("-", "_"))
        sent = ok(await results.post(report.encode(), file_name=example.report_name))
        found = await results.catalog.read(f"/test-cases/{test_case['id']}/results")
        matched[example.name] = (sent["counts"]["results"], sent["matched"], found["verdict"], sent["warnings"])
    assert matched == dict.fromkeys((example.name for example in examples()), (1, 1, "passed", []))


async def test_the_examples_are_told(results: Results) -> None:
    found = (await results.catalog.read("/automated-tests/runners"))["runners"]
    assert [one["name"] for one in found] == [example.name for example in examples()]
    assert {"lines", "run", "send", "known_by"} <= found[0].keys()
    assert "report" not in found[0]


def test_the_document_of_the_command_line_has_the_examples() -> None:
    document = (Path(__file__).parents[3] / "deploy/cli/README.md").read_text(encoding="utf-8")
    made = document.partition(BEGINS)[2].partition(ENDS)[0]
    assert made == f"\n{as_markdown()}\n", "The README of the command line has old examples: make runners"


def test_pytest_itself_writes_what_its_example_says(tmp_path: Path) -> None:
    (example,) = (one for one in examples() if one.name == "pytest")
    (tmp_path / example.place).write_text(f"def login(*_):\n    return True\n\n\n{example.lines}")
    command = [sys.executable, "-m", *example.run.split(), "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    report = (tmp_path / example.send).read_bytes()
    assert find_runner(report) is example
    assert b'<property name="test_case" value="TC-1"' in report

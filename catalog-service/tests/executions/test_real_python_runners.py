"""pytest, Robot Framework, behave and CTest themselves: one identity a test by each of their reporters."""

from pathlib import Path

import pytest

from .conftest import Results
from .real_runners import Runner, check, run, send

RUNNERS = {
    "pytest": Runner(
        {
            "tests/test_shop.py": """
import pytest

class TestCart:
    def NAME(self):
        assert False

    @pytest.mark.parametrize("door", ["x::y", "b[c]"])
    def test_opens(self, door):
        pass
"""
        },
        [
            *("pytest", "-p", "no:cacheprovider", "--rootdir", ".", "tests", "--junitxml=junit.xml"),
            *("--ctrf=ctrf.json", "--alluredir=allure"),
        ],
        ["junit.xml", "ctrf.json", "allure"],
        ("test_IDENTIFIER_locks", "test_IDENTIFIER_locks_twice"),
    ),
    "robot": Runner(
        {
            "tests/shop.robot": """
*** Test Cases ***
NAME
    Fail    no
Opens
    No Operation
"""
        },
        [
            *("robot", "--output", "output.xml", "--xunit", "xunit.xml", "--log", "NONE", "--report", "NONE"),
            *("--listener", "allure_robotframework:allure", "tests"),
        ],
        ["output.xml", "xunit.xml", "allure"],
        ("[KEY] Locks", "[KEY] Locks Twice"),
    ),
    "behave": Runner(
        {
            "features/doors/front.feature": """
Feature: Front door
  Scenario: NAME
    Given a door that sticks

  Scenario Outline: Opens
    Given a door of <width>
    Examples: widths
      | width |
      | 80    |
      | 90    |
""",
            "features/steps/doors.py": """
from behave import given

@given("a door of {width}")
def step_opens(context, width):
    pass

@given("a door that sticks")
def step_sticks(context):
    assert False
""",
        },
        ["behave", "--junit", "--junit-directory", "junit", "--format", "json", "--outfile", "behave.json"],
        ["junit/TESTS-doors.front.xml", "behave.json"],
        ("[KEY] Locks", "[KEY] Locks twice"),
    ),
    "ctest": Runner(
        {"CTestTestfile.cmake": 'add_test("NAME" cmake -E false)\nadd_test(opens cmake -E true)\n'},
        ["ctest", "--test-dir", ".", "--output-junit", "junit.xml"],
        ["junit.xml"],
        ("KEY.locks", "KEY.locks-twice"),
    ),
}


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
async def test_a_test_is_the_same_by_each_reporter(results: Results, runner: Runner, tmp_path: Path) -> None:
    await check(results, runner, tmp_path)


async def test_a_test_of_pytest_that_passed_when_it_ran_again_is_flaky(results: Results, tmp_path: Path) -> None:
    turns = """
from pathlib import Path

def NAME():
    before = Path("before").exists()
    Path("before").touch()
    assert before
"""
    command = ["pytest", "-p", "no:cacheprovider", "--rootdir", ".", "--reruns=1", "--ctrf=ctrf.json", "test_turns.py"]
    runner = Runner({"test_turns.py": turns}, command, ["ctrf.json"], ("", ""))
    (found,) = (await send(results, run(runner, tmp_path, f"test_{results.catalog.word()}")["ctrf.json"])).values()
    assert found["status"] == "flaky"

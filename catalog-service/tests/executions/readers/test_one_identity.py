"""One identity a test over the reports of a runner, and never one for two tests of a report."""

import io
import json
from typing import Any
from xml.sax.saxutils import quoteattr
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.executions.read import Order, Read, read

WHERE = ("/srv/build/shop", "C:\\work\\shop")
LOCKS = ("test/a.test.js", ["shop", "cart"], "locks")


def identities(content: bytes) -> list[tuple[str, str]]:
    """Return the class and name of each result of a file."""
    return [(row[3], row[2]) for row in rows_of(content)]


def rows_of(content: bytes) -> list[list[str]]:
    """Return the columns of each result of a file."""
    out = io.BytesIO()
    assert isinstance(read(io.BytesIO(content), out, Order("auto")), Read)
    return [line.split("\t") for line in out.getvalue().decode().splitlines()]


def ctrf(tool: str, *tests: dict[str, Any]) -> bytes:
    """Return a report of CTRF."""
    found = {"tool": {"name": tool}, "summary": {}, "tests": [{"status": "passed", **one} for one in tests]}
    return json.dumps({"reportFormat": "CTRF", "results": found}).encode()


def junit(*cases: dict[str, str], name: str = "s") -> bytes:
    """Return a report of JUnit."""
    inside = "".join(
        f"<testcase {' '.join(f'{key}={quoteattr(value)}' for key, value in case.items())}/>" for case in cases
    )
    return f"<testsuites><testsuite name={quoteattr(name)}>{inside}</testsuite></testsuites>".encode()


def allure(*results: dict[str, Any]) -> bytes:
    """Return a folder of Allure, packed."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        for number, result in enumerate(results):
            labels = [{"name": name, "value": value} for name, value in result.get("labels", {}).items()]
            whole = {"uuid": str(number), "status": "passed", "stage": "finished", **result, "labels": labels}
            archive.writestr(f"{number}-result.json", json.dumps(whole))
    return packed.getvalue()


def of_allure(framework: str, between: str = "#", joined: str = " ") -> dict[str, Any]:
    """Return the test of a runner of JavaScript as Allure has it."""
    file, suites, name = LOCKS
    labels = {"framework": framework, "package": "shop.test.a.test.js", "parentSuite": "shop", "suite": "cart"}
    full_name = f"shop:{file}{between}{joined.join([*suites, name])}"
    title_path = ["shop", *file.split("/"), *suites]
    return {"name": name, "historyId": "h", "fullName": full_name, "titlePath": title_path, "labels": labels}


@pytest.mark.parametrize("where", WHERE)
def test_a_test_of_jest_and_of_mocha_is_the_same_by_each_reporter(where: str) -> None:
    file, absolute = LOCKS[0], f"{where}/{LOCKS[0]}"
    expected = [(file, "shop cart locks")]
    name = "shop cart locks"
    assert identities(junit({"classname": name, "name": name, "file": file})) == expected
    assert identities(junit({"classname": file, "name": name})) == expected
    in_suites = {"name": name, "suite": "a.test.js > shop > cart", "filePath": absolute}
    assert identities(ctrf("jest", in_suites)) == expected
    assert identities(allure(of_allure("jest"))) == expected
    # Mocha's own xunit, mocha-junit-reporter, CTRF.
    assert identities(junit({"classname": "shop cart", "name": "locks", "file": absolute})) == expected
    assert identities(junit({"classname": "locks", "name": name, "file": absolute})) == expected
    assert identities(ctrf("mocha", {"name": name, "filePath": absolute})) == expected
    assert identities(allure(of_allure("mocha", ": ", " > "))) == expected
    assert identities(allure({**of_allure("jest"), "name": "A title"})) == expected


@pytest.mark.parametrize("where", WHERE)
def test_a_test_of_vitest_is_the_same_by_ctrf_and_allure(where: str) -> None:
    file, name = LOCKS[0], "shop > cart > locks"
    assert identities(ctrf("vitest", {"name": name, "suite": [name], "filePath": f"{where}/{file}"})) == [(file, name)]
    assert identities(allure(of_allure("vitest"))) == [(file, name)]
    assert identities(junit({"classname": file, "name": name})) == [(file, name)]


@pytest.mark.parametrize("where", WHERE)
def test_a_test_of_node_is_known_by_its_file_wherever_that_lies(where: str) -> None:
    case = f'<testcase classname="test" name="locks" file="{where}/test/a.test.js"/>'
    nested = f'<testsuites><testsuite name="shop"><testsuite name="cart">{case}</testsuite></testsuite></testsuites>'
    assert identities(nested.encode()) == [("test/a.test.js", "shop > cart > locks")]
    assert identities(f"<testsuites>{case}</testsuites>".encode()) == [("test/a.test.js", "locks")]


def test_a_scenario_of_behave_is_the_same_by_junit_and_json() -> None:
    scenario = {"type": "scenario", "keyword": "Scenario", "name": "Lock", "status": "passed", "steps": []}
    feature = {"keyword": "Feature", "name": "Front door", "location": "tests/features/doors/front.feature:1"}
    own = json.dumps([{**feature, "elements": [scenario]}]).encode()
    of = "doors.front.Front door"
    assert identities(own) == identities(junit({"classname": of, "name": "Lock"}, name=of)) == [(of, "Lock")]


def test_a_scenario_of_cucumber_is_the_same_by_json_and_allure() -> None:
    element = {"type": "scenario", "keyword": "Scenario", "name": "Lock", "steps": []}
    own = json.dumps([{"keyword": "Feature", "name": "Door", "uri": "f/d.feature", "elements": [element]}]).encode()
    labels = {"framework": "cucumberjs", "feature": "Door", "suite": "Door", "package": "f.d.feature"}
    result = {"name": "Lock", "historyId": "h", "fullName": "f/d.feature#Lock", "labels": labels}
    assert identities(own) == identities(allure(result)) == [("Door", "Lock")]


def test_a_test_of_junit_5_is_the_same_by_surefire_gradle_and_allure() -> None:
    of = "com.shop.CartTest$Inner"
    expected = [(of, "adds"), (of, "adds"), (of, "locks")]
    surefire = [{"classname": of, "name": name} for name in ("adds{int}[1]", "adds{int}[2]", "locks")]
    gradle = [{"classname": of, "name": name} for name in ("adds(int)[1]", "adds(int)[2]", "locks()")]
    titles = (("[1] 5", "adds"), ("[2] 6", "adds"), ("Locks the door", "locks"))
    results = [
        {
            "name": title,
            "historyId": title,
            "fullName": f"{of}.{method}",
            "start": number,
            "labels": {"framework": "junit-platform", "package": of, "testClass": of, "testMethod": method},
        }
        for number, (title, method) in enumerate(titles)
    ]
    assert identities(junit(*surefire)) == identities(junit(*gradle)) == identities(allure(*results)) == expected
    iterations = [row[6] for row in rows_of(allure(*results))]
    assert len({*iterations[:2]}) == 2


def titled(title: str, **more: Any) -> dict[str, Any]:
    """Return a test of pytest with a title of its own, as Allure has it."""
    labels = {"framework": "pytest", "package": "test_shop", "suite": "test_shop"}
    test = {"name": title, "historyId": "h", "testCaseId": "t", "fullName": "test_shop#test_tax", "labels": labels}
    return {**test, **more}


def test_a_title_that_changes_leaves_the_test_the_same() -> None:
    expected = [("test_shop", "test_tax")]
    assert identities(allure(titled("Tax 19 %"))) == identities(allure(titled("Tax 20 %"))) == expected
    assert identities(junit({"classname": "test_shop", "name": "test_tax"})) == expected
    assert len({*identities(allure(titled("A"), titled("B", testCaseId="u", historyId="g")))}) == 2
    assert identities(allure(titled("A", testCaseId=""))) == [("test_shop", "A")], "nothing says that it is the same"


@pytest.mark.parametrize("parameter", [{"mode": "hidden"}, {"excluded": True}])
def test_iterations_whose_values_are_hidden_are_no_attempts_of_one_another(parameter: dict[str, Any]) -> None:
    def of(number: int) -> dict[str, Any]:
        hidden = [{"name": "n", "value": str(number), **parameter}]
        return titled("Tax", historyId=f"h{number}", parameters=hidden, start=number)

    assert len({row[6] for row in rows_of(allure(of(1), of(2), of(3)))}) == 3


_WORDS = st.lists(st.sampled_from(["a", "b", "shop"]), min_size=1, max_size=3).map(" ".join)
_FILES = st.builds(
    "{}{}{}".format, st.sampled_from(["/srv/x/", "/srv/y/", ""]), st.sampled_from(["", "test/", "a/"]),
    st.sampled_from(["a.test.js", "b.ts"])
)  # fmt: skip
_TESTS = st.lists(st.tuples(_FILES, st.lists(_WORDS, max_size=3), _WORDS), min_size=1, max_size=8, unique_by=repr)


@given(_TESTS, st.sampled_from(["jest", "mocha", "vitest", "other"]))
def test_two_tests_of_a_report_never_become_one(tests: list[tuple[str, list[str], str]], tool: str) -> None:
    by_ctrf = ctrf(tool, *({"name": name, "suite": suites, "filePath": file} for file, suites, name in tests))
    assert len({row[1] for row in rows_of(by_ctrf)}) == len(tests)
    by_junit = {(file, " ".join(suites), name) for file, suites, name in tests}
    cases = ({"file": file, "classname": suites, "name": name} for file, suites, name in by_junit if suites)
    assert len({row[1] for row in rows_of(junit(*cases))}) == sum(bool(suites) for _, suites, _ in by_junit)
    by_allure = {(file, "\0".join(suites), name) for file, suites, name in tests if "/srv" not in file}
    results = (
        {
            "name": name,
            "historyId": repr((file, suites, name)),
            "fullName": f"shop:{file}#{' '.join([*filter(None, suites.split(chr(0))), name])}",
            "titlePath": ["shop", *file.split("/"), *filter(None, suites.split("\0"))],
            "labels": {"framework": tool},
        }
        for file, suites, name in by_allure
    )
    if by_allure:
        assert len({row[1] for row in rows_of(allure(*results))}) == len(by_allure)

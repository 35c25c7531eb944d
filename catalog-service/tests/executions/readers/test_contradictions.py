"""Reports that contradict themselves: how each of their tests is taken, and what is said of the file.

Where a part of a report says that all is well and another that it is not, the other is believed.
"""

import io
from typing import Any

import orjson
import pytest

from catalog_service.executions.read import Order, Read, read
from catalog_service.executions.readers import registry
from catalog_service.executions.readers.results import ReadAs, Result

PASS, FAIL = "<status status='PASS'/>", "<status status='FAIL'/>"


def robot(first: str, second: str, *, failed: int = 0) -> str:
    """Return two tests of Robot Framework by how they ended, and how many failed by the statistics."""
    tests = f"<test name='a'>{first}</test><test name='b'>{second}</test>"
    suite = f"<suite name='s'>{tests}<status status='{'FAIL' if FAIL in tests else 'PASS'}'/></suite>"
    counted = f"<stat pass='{2 - failed}' fail='{failed}' skip='0'>All Tests</stat>"
    return f"<robot>{suite}<statistics><total>{counted}</total></statistics></robot>"


def xunit(*ends: str, assembly: str = "", collection: str = "", inside: str = "") -> str:
    """Return tests of xUnit.net by how they ended."""
    tests = "".join(f"<test name='t{at}' result='{end}'>{inside}</test>" for at, end in enumerate(ends))
    return f"<assemblies><assembly {assembly}><collection {collection}>{tests}</collection></assembly></assemblies>"


def nunit(*ends: str, suite: str = "", inside: str = "") -> str:
    """Return cases of NUnit by how they ended."""
    cases = "".join(f"<test-case name='t{at}' result='{end}'>{inside}</test-case>" for at, end in enumerate(ends))
    return f"<test-run><test-suite {suite}>{cases}</test-suite></test-run>"


def trx(outer: str, inner: str) -> str:
    """Return a result of Visual Studio with one within it, by how they ended."""
    within = f"<InnerResults><UnitTestResult testName='row' outcome='{inner}'/></InnerResults>"
    whole = f"<UnitTestResult testName='a' outcome='{outer}'>{within}</UnitTestResult>"
    return f"<TestRun><Results>{whole}</Results></TestRun>"


def cucumber(
    *ends: str | None,
    of_feature: str = "",
    background: list[str | None] | None = None,
    place: str = "uri",
    **own: str,
) -> str:
    """Return a scenario of Cucumber by how its steps ended; None: they have no result."""
    steps = [{"name": "s", "result": {"status": end}} if end is not None else {"name": "s"} for end in ends]
    elements: list[dict[str, Any]] = [{"name": "t", "type": "scenario", "steps": steps, **own}]
    if background is not None:
        before = [{"name": "s", "result": {"status": end}} if end is not None else {"name": "s"} for end in background]
        elements.insert(0, {"name": "b", "type": "background", "steps": before})
    feature = {"name": "F", "keyword": "Feature", "status": of_feature, "elements": elements, place: "a.feature:1"}
    return orjson.dumps([feature]).decode()


def messages(*ends: str, steps: int, begins: bool = True) -> str:
    """Return a scenario of Cucumber as messages, by how those of its steps ended that did."""
    said = [
        {"pickle": {"id": "p", "name": "t"}},
        {"testCase": {"id": "c", "pickleId": "p", "testSteps": [{"id": f"{at}"} for at in range(steps)]}},
        {"testCaseStarted": {"id": "1", "testCaseId": "c"}},
        *({"testStepFinished": {"testCaseStartedId": "1", "testStepResult": {"status": end}}} for end in ends),
        {"testCaseFinished": {"testCaseStartedId": "1"}},
    ]
    end = {"testRunFinished": {"success": True}}
    return "\n".join(orjson.dumps(one).decode() for one in (*(said if begins else said[:2]), end))


def go(*events: dict[str, str]) -> str:
    """Return a package of Go that passed, with other events."""
    passed = ({"Action": "pass", "Package": "p", "Test": "TestA"}, {"Action": "pass", "Package": "p"})
    return "\n".join(orjson.dumps(one).decode() for one in (*passed, *events))


def playwright(*runs: str, spec: bool = True, stats: dict[str, int] | None = None, **test: Any) -> str:
    """Return a test of Playwright by how its tries ended."""
    whole = {"status": "expected", "results": [{"status": run} for run in runs], **test}
    suite = {"title": "a.spec.ts", "specs": [{"title": "t", "ok": spec, "tests": [whole]}]}
    return orjson.dumps({"config": {}, "suites": [suite], "errors": [], "stats": stats or {}}).decode()


def tap(*lines: str) -> str:
    """Return points of TAP."""
    return "\n".join(("TAP version 14", *lines, ""))


TWO = ("1..2", "ok 1 - a", "ok 2 - b")
NO_STATUS = '{"reportFormat": "CTRF", "results": {"tool": {"name": "x"}, "summary": {}, "tests": [{"name": "t"}]}}'
MESSAGE = "<failure><message>no</message></failure>"

PLAN = ["plan_not_kept"]

Row = tuple[str, str, str, list[str]]
ROWS: dict[str, Row] = {
    "robot: a test does not say how it ended": ("robot", robot(PASS, ""), "passed failed", ["crashed"]),
    "robot: statistics have a failure": ("robot", robot(PASS, PASS, failed=1), "passed passed", ["suite_failed"]),
    "robot: statistics have the failure": ("robot", robot(PASS, FAIL, failed=1), "passed failed", []),
    "xunit: an assembly has failures": (
        "xunit-net",
        xunit("Pass", "Fail", assembly="total='2' passed='0' failed='2'"),
        "passed failed",
        ["suite_failed"],
    ),
    "xunit: a collection has a failure": (
        "xunit-net",
        xunit("Pass", collection="total='1' failed='1'"),
        "passed",
        ["suite_failed"],
    ),
    "xunit: a collection has more tests": ("xunit-net", xunit("Pass", collection="total='2'"), "passed", PLAN),
    "xunit: a test that passed says why it failed": ("xunit-net", xunit("Pass", inside=MESSAGE), "failed", []),
    "xunit: all agree": (
        "xunit-net",
        xunit("Pass", "Fail", assembly="total='2' failed='1'", collection="total='2' failed='1'"),
        "passed failed",
        [],
    ),
    "nunit: a suite has a failure": (
        "nunit",
        nunit("Passed", suite="total='1' failed='1'"),
        "passed",
        ["suite_failed"],
    ),
    "nunit: a suite has more cases": ("nunit", nunit("Passed", suite="total='2'"), "passed", PLAN),
    "nunit: a case that passed says why it failed": ("nunit", nunit("Passed", inside=MESSAGE), "failed", []),
    "nunit: a case that passed says why": (
        "nunit",
        nunit("Passed", suite="total='1' failed='0'", inside=MESSAGE.replace("failure", "reason")),
        "passed",
        [],
    ),
    "trx: a row failed": ("trx", trx("Passed", "Failed"), "failed failed", []),
    "trx: a row was left out": ("trx", trx("Passed", "NotExecuted"), "passed skipped", []),
    "cucumber: a step has no result": ("cucumber-json", cucumber("passed", None), "skipped", ["crashed"]),
    "cucumber: a result says nothing": ("cucumber-json", cucumber("passed", ""), "skipped", ["crashed"]),
    "cucumber: steps behind a background have none": (
        "cucumber-json",
        cucumber(None, background=["passed"]),
        "skipped",
        ["crashed"],
    ),
    "cucumber: steps behind a failure have none": ("cucumber-json", cucumber("failed", None), "failed", []),
    "cucumber: no step has one": ("cucumber-json", cucumber(None, None), "skipped", ["crashed"]),
    "behave: no step has one": ("cucumber-json", cucumber(None, None, place="location"), "skipped", []),
    "behave: a background has none": ("cucumber-json", cucumber("passed", background=[None]), "passed", []),
    "behave: a scenario that a step left": ("cucumber-json", cucumber("passed", None, status="skipped"), "skipped", []),
    "behave: a feature failed": ("cucumber-json", cucumber("passed", of_feature="failed"), "passed", ["suite_failed"]),
    "behave: a feature failed by its scenario": (
        "cucumber-json",
        cucumber("failed", of_feature="failed"),
        "failed",
        [],
    ),
    "messages: a step did not end": ("cucumber-messages", messages("PASSED", steps=2), "skipped", ["crashed"]),
    "messages: all steps did": ("cucumber-messages", messages("PASSED", "PASSED", steps=2), "passed", []),
    "messages: steps behind a failure": ("cucumber-messages", messages("FAILED", steps=2), "failed", []),
    "messages: a case did not begin": (
        "cucumber-messages",
        messages(steps=1, begins=False),
        "",
        ["no_results", "plan_not_kept"],
    ),
    "go: what nobody says that it failed was not built": (
        "go-test-json",
        go({"Action": "build-fail", "ImportPath": "q"}),
        "passed",
        ["errors_of_run"],
    ),
    "playwright: more tests than there are": (
        "playwright-json",
        playwright("passed", stats={"expected": 5, "unexpected": 0}),
        "passed",
        PLAN,
    ),
    "playwright: as many tests": (
        "playwright-json",
        playwright("passed", stats={"expected": 1, "skipped": 0, "unexpected": 0, "flaky": 0}),
        "passed",
        [],
    ),
    "playwright: not ok": ("playwright-json", playwright("passed", spec=False), "failed", []),
    "playwright: its last try failed": ("playwright-json", playwright("passed", "timedOut"), "failed", []),
    "playwright: its first try failed": ("playwright-json", playwright("failed", "passed"), "flaky", []),
    "playwright: it is to fail": ("playwright-json", playwright("failed", expectedStatus="failed"), "passed", []),
    "playwright: it is to fail by an older one": (
        "playwright-json",
        playwright("failed", annotations=[{"type": "fail"}]),
        "passed",
        [],
    ),
    "playwright: it is to fail and passed": (
        "playwright-json",
        playwright("passed", expectedStatus="failed"),
        "failed",
        [],
    ),
    "ctrf: a test has no status": ("ctrf", NO_STATUS, "skipped", ["crashed"]),
    "tap: a subtest failed": ("tap", tap("    not ok 1 - q", "    1..1", "ok 1 - z", "1..1"), "failed failed", []),
    "tap: one deep in it did": (
        "tap",
        tap("        not ok 1 - q", "        1..1", "    ok 1 - y", "    1..1", "ok 1 - z", "1..1"),
        "failed failed failed",
        [],
    ),
    "tap: one of the point before did": (
        "tap",
        tap("    not ok 1 - q", "not ok 1 - y", "    ok 1 - p", "ok 2 - z", "1..2"),
        "failed failed passed passed",
        [],
    ),
    "tap: one in braces did": (
        "tap",
        tap("ok 1 - z {", "    not ok 1 - q", "    1..1", "}", "ok 2 - y", "1..2"),
        "failed failed passed",
        [],
    ),
    "tap: one in braces that nothing ends did": (
        "tap",
        tap("1..1", "ok 1 - z {", "    not ok 1 - q"),
        "failed failed",
        [],
    ),
    "tap: one is still to be done": (
        "tap",
        tap("    not ok 1 - q # TODO later", "    ok 2 - p # SKIP", "    1..2", "ok 1 - z", "1..1"),
        "skipped skipped passed",
        [],
    ),
    "tap: a point with failures is still to be done": (
        "tap",
        tap("    not ok 1 - q", "    1..1", "not ok 1 - z # TODO later", "1..1"),
        "failed skipped",
        [],
    ),
    "perl: the program ended by an error": (
        "tap",
        tap(*TWO, "# Looks like your test exited with 255 just after 2."),
        "passed passed",
        ["crashed"],
    ),
    "perl: more were planned": (
        "tap",
        tap(*TWO, "# Looks like you planned 3 tests but ran 2."),
        "passed passed",
        PLAN,
    ),
    "node: one was cancelled": (
        "tap",
        tap(*TWO, "# tests 2", "# pass 1", "# fail 0", "# cancelled 1"),
        "passed passed",
        ["suite_failed"],
    ),
    "node: one that was cancelled is there": (
        "tap",
        tap("ok 1 - a", "not ok 2 - b", "1..2", "# tests 2", "# suites 0", "# pass 1", "# fail 0", "# cancelled 1"),
        "passed failed",
        [],
    ),
    "node: more tests than points": ("tap", tap(*TWO, "# tests 5"), "passed passed", PLAN),
    "qunit: more passed than points": ("tap", tap(*TWO, "# pass 3", "# fail 0"), "passed passed", PLAN),
    "node-tap: more failed": ("tap", tap(*TWO, "# failed 1 of 2 tests"), "passed passed", ["suite_failed"]),
    "tap: two points of one number": ("tap", tap("1..2", "ok 1 - a", "ok 1 - b"), "passed passed", PLAN),
    "tap: names that begin with a number": ("tap", tap("1..2", "ok - 1 mouse", "ok - 1 cat"), "passed passed", []),
    "tap: reports behind one another": (
        "tap",
        tap("1..1", "ok 1 - a", "# tests 1", "# pass 1", "1..1", "ok 1 - b", "# tests 1", "# pass 1"),
        "passed passed",
        [],
    ),
}


@pytest.mark.parametrize(("name", "content", "ends", "health"), [pytest.param(*row, id=of) for of, row in ROWS.items()])
def test_the_worse_of_what_a_report_says_counts(name: str, content: str, ends: str, health: list[str]) -> None:
    file = io.BytesIO(content.encode())
    found = [one for one in registry.find(name).read(file, ReadAs()) if isinstance(one, Result)]
    seen = ["flaky" if one.failed_before and one.status == "passed" else one.status for one in found]
    assert seen == ends.split()
    read_as = read(io.BytesIO(content.encode()), io.BytesIO(), Order(name))
    assert isinstance(read_as, Read)
    assert read_as.health == health
    assert all(len(warning["message"]) > 20 for warning in read_as.warnings)

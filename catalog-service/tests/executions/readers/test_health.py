"""Which reports say by themselves that they are not the whole, and which do not although something in them is odd."""

import io
import zipfile
from typing import Any

import orjson
import pytest

from catalog_service.executions.read import Order, Read, read


def told(name: str, content: bytes) -> Read:
    found = read(io.BytesIO(content), io.BytesIO(), Order(name))
    assert isinstance(found, Read), found
    return found


def lines(*events: dict[str, Any]) -> bytes:
    return b"\n".join(map(orjson.dumps, events))


def trx(result: bytes, outcome: bytes, total: int = 1) -> bytes:
    summary = b'<ResultSummary outcome="%b"><Counters total="%d"/></ResultSummary>' % (outcome, total)
    return b"<TestRun><Results>%b</Results>%b</TestRun>" % (result, summary)


def playwright(*tests: dict[str, Any], **members: Any) -> bytes:
    suite = {"title": "a.spec.ts", "specs": [], "suites": [{"title": "s", "specs": [{"title": "t", "tests": tests}]}]}
    return orjson.dumps({"config": {}, "suites": [suite], "errors": [], **members})


def ctrf(*statuses: str, **summary: int) -> bytes:
    tests = [{"name": f"t{at}", "status": status, "duration": 1} for at, status in enumerate(statuses)]
    return orjson.dumps({"results": {"tool": {"name": "x"}, "summary": summary, "tests": tests}})


def scenario(status: str) -> list[dict[str, Any]]:
    return [
        {"pickle": {"id": "p", "name": "s"}},
        {"testCase": {"id": "c", "pickleId": "p"}},
        {"testCaseStarted": {"id": "1", "testCaseId": "c"}},
        {"testStepFinished": {"testCaseStartedId": "1", "testStepResult": {"status": status}}},
        {"testCaseFinished": {"testCaseStartedId": "1"}},
    ]


def allure(*found: dict[str, Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, one in enumerate(found):
            archive.writestr(f"{number}-result.json", orjson.dumps({"uuid": "x", "name": f"t{number}", **one}))
    return packed.getvalue()


PASSED = b'<UnitTestResult testName="a" outcome="Passed"/>'
OK = '<test name="t"><status status="PASS"/></test>'
GO = {"Package": "p"}


NUNIT = b'<test-run><test-suite %b><test-case name="a" result="%b"/></test-suite></test-run>'
BAD = "<test name='bad'><status status='FAIL'/></test>"
BROKEN = {"name": "server", "status": "broken", "statusDetails": {"message": "no server"}}


def unhealthy(*, healthy: bool) -> bytes:
    """Return a report of CTRF that says how its environment was."""
    tests = [{"name": "a", "status": "passed"}]
    found = {"tool": {"name": "x"}, "summary": {}, "environment": {"healthy": healthy}, "tests": tests}
    return orjson.dumps({"reportFormat": "CTRF", "results": found})


def with_container(fixtures: dict[str, Any], *ends: str) -> bytes:
    """Return a folder of Allure with tests and fixtures of all of them; a test that is broken says why they are."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for end in ends:
            message = "no server" if end == "broken" else "no door"
            test = {"uuid": end, "name": end, "status": end, "labels": [], "statusDetails": {"message": message}}
            archive.writestr(f"{end}-result.json", orjson.dumps(test))
        archive.writestr("a-container.json", orjson.dumps({"uuid": "c", "children": [*ends], **fixtures}))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "health"),
    [
        ("junit", b'<testsuites><testsuite name="pytest" tests="0"/></testsuites>', ["no_results"]),
        ("junit", b'<testsuite failures="1" tests="1"><testcase name="a"/></testsuite>', ["suite_failed"]),
        (
            "junit",
            b'<testsuites failures="1"><testsuite><testcase name="a"/></testsuite></testsuites>',
            ["suite_failed"],
        ),
        (
            "junit",
            b'<testsuite failures="2"><testcase name="a"><failure/></testcase><testcase name="b"/></testsuite>',
            ["suite_failed"],
        ),
        ("junit", b'<testsuite errors="1" failures="1"><testcase name="a"><error/></testcase></testsuite>', []),
        ("junit", b'<testsuite name="s" tests="3"><testcase name="a"/></testsuite>', ["plan_not_kept"]),
        ("junit", b'<testsuites tests="2"><testsuite><testcase name="a"/></testsuite></testsuites>', ["plan_not_kept"]),
        (
            "junit",
            b'<testsuite tests="3" skipped="1"><testcase name="a"><skipped/></testcase></testsuite>',
            ["plan_not_kept"],
        ),
        (
            "junit",
            b'<testsuite><testcase name="tests.test_a"><error message="collection failure">E</error></testcase>'
            b"</testsuite>",
            ["errors_of_run"],
        ),
        (
            "junit",
            b'<testsuite><testcase classname="pytest" name="internal"><error message="internal error">E</error>'
            b"</testcase></testsuite>",
            ["crashed"],
        ),
        ("tap", b"1..5\nok 1 - a\nok 2 - b\n", ["plan_not_kept"]),
        ("tap", b"1..1\n    1..3\n    ok 1 - x\nok 1 - a\n", ["plan_not_kept"]),
        ("tap", b"1..1\nok 1 - a {\n    ok 1 - x\n    1..2\n}\n", ["plan_not_kept"]),
        ("tap", b"1..2\n    1..1\n    ok 1 - x\nok 1 - a\n    1..1\n    ok 1 - y\nok 2 - b\n# fail 0\n", []),
        ("tap", b"1..1\nok 1 - a\n# tests 1\n# fail  1\n", ["suite_failed"]),
        ("tap", b"1..2\nok 1 - a\nok 2 - b\n# Looks like you failed 1 test of 2.\n", ["suite_failed"]),
        ("tap", b"1..1\nnot ok 1 - a\n# fail 1\n", []),
        ("tap", b"1..1\nok 1 - a\nok 2 - b\n", ["plan_not_kept"]),
        ("tap", b"TAP version 14\nok 1 - a\nok 2 - b\n", ["plan_not_kept"]),
        ("tap", b"1..5\nok 1 - a\nBail out! no database\n", ["crashed"]),
        ("tap", b"1..0 # skip no database\n", ["no_results"]),
        ("trx", trx(PASSED, b"Aborted"), ["crashed"]),
        ("trx", trx(PASSED, b"Failed"), ["suite_failed"]),
        ("trx", trx(PASSED, b"Completed", total=3), ["plan_not_kept"]),
        ("trx", trx(PASSED.replace(b'"Passed"', b'"PassedButRunAborted"'), b"Completed", total=1), ["crashed"]),
        ("trx", trx(b'<UnitTestResult testName="a" outcome="InProgress"/>', b"Completed"), ["crashed"]),
        (
            "robot",
            f"<robot><suite name='s'>{OK}</suite><errors><msg level='ERROR'>Parsing '/a.robot' failed: no tests"
            "</msg></errors></robot>".encode(),
            ["errors_of_run"],
        ),
        (
            "robot",
            f"<robot><suite name='s'>{OK}</suite><statistics><total><stat pass='2' fail='1'>All Tests</stat></total>"
            "</statistics></robot>".encode(),
            ["plan_not_kept"],
        ),
        ("nunit", b'<test-run result="Failed"><test-case name="a" result="Passed"/></test-run>', ["suite_failed"]),
        ("nunit", b'<test-run total="2"><test-case name="a" result="Passed"/></test-run>', ["plan_not_kept"]),
        ("nunit", b'<test-run failed="1"><test-case name="a" result="Passed"/></test-run>', ["suite_failed"]),
        (
            "nunit",
            b'<test-run><test-suite result="Failed" label="Cancelled"><test-case name="a" result="Failed"/>'
            b"</test-suite></test-run>",
            ["crashed"],
        ),
        (
            "xunit-net",
            b'<assemblies><assembly errors="1"><test name="a" result="Pass"/></assembly></assemblies>',
            ["errors_of_run"],
        ),
        ("xunit-net", b'<assembly total="2"><test name="a" result="Pass"/></assembly>', ["plan_not_kept"]),
        ("ctrf", ctrf("passed", tests=2, failed=0), ["plan_not_kept"]),
        ("ctrf", ctrf("passed", tests=1, failed=1), ["suite_failed"]),
        ("ctrf", ctrf("passed", "failed", tests=2, failed=2), ["suite_failed"]),
        ("ctrf", ctrf("passed", tests=1, passed=3), ["plan_not_kept"]),
        ("cucumber-json", b"[]", ["no_results"]),
        (
            "cucumber-json",
            orjson.dumps([{"name": "F", "status": "hook_error", "elements": [{"name": "s", "status": "untested"}]}]),
            ["suite_failed"],
        ),
        ("cucumber-messages", lines({"meta": {}}, *scenario("PASSED")), ["crashed"]),
        ("cucumber-messages", lines({"meta": {}}, *scenario("PASSED")[:4]), ["crashed", "no_results"]),
        (
            "cucumber-messages",
            lines({"meta": {}}, *scenario("PASSED"), {"testRunFinished": {"success": False}}),
            ["suite_failed"],
        ),
        (
            "playwright-json",
            playwright({"status": "expected", "results": [{"status": "passed"}]}, errors=[{"message": "no"}]),
            ["errors_of_run"],
        ),
        ("playwright-json", playwright({"status": "skipped", "results": [{"status": "interrupted"}]}), ["crashed"]),
        ("playwright-json", playwright({"status": "skipped", "results": []}), ["crashed"]),
        ("playwright-json", playwright({"status": "expected"}, stats={"unexpected": 1}), ["suite_failed"]),
        ("playwright-json", playwright({"status": "unexpected"}, stats={"unexpected": 1}), []),
        ("allure", allure({"status": "passed"}, {"stage": "running"}), ["crashed"]),
        ("allure", orjson.dumps({"uuid": "x", "name": "t", "labels": []}), ["crashed"]),
        (
            "go-test-json",
            lines({**GO, "Action": "pass", "Test": "T"}, {**GO, "Action": "fail"}),
            ["errors_of_run"],
        ),
        (
            "go-test-json",
            lines({**GO, "Action": "run", "Test": "T"}, {**GO, "Action": "fail"}),
            ["crashed"],
        ),
        ("go-test-json", lines({**GO, "Action": "start"}, {**GO, "Action": "pass", "Test": "T"}), ["crashed"]),
        *(
            (
                "nunit",
                b'<test-run><test-suite %b><test-case name="a" result="%b"/></test-suite></test-run>' % case,
                health,
            )
            for case, health in (
                ((b'result="Failed" label="Error"', b"Failed"), ["suite_failed"]),
                ((b'result="Failed" site="TearDown"', b"Failed"), ["suite_failed"]),
                ((b'result="Failed"', b"Passed"), ["suite_failed"]),
                ((b'result="Failed" site="Child"', b"Failed"), []),
                ((b'result="Failed" site="Parent" label="Error"', b"Failed"), []),
                ((b'result="Passed"', b"Passed"), []),
            )
        ),
        (
            "robot",
            f"<robot><suite name='s'>{OK}<status status='FAIL'>Suite setup failed</status></suite></robot>".encode(),
            ["suite_failed"],
        ),
        (
            "robot",
            f"<robot><suite><suite>{BAD}<status status='FAIL'/></suite><suite>{OK}<status status='FAIL'/></suite>"
            "<status status='FAIL'/></suite></robot>".encode(),
            ["suite_failed"],
        ),
        ("robot", f"<robot><suite><suite>{BAD}<status status='FAIL'/></suite></suite></robot>".encode(), []),
        ("ctrf", unhealthy(healthy=False), ["errors_of_run"]),
        ("ctrf", unhealthy(healthy=True), []),
        *(
            ("allure", with_container(fixtures, *ends), health)
            for fixtures, ends, health in (
                ({"befores": [BROKEN]}, ("passed",), ["suite_failed"]),
                ({"befores": [BROKEN]}, ("skipped",), ["suite_failed"]),
                ({"befores": [BROKEN]}, ("passed", "broken"), []),
                ({"befores": [{"status": "passed"}]}, ("passed",), []),
                ({"afters": [BROKEN]}, ("passed",), ["suite_failed"]),
                ({"afters": [BROKEN]}, ("failed",), ["suite_failed"]),
                ({"afters": [BROKEN]}, ("broken",), []),
                ({}, ("passed",), []),
            )
        ),
        (
            "go-test-json",
            lines(
                {**GO, "Action": "fail", "Test": "T"},
                {**GO, "Action": "output", "Output": "panic: no database"},
                {**GO, "Action": "fail"},
            ),
            ["crashed"],
        ),
        (
            "go-test-json",
            lines(
                {**GO, "Action": "output", "Output": "panic: printed"},
                {**GO, "Action": "pass", "Test": "T"},
                {**GO, "Action": "pass"},
            ),
            [],
        ),
        *(
            (
                "go-test-json",
                lines({**GO, "Action": "pass", "Test": "T"}, {**GO, "Action": "pass"}) + b"\n" + line,
                health,
            )
            for line, health in (
                (b"FAIL\n", ["suite_failed"]),
                (b"FAIL\tq\t0.1s\n", ["suite_failed"]),
                (b"exit status 2\n", ["suite_failed"]),
                (b"panic: no database\n\ngoroutine 1 [running]:\n", ["crashed"]),
                (b"ok  \tq\t0.1s\n", []),
            )
        ),
        (
            "go-test-json",
            lines({**GO, "Action": "fail", "Test": "T"}, {**GO, "Action": "fail"}) + b"\nFAIL\nexit status 1\n",
            [],
        ),
        (
            "go-test-json",
            b"FAIL\tq [build failed]\n" + lines({**GO, "Action": "pass", "Test": "T"}, {**GO, "Action": "pass"}),
            ["errors_of_run"],
        ),
    ],
)
def test_a_report_that_is_not_the_whole_says_so(name: str, content: bytes, health: list[str]) -> None:
    found = told(name, content)
    assert found.health == health
    assert all(len(warning["message"]) > 20 for warning in found.warnings)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        # pytest counts a test twice that passed and whose teardown failed.
        ("junit", b'<testsuite tests="2" errors="1"><testcase name="a"><error message="x"/></testcase></testsuite>'),
        # Surefire may count each try.
        (
            "junit",
            b'<testsuite tests="2"><testcase name="a"><flakyFailure message="x"/></testcase></testsuite>',
        ),
        # behave counts scenarios that it leaves out.
        ("junit", b'<testsuite tests="3" skipped="2"><testcase name="a"/></testsuite>'),
        # Catch2 and doctest count assertions.
        ("junit", b'<testsuite tests="9" hostname="tbd"><testcase name="a"/></testsuite>'),
        (
            "junit",
            b'<testsuite name="s" errors="0" failures="0" tests="9"><testcase name="a" status="run"/></testsuite>',
        ),
        (
            "junit",
            b'<testsuites tests="1"><testsuite><testcase name="a"/><testcase name="b"/></testsuite></testsuites>',
        ),
        ("tap", b"1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n"),
        ("tap", b"ok 1 - a\n1..1\n"),
        ("trx", trx(PASSED, b"Completed")),
        ("trx", trx(b'<UnitTestResult testName="a" outcome="Failed"/>', b"Failed")),
        (
            "robot",
            f"<robot><suite name='s'>{OK}</suite><errors><msg level='ERROR'>Error in file '/a.robot' on line 4:"
            " Non-existing setting 'X'.</msg><msg level='WARN'>Parsing 'x'</msg></errors></robot>".encode(),
        ),
        ("nunit", b'<test-run result="Failed" total="1"><test-case name="a" result="Failed"/></test-run>'),
        ("xunit-net", b'<assembly total="1" errors="0"><test name="a" result="Fail"/></assembly>'),
        ("ctrf", ctrf("passed", "failed", tests=2, failed=1)),
        ("ctrf", ctrf("passed", "passed")),
        (
            "cucumber-messages",
            lines({"meta": {}}, *scenario("UNDEFINED"), {"testRunFinished": {"success": False}}),
        ),
        (
            "playwright-json",
            playwright({"status": "skipped", "results": [], "annotations": [{"type": "fixme"}]}),
        ),
        ("allure", allure({"status": "unknown", "stage": "finished"}, {"stage": "pending"})),
        (
            "go-test-json",
            lines({**GO, "Action": "start"}, {**GO, "Action": "fail", "Test": "T"}, {**GO, "Action": "fail"}),
        ),
    ],
)
def test_a_report_is_not_held_for_less_than_its_tool_does(name: str, content: bytes) -> None:
    assert told(name, content).health == []


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (b'name="a" classname="a" status="notrun"><skipped message="Unable to find executable"/>', "failed"),
        (b'name="a" classname="a" status="notrun"><skipped message="Required Files Missing"/>', "failed"),
        (b'name="a" classname="a" status="notrun"><skipped message="Fixture dependency failed"/>', "failed"),
        (b'name="a" classname="a" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>', "skipped"),
        (b'name="a" classname="a" status="disabled">', "skipped"),
        (b'name="a" classname="A" status="notrun"><skipped message="not today"/>', "skipped"),
    ],
)
def test_what_ctest_could_not_run_has_failed_as_ctest_counts_it(case: bytes, status: str) -> None:
    assert told("junit", b"<testsuite><testcase %b</testcase></testsuite>" % case).counts[status] == 1


def test_cases_that_look_like_tries_of_one_another_are_told_of() -> None:
    case = '<testcase name="a" classname="A">{}</testcase>'
    ends = {"failed": "<failure/>", "passed": "", "skipped": "<skipped/>"}
    for order, count in (
        (("failed", "failed", "passed"), 1),
        (("passed", "failed"), 0),
        (("failed", "failed"), 0),
        (("failed", "skipped"), 0),
    ):
        found = told("junit", f"<testsuite>{''.join(case.format(ends[end]) for end in order)}</testsuite>".encode())
        assert [(one["code"], one["count"]) for one in found.warnings] == ([("like_tries", 1)] if count else [])
        assert found.health == []

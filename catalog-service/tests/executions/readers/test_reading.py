"""What readers find in reports that are made for it: names, attempts, iterations, odd times, hostile files."""

import gzip
import io
import zipfile
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.executions import names
from catalog_service.executions.read import Order, Read, Refusal, read
from catalog_service.executions.readers import registry
from catalog_service.executions.readers.results import ReadAs, Result, milliseconds


def results(name: str, content: bytes, *, undefined_fails: bool = True) -> list[Result]:
    found = registry.find(name).read(io.BytesIO(content), ReadAs(undefined_fails))
    return [one for one in found if isinstance(one, Result)]


def result(name: str, content: bytes) -> Result:
    (one,) = results(name, content)
    return one


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.5", 500), ("1,5", 1500), ("1,234.5", 1_234_500), ("1.234,5", 1_234_500), ("12,345", 12_345_000), ("x", None)],
)
def test_times_are_read_as_people_write_them(text: str, expected: int | None) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("test_add[1-2]", "test_add"),
        ("test_add[a[0]]", "test_add"),
        ("add(int, int)[1]", "add"),
        ("Add<Int32>(3)", "Add"),
        ("Suite/0", "Suite"),
        ("row - example #2", "row"),
        ("row #12", "row"),
        ("[1] value = a", "[value]"),
        ("[12] value=b, count=2", "[value]"),
        ("[1] a, b", "[1] a, b"),
        ("repetition 1 of 5", "repetition"),
        ("adds :: repetition 12 of 50", "adds"),
        ("shows repetition 1 of 5", "shows repetition 1 of 5"),
        ("[TC-7] x = 3", "[TC-7] x = 3"),
        ("(all)", "(all)"),
        ("works", "works"),
        ("sha256", "sha256"),
        ("is happy :)", "is happy :)"),
        ("a -> b >", "a -> b >"),
        ("(a) b]", "(a) b]"),
        (f"add{'()' * 101}", "add()"),
        ('testAdd with data set "two" (2, 3)', "testAdd"),
        ("testAdd with data set #0", "testAdd"),
        ("exports with data set A", "exports with data set A"),
        ("adds -- @1.2 sums", "adds"),
        ("adds -- @1.10 ", "adds"),
        ("writes to -- @home", "writes to -- @home"),
        ("adds - sums - Example #1.2", "adds - sums"),
        ("adds - #1.10", "adds"),
        ("adds - #1.1: 1 and 2", "adds - #1.1: 1 and 2"),
        ("as chapter #1.1 says", "as chapter #1.1 says"),
        ("as in chapter #1.1", "as in chapter #1.1"),
        ("test_add[[]", "test_add"),
        ("test_add[x[y]", "test_add"),
        ("test_add[x]y]", "test_add"),
        ('Add(1,"a)b")', "Add"),
        ("opens(1) and shuts(2)", "opens(1) and shuts"),
        ("tests/test_a.py::TestA::test_add[x]y]", "tests/test_a.py::TestA::test_add"),
    ],
)
def test_the_parameters_of_a_test_are_no_part_of_its_name(name: str, base: str) -> None:
    assert names.base_name(name) == base


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("[TC-7] works", ["TC-7"]),
        ("TC-7: works", ["TC-7"]),
        ("works TC-7", ["TC-7"]),
        ("test_TC_7_works", ["TC-7", "TC_7"]),
        ("TC-PICK-007 works", ["TC-PICK-007", "PICK-007"]),
        ("test_TC_PICK_7_works", ["TC-PICK-7", "TC_PICK_7", "PICK-7", "PICK_7"]),
        ("TC-7-9 works", ["TC-7"]),
        ("C123 works", ["C123"]),
        ("works", []),
        ("[12] value = a", []),
    ],
)
def test_a_name_may_say_which_test_case_it_is(name: str, ids: list[str]) -> None:
    assert names.ids_in(name) == ids


def test_properties_attributes_and_values_name_test_cases_and_requirements() -> None:
    one = result(
        "junit",
        b"""<testsuite><testcase name="a" test_id="TC-1"><properties><property name="test_key" value="TC-2, TC-3"/>
        <property name="verifies">REQ-1;REQ-2</property><property name="testrail_case_field" value="refs:TC-4"/>
        </properties></testcase></testsuite>""",
    )
    assert (one.named, one.requirements) == (["TC-1", "TC-2", "TC-3", "TC-4"], ["REQ-1", "REQ-2"])


@pytest.mark.parametrize(("said", "iteration"), [("", "shop › lock [firefox]"), (' name="vitest tests"', "")])
def test_the_project_of_playwright_tells_the_tests_of_a_file_apart(said: str, iteration: str) -> None:
    one = result(
        "junit",
        f'<testsuites{said}><testsuite name="a.spec.ts" hostname="firefox">'
        '<testcase name="shop › lock" classname="a.spec.ts"/></testsuite></testsuites>'.encode(),
    )
    assert (one.class_name, one.name, one.iteration) == ("a.spec.ts", "shop › lock", iteration)


@pytest.mark.parametrize(
    ("known", "content"),
    [
        (
            "junit",
            b'<testsuite><testcase name="a"><properties><property name="qase_id" value="TC-2"/></properties>'
            b"</testcase></testsuite>",
        ),
        (
            "ctrf",
            b'{"results":{"tests":[{"name":"a","extra":{"annotations":[{"type":"test_case","description":"TC-2"}]}}]}}',
        ),
        ("ctrf", b'{"results":{"tests":[{"name":"a","extra":{"case_id":"TC-2"}}]}}'),
        ("ctrf", b'{"results":{"tests":[{"name":"a","tags":["TEST_CASE::TC-2"]}]}}'),
        ("allure", b'{"uuid":"u","status":"passed","name":"a","labels":[{"name":"Test_Case","value":"TC-2"}]}'),
    ],
)
def test_a_test_names_its_test_case_in_the_ways_of_its_runner(known: str, content: bytes) -> None:
    assert result(known, content).named == ["TC-2"]


def test_a_tag_may_have_a_name_before_its_value() -> None:
    content = b'{"results":{"tests":[{"name":"a","tags":["tc::TC-2"]}]}}'
    assert result("ctrf", content).tags == ["tc::TC-2", "TC-2"]


def test_the_id_of_allure_may_be_that_of_a_test_case_however_it_is_written() -> None:
    labels = b'"labels":[{"name":"as_id","value":"C123"}]'
    assert result("allure", b'{"uuid":"u","status":"passed","name":"a",%b}' % labels).tags == ["C123"]


def test_tags_may_be_of_test_cases_or_requirements() -> None:
    feature = {
        "name": "F",
        "elements": [{"name": "s", "steps": [], "tags": [{"name": "@TEST_PDVS-286"}, {"name": "@ui"}]}],
    }
    assert result("cucumber-json", orjson.dumps([feature])).tags == ["TEST_PDVS-286", "PDVS-286"]


def test_a_step_that_nobody_has_written_fails_unless_it_is_to_be_skipped() -> None:
    step = {"result": {"status": "undefined"}}
    content = orjson.dumps([{"keyword": "Feature", "name": "F", "elements": [{"name": "s", "steps": [step]}]}])
    assert [one.status for one in results("cucumber-json", content)] == ["failed"]
    assert [one.status for one in results("cucumber-json", content, undefined_fails=False)] == ["skipped"]


def test_what_fails_in_a_background_fails_the_scenario_behind_it() -> None:
    failed, skipped = ({"steps": [{"result": {"status": status}}]} for status in ("failed", "skipped"))
    elements = [{"type": "background", **failed}, {"type": "scenario", "name": "s", **skipped}]
    assert result("cucumber-json", orjson.dumps([{"name": "F", "elements": elements}])).status == "failed"


def test_a_suite_teardown_of_robot_fails_all_tests_below_it() -> None:
    content = b"""<robot><suite name="A"><suite name="B"><test name="t"><status status="PASS"/></test>
        <test name="u"><status status="SKIP"/></test><status status="PASS"/></suite>
        <kw name="clean" type="TEARDOWN"><status status="FAIL">no room</status></kw></suite></robot>"""
    first, second = results("robot", content)
    assert (first.class_name, first.status, second.status) == ("A.B", "failed", "skipped")
    assert first.message is not None
    assert "no room" in first.message


@pytest.mark.parametrize(("depth", "is_read"), [(300, True), (5000, False)])
def test_keywords_of_robot_may_lie_in_one_another_as_deep_as_it_lets_them(depth: int, is_read: bool) -> None:
    status = b'<status status="FAIL">Maximum limit of started keywords and control structures exceeded.</status>'
    keywords = b'<kw name="Down">' * depth + b"</kw>" * depth
    content = b'<robot><suite name="s"><test name="t">%b%b</test></suite></robot>' % (keywords, status)
    found = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read) is is_read
    assert not is_read or found.counts["failed"] == 1


def test_results_of_one_history_of_allure_are_attempts_in_their_order() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for start, status in ((2, "passed"), (1, "broken")):
            body = {"uuid": "x", "name": "t", "historyId": "h", "status": status, "start": start, "stop": start + 5}
            archive.writestr(f"allure-results/{10 - start}-result.json", orjson.dumps(body))
    found = read(io.BytesIO(packed.getvalue()), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["results"], found.counts["flaky"]) == ("allure", 1, 1)


def _allure(*found: dict[str, Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, one in enumerate(found):
            archive.writestr(f"{number}-result.json", orjson.dumps({"uuid": "x", "start": number, **one}))
    return packed.getvalue()


def test_tests_of_allure_with_the_same_name_are_no_attempts_of_one_another() -> None:
    """Neither two classes of a module of pytest, nor what only its history tells apart."""
    package = {"labels": [{"name": "package", "value": "tests.test_a"}]}
    found = [
        {"name": "test_1", "historyId": f"{number}", "fullName": f"tests.test_a{of}#test_1", "status": end, **package}
        for number, (of, end) in enumerate(((".TestX", "failed"), (".TestY", "passed"), ("", "passed")))
    ]
    assert [one.class_name for one in results("allure", _allure(*found))] == [
        *("tests.test_a.TestX", "tests.test_a.TestY", "tests.test_a")
    ]
    alike = [
        {"name": "t", "historyId": history, "fullName": f"a.spec.ts:{line}", "status": end, **package}
        for history, line, end in (("1", 7, "failed"), ("2", 9, "passed"), ("2", 9, "passed"))
    ]
    told = read(io.BytesIO(_allure(*alike)), io.BytesIO(), Order("allure"))
    assert isinstance(told, Read)
    assert (told.counts["results"], told.counts["failed"], told.counts["passed"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("ends", "counted"),
    [
        (("failed", "skipped"), "failed"),
        (("skipped", "passed"), "passed"),
        (("failed", "skipped", "passed"), "flaky"),
        (("skipped", "skipped"), "skipped"),
    ],
)
def test_an_attempt_that_was_skipped_takes_nothing_from_one_that_ran(ends: tuple[str, ...], counted: str) -> None:
    found = read(
        io.BytesIO(_allure(*({"name": "t", "historyId": "h", "status": end} for end in ends))),
        io.BytesIO(),
        Order("allure"),
    )
    assert isinstance(found, Read)
    assert (found.counts["results"], found.counts[counted]) == (1, 1)


def test_values_that_allure_is_to_hide_are_not_kept() -> None:
    parameters = [{"name": "user", "value": "ann"}, {"name": "password", "value": "s3cret", "mode": "masked"}]
    parameters += [{"name": "token", "value": "s4cret", "mode": "hidden"}]
    found = {"uuid": "u", "name": "signs in", "status": "failed", "labels": [], "parameters": parameters}
    assert result("allure", orjson.dumps(found)).iteration == "signs in [user=ann, password=***]"


def test_what_vitest_has_left_for_later_has_not_failed_in_allure() -> None:
    todo = {"uuid": "u", "name": "opens", "stage": "pending", "statusDetails": {}, "labels": []}
    assert result("allure", orjson.dumps({**todo, "start": 1, "stop": 1, "steps": []})).status == "skipped"


@pytest.mark.parametrize(
    ("suites", "class_name"),
    [
        (["Doors"], "js.a.spec.ts > Doors"),
        (["Doors", "inner", "deep"], "js.a.spec.ts > Doors > inner > deep"),
        (["chromium", "js/a.spec.ts", "Doors"], "js.a.spec.ts > Doors"),
        (["js", "a.spec.ts"], "js.a.spec.ts"),
    ],
)
def test_parts_of_a_file_have_tests_of_their_own_in_allure(suites: list[str], class_name: str) -> None:
    labels = [
        {"name": name, "value": value}
        for name, value in zip(("parentSuite", "suite", "subSuite"), suites, strict=False)
    ]
    found = {"name": "opens", "status": "passed", "labels": [*labels, {"name": "package", "value": "js.a.spec.ts"}]}
    assert result("allure", _allure(found)).class_name == class_name


def test_parts_of_a_file_of_playwright_have_tests_of_their_own_in_allure() -> None:
    found = [
        {
            "name": "opens",
            "status": "passed",
            "historyId": part,
            "fullName": f"a.spec.ts › {part} › opens",
            "labels": [{"name": "package", "value": "a.spec.ts"}, {"name": "subSuite", "value": part}],
        }
        for part in ("Doors", "Windows")
    ]
    assert [one.class_name for one in results("allure", _allure(*found))] == [
        "a.spec.ts > Doors",
        "a.spec.ts > Windows",
    ]


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (b'result="failed"', "failed"),
        (b'status="Error"', "failed"),
        (b'success="False"', "failed"),
        (b'executed="False" success="False"', "skipped"),
        (b'ignored="true"', "skipped"),
        (b'status="run" result="suppressed"', "skipped"),
        (b'status="run" result="completed"', "passed"),
        (b'executed="True" success="True" ignored="false"', "passed"),
    ],
)
def test_a_case_may_say_by_its_attributes_how_it_ended(case: bytes, status: str) -> None:
    assert result("junit", b'<testsuite><testcase name="a" %b/></testsuite>' % case).status == status


@pytest.mark.parametrize("child", [b"skipped", b"skip", b"disabled", b"ignored", b"pending"])
def test_a_case_that_was_left_out_has_not_passed(child: bytes) -> None:
    content = b'<testsuite><testcase name="a"><%b/></testcase></testsuite>' % child
    assert result("junit", content).status == "skipped"


@pytest.mark.parametrize("child", [b'type="todo" message="true"', b'message="TEST_CASE tagged with !mayfail"'])
def test_a_case_that_may_fail_is_skipped(child: bytes) -> None:
    content = b"<testsuite><testcase name='a'><skipped %b/><failure message='x'/></testcase></testsuite>" % child
    assert result("junit", content).status == "skipped"


def test_tests_of_node_are_of_their_suites_for_all_have_the_same_class() -> None:
    content = b"""<testsuites><testcase name="a" classname="test"/><testsuite name="doors">
        <testcase name="a" classname="test"/></testsuite></testsuites>"""
    assert [(one.class_name, one.suite) for one in results("junit", content)] == [("", ""), ("", "doors")]
    nested = content.replace(b'name="doors">', b'name="doors"><testsuite name="locked">').replace(
        b"</testsuite>", b"</testsuite>" * 2
    )
    assert [one.suite for one in results("junit", nested)] == ["", "doors > locked"]
    content = content.replace(b"<testsuites>", b'<testsuites name="pytest tests">')
    assert [one.class_name for one in results("junit", content)] == ["test", "test"]


def test_the_number_of_a_point_of_tap_is_no_part_of_its_name_in_perls_junit() -> None:
    names = ("1 - opens", "2 - shuts", "9 - lives", "4 - ")
    suite = "".join(f'<testcase name="{name}"/>' for name in names)
    content = f'<testsuites><testsuite name="a_t">{suite}</testsuite><testsuite name="b_t">{suite}</testsuite>'
    found = results("junit", f"{content}</testsuites>".encode())
    assert [one.name for one in found] == ["opens", "shuts", "9 - lives", "4 - "] * 2
    assert result("junit", b'<testsuite><testcase name="1 - opens" classname="A"/></testsuite>').name == "1 - opens"


@pytest.mark.parametrize(
    ("class_name", "known_by"),
    [("./door_spec.lua:12", "./door_spec.lua"), ("example.com:8080", "example.com:8080")],
)
def test_the_line_of_a_test_is_no_part_of_its_class(class_name: str, known_by: str) -> None:
    one = result("junit", f'<testsuite><testcase name="a" classname="{class_name}"/></testsuite>'.encode())
    assert one.class_name == known_by


@pytest.mark.parametrize(
    ("suite", "capabilities", "browser"),
    [
        ("Chrome Headless 156.0.0.0 (Linux 0.0.0)", "", "Chrome_Headless_156_0_0_0_(Linux_0_0_0)"),
        ("Door", "chrome.156.0.0.0.linux", "chrome.156.0.0.0.linux"),
    ],
)
def test_the_browser_is_no_part_of_a_class(suite: str, capabilities: str, browser: str) -> None:
    """Karma has it as suite, and WebdriverIO as a property."""
    case = f'<testcase name="opens" classname="{browser}.Door"/>'
    properties = f'<properties><property name="capabilities" value="{capabilities}"/></properties>'
    said = properties if capabilities else ""
    one = result("junit", f'<testsuite name="{suite}">{said}{case}</testsuite>'.encode())
    assert (one.class_name, one.iteration) == ("Door", f"opens [{browser}]")
    assert result("junit", f'<testsuite name="Door (all)">{case}</testsuite>'.encode()).class_name == f"{browser}.Door"


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (
            b'<failure type="E">D::a with data set #0 (1)\nFailed asserting that 1 is 2.\n\nD.php:3</failure>',
            "Failed ass",
        ),
        (b'<failure type="java.lang.AssertionError">java.lang.AssertionError: no\n at D</failure>', "java.lang.Ass"),
        (b'<failure type="UNDEFINED"/>', "UNDEFINED"),
        (b'<error type="NoneType" message="None">\nFailing step: Then x ... undefined</error>', "Failing step: Then x"),
        (b'<failure type="E" message="no">D::a\nyes</failure>', "no"),
    ],
)
def test_a_failure_says_why_by_its_message_or_its_text_or_its_type(failure: bytes, message: str) -> None:
    one = result("junit", b'<testsuite><testcase name="a" classname="D">%b</testcase></testsuite>' % failure)
    assert (one.message or "").startswith(message)


@pytest.mark.parametrize(("first", "message"), [(b"", "again"), (b'<failure message="at last"/>', "at last")])
def test_a_case_that_was_run_again_says_why_it_failed(first: bytes, message: str) -> None:
    case = b'<testcase name="a">%b<rerunFailure message="again">x</rerunFailure></testcase>' % first
    one = result("junit", b"<testsuite>%b</testsuite>" % case)
    assert (one.status, one.message) == ("failed", message)


@pytest.mark.parametrize(
    ("case", "failed_before"),
    [
        (b'<testcase name="opens (once)"/>', False),
        (b'<testcase name="opens (once) (unstable)"/>', True),
        (b'<testcase name="opens (once) (unstable) (screenshots: /tmp/a (1)/b)"/>', True),
        (b'<testcase name="opens (once) (screenshots: /tmp/a)"/>', False),
        (
            b'<testcase name="opens (once)"><system-out><![CDATA[\n      (unstable)\n\n      (screenshots: /tmp/a)\n]]>'
            b"</system-out></testcase>",
            True,
        ),
        (b'<testcase name="opens (once)"><system-out>(screenshots: /a)</system-out></testcase>', False),
    ],
)
def test_testcafe_marks_what_passed_after_it_had_failed(case: bytes, failed_before: bool) -> None:
    suite = b'<testsuite name="%b">' + case + b"</testsuite>"
    one = result("junit", suite % b"TestCafe Tests: Chrome 87.0 / Linux")
    assert (one.name, one.status, one.failed_before) == ("opens (once)", "passed", failed_before)
    assert not result("junit", suite % b"others").failed_before


def test_what_eclipse_exports_is_a_junit_report() -> None:
    content = b"""<?xml version="1.0"?><testrun name="D" tests="3" failures="1"><testsuite name="D">
        <testcase name="a" classname="D"/><testcase name="b" classname="D"><failure>x</failure></testcase>
        <testcase name="c" classname="D" ignored="true"/></testsuite></testrun>"""
    found = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, [found.counts[end] for end in ("passed", "failed", "skipped")]) == ("junit", [1, 1, 1])


def test_a_scenario_of_behave_that_did_not_run_has_not_passed() -> None:
    step: dict[str, Any] = {"name": "g", "result": {"status": "passed", "duration": 0.25}}
    broken = {"name": "g", "result": {"status": "failed", "duration": 0.5, "error_message": ["Assertion", "no door"]}}
    elements = [
        {"type": "background", "name": "b", "steps": [{"name": "g"}]},
        {"type": "scenario", "name": "s", "status": "passed", "tags": ["TC-1"], "steps": [step]},
        {"type": "scenario", "name": "t", "status": "failed", "steps": [broken, {"name": "h"}]},
        {"type": "scenario", "name": "u", "status": "skipped", "steps": [{"name": "g"}]},
        {"type": "scenario", "name": "v", "steps": [{"name": "g"}]},
    ]
    feature = {"keyword": "Feature", "name": "F", "location": "a.feature:1", "elements": elements}
    found = results("cucumber-json", orjson.dumps([feature]))
    assert [(one.name, one.status) for one in found] == [
        *(("s", "passed"), ("t", "failed"), ("u", "skipped"), ("v", "skipped"))
    ]
    assert (found[0].duration_ms, found[0].file, found[0].tags) == (250, "a.feature", ["TC-1"])
    assert found[1].trace == "Assertion\nno door"


def test_a_scenario_without_steps_has_not_passed_unless_its_tool_says_so() -> None:
    for said, status in (({}, "skipped"), ({"status": "passed"}, "passed")):
        feature = {"keyword": "Feature", "name": "F", "elements": [{"name": "s", "steps": [], **said}]}
        assert result("cucumber-json", orjson.dumps([feature])).status == status
    envelopes: list[dict[str, Any]] = [{"pickle": {"id": "p", "name": "s"}}, {"testCase": {"id": "c", "pickleId": "p"}}]
    envelopes += [{"testCaseStarted": {"id": "1", "testCaseId": "c"}}, {"testCaseFinished": {"testCaseStartedId": "1"}}]
    assert result("cucumber-messages", b"\n".join(map(orjson.dumps, envelopes))).status == "skipped"


def test_what_behave_says_of_steps_that_nobody_has_written_is_the_callers_to_judge() -> None:
    steps = [{"name": "g", "result": {"status": "undefined"}}]
    feature = {"keyword": "Feature", "name": "F", "elements": [{"name": "s", "status": "failed", "steps": steps}]}
    content = orjson.dumps([feature])
    ends = [results("cucumber-json", content, undefined_fails=fails)[0].status for fails in (True, False)]
    assert ends == ["failed", "skipped"]


def test_a_suite_with_a_case_that_failed_says_nothing_more() -> None:
    case = b'<testcase name="a"><failure/></testcase>'
    inner = b'<testsuite failures="1" errors="x">%b</testsuite><testsuite failures="0"/>' % case
    content = b'<testsuites failures="1"><testsuite errors="1">%b</testsuite></testsuites>' % inner
    assert [one for one in registry.find("junit").read(io.BytesIO(content), ReadAs()) if isinstance(one, Notice)] == []


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("junit", b'<testsuite errors="%b"><testcase name="a"/></testsuite>' % (b"1" * 9000), "suite_failed"),
        ("junit", b'<testsuite><error message="full"/><testcase name="a"/></testsuite>', "suite_failed"),
        (
            "nunit",
            b'<test-run><test-suite result="Failed" site="TearDown"><failure><message>full</message></failure>'
            b'<test-case name="a" result="Passed"/></test-suite></test-run>',
            "suite_failed",
        ),
        (
            "nunit",
            b'<test-run><test-suite type="Assembly" result="Failed" label="Invalid" runstate="NotRunnable"><reason>'
            b"<message>No such file</message></reason></test-suite></test-run>",
            "suite_failed",
        ),
        (
            "trx",
            b'<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary><RunInfos>'
            b'<RunInfo outcome="Error"><Text>The host crashed</Text></RunInfo></RunInfos></ResultSummary></TestRun>',
            "errors_of_run",
        ),
        (
            "cucumber-messages",
            b'{"meta": {}}\n{"parseError": {"message": "(3:1): expected"}}\n'
            b'{"testRunHookFinished": {"result": {"status": "FAILED", "message": "full"}}}',
            "errors_of_run",
        ),
        (
            "cucumber-messages",
            b'{"meta": {}}\n{"testRunFinished": {"success": false, "message": "full", "exception": {"type": "E"}}}',
            "errors_of_run",
        ),
    ],
)
def test_what_failed_beside_all_tests_is_told(name: str, content: bytes, code: str) -> None:
    found = registry.find(name).read(io.BytesIO(content), ReadAs())
    assert [one.code for one in found if isinstance(one, Notice)] == [code]


def test_what_the_run_is_told_of_a_test_is_no_failure_beside_it() -> None:
    content = (
        b'<TestRun><Results><UnitTestResult testName="D.opens" outcome="Failed"/></Results><ResultSummary><RunInfos>'
        b'<RunInfo outcome="Error"><Text>[xUnit.net 00:00:01.01]     D.opens [FAIL]</Text></RunInfo>'
        b"<RunInfo outcome=\"Error\"><Text>Exit code indicates failure: '2'. Please refer to ...</Text></RunInfo>"
        b"</RunInfos></ResultSummary></TestRun>"
    )
    (one,) = registry.find("trx").read(io.BytesIO(content), ReadAs())
    assert isinstance(one, Result)
    assert one.status == "failed"


def test_a_benchmark_of_go_has_no_line_of_its_own_end() -> None:
    events: list[dict[str, Any]] = [
        {"Action": "run", "Package": "p", "Test": "BenchmarkX"},
        {"Action": "output", "Package": "p", "Test": "BenchmarkX", "Output": "BenchmarkX 1 1 ns/op"},
        {"Action": "run", "Package": "p", "Test": "BenchmarkY"},
        {"Action": "bench", "Package": "p", "Test": "BenchmarkY"},
        {"Action": "run", "Package": "p", "Test": "TestZ"},
        {"Action": "pass", "Package": "p"},
    ]
    found = results("go-test-json", b"\n".join(map(orjson.dumps, events)))
    assert {one.name: one.status for one in found} == {
        "BenchmarkX": "passed",
        "BenchmarkY": "passed",
        "TestZ": "failed",
    }


def test_tests_of_go_may_be_of_no_package_that_is_named() -> None:
    events = ({"Action": action, "Test": "TestOpens"} for action in ("run", "fail"))
    found = read(io.BytesIO(b"\n".join(map(orjson.dumps, events))), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["results"], found.counts["failed"]) == ("go-test-json", 1, 1)


def test_a_test_of_go_names_by_attributes_whom_it_counts_for() -> None:
    events: list[dict[str, Any]] = [
        {"Action": "run", "Test": "TestOpens"},
        {"Action": "attr", "Test": "TestOpens", "Key": "test_case", "Value": "TC-7"},
        {"Action": "attr", "Test": "TestOpens", "Key": "requirement", "Value": "REQ-1 REQ-2"},
        {"Action": "attr", "Test": "TestOpens", "Key": "colour", "Value": "TC-9"},
        {"Action": "run", "Test": "TestOpens/wide"},
        {"Action": "pass", "Test": "TestOpens/wide"},
        {"Action": "fail", "Test": "TestOpens"},
        {"Action": "run", "Test": "TestPanics"},
        {"Action": "attr", "Test": "TestPanics", "Key": "test_case", "Value": "TC-8"},
    ]
    wide, opens, panics = results(
        "go-test-json", b"\n".join(orjson.dumps({**event, "Package": "p"}) for event in events)
    )
    assert (opens.status, opens.named, opens.requirements) == ("failed", ["TC-7"], ["REQ-1", "REQ-2"])
    assert (wide.status, wide.named, wide.requirements) == ("passed", None, None)
    assert (panics.status, panics.named) == ("failed", ["TC-8"])


def test_a_test_of_go_that_is_repeated_is_no_attempt_but_one_that_is_run_again_is() -> None:
    ends = {end: {"Action": end, "Package": "p", "Test": "T"} for end in ("fail", "pass")}
    bad, good = ({"Action": end, "Package": "p"} for end in ends)
    counted = []
    for events in ([ends["fail"], ends["pass"], bad], [ends["fail"], bad, ends["pass"], good]):
        content = b"go: downloading x v1.0.0\n" + b"\n".join(map(orjson.dumps, events))
        found = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
        assert isinstance(found, Read)
        counted.append([found.counts[end] for end in ("passed", "failed", "flaky")])
    assert counted == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("status", ["unknown", "unused"])
def test_a_step_that_nobody_knows_the_end_of_has_not_passed(status: str) -> None:
    steps = [{"result": {"status": one}} for one in ("passed", status)]
    content = orjson.dumps([{"keyword": "Feature", "name": "F", "elements": [{"name": "s", "steps": steps}]}])
    assert result("cucumber-json", content).status == "skipped"


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_who_sends_an_archive_of_reports_is_told_to_send_them_by_themselves(compression: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.writestr("report.xml", b"<testsuite>%s</testsuite>" % (b'<testcase name="a"/>' * 50))
    refused = read(io.BytesIO(packed.getvalue()), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal)
    assert "parts of one form" in refused.detail


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b"1..0 # SKIP no database\n", 0),
        (b"# Starting\nok 1 - a\n1..1\n", 1),
        (b"Compiling ...\n1..2\nok 1 a\nnot ok 2 b\n", 2),
    ],
)
def test_tap_is_recognised_behind_what_a_program_prints(content: bytes, count: int) -> None:
    found = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["results"]) == ("tap", count)


def test_a_text_with_the_word_ok_is_no_tap() -> None:
    found = read(io.BytesIO(b"Compiling ...\nok  \tpackage\t0.1s\n1..2\n"), io.BytesIO(), Order("auto"))
    assert isinstance(found, Refusal)


def test_a_package_of_go_that_cannot_be_built_has_failed() -> None:
    events: list[dict[str, Any]] = [{"Action": "output", "Package": "p", "Output": "no such file\n"}]
    events += [{"Action": "fail", "Package": "p", "Elapsed": 0}]
    events += [{"ImportPath": "q [q.test]", "Action": "build-output", "Output": "q.go:3: undefined: x\n"}]
    events += [{"Action": "output", "Package": "q", "Output": "FAIL\tq [build failed]\n"}]
    events += [{"Action": "fail", "Package": "q", "Elapsed": 0, "FailedBuild": "q [q.test]"}]
    found = results("go-test-json", b"\n".join(map(orjson.dumps, events)))
    said = [(one.class_name, one.name, one.status, one.message) for one in found]
    assert said == [
        ("p", "TestMain", "failed", "no such file"),
        ("q", "TestMain", "failed", "q.go:3: undefined: x"),
    ]


def test_a_package_that_go_cannot_build_has_failed_though_no_event_says_so() -> None:
    content = b"""{"Action": "pass", "Package": "p", "Test": "T"}
FAIL\tq [build failed]
FAIL\tr [setup failed]
ok  \ts\t0.1s
"""
    found = list(registry.find("go-test-json").read(io.BytesIO(content), ReadAs()))
    said = [(one.class_name, one.status) for one in found if isinstance(one, Result)]
    assert said == [("p", "passed"), ("q", "failed"), ("r", "failed")]
    assert {one.code: one.count for one in found if isinstance(one, Notice)} == {
        "errors_of_run": 2,
        "crashed": 1,
        "other_lines": 1,
    }


def test_rows_of_an_outline_are_told_apart_by_what_they_say() -> None:
    rows = [{"id": f"r{value}", "cells": [{"value": f"{value}"}, {"value": "b"}]} for value in (1, 2)]
    table = {"tableHeader": {"cells": [{"value": "x"}, {"value": "y"}]}, "tableBody": rows}
    feature = {"name": "F", "children": [{"rule": {"children": [{"scenario": {"examples": [table]}}]}}]}
    envelopes: list[dict[str, Any]] = [{"gherkinDocument": {"uri": "a.feature", "feature": feature}}]
    for row in ("r1", "r2"):
        envelopes += [
            {"pickle": {"id": row, "uri": "a.feature", "name": "s", "astNodeIds": ["s", row]}},
            {"testCase": {"id": row, "pickleId": row}},
            {"testCaseStarted": {"id": row, "testCaseId": row}},
            {"testStepFinished": {"testCaseStartedId": row, "testStepResult": {"status": "PASSED"}}},
            {"testCaseFinished": {"testCaseStartedId": row}},
        ]
    found = results("cucumber-messages", b"\n".join(map(orjson.dumps, envelopes)))
    assert [(one.class_name, one.iteration) for one in found] == [("F", "s [x=1, y=b]"), ("F", "s [x=2, y=b]")]


@pytest.mark.parametrize(
    ("place", "iteration"),
    [
        ({"id": "f;s;;2"}, "s #2"),
        ({"id": "f;s;first;2"}, "s #first 2"),
        ({"id": "test_s[2-x]", "keyword": "Scenario Outline", "line": 9}, "s [2-x]"),
        ({"id": "f;s", "keyword": "Scenario Outline", "line": 28}, "s #line 28"),
        ({"id": "f;s", "keyword": "Scenario", "line": 28}, ""),
        ({"id": "f;opens-[tc-7]", "keyword": "Scenario", "line": 28}, ""),
    ],
)
def test_rows_of_an_outline_are_told_apart_by_their_place(place: dict[str, Any], iteration: str) -> None:
    feature = {"keyword": "Feature", "name": "F", "elements": [{"name": "s", "steps": [], **place}]}
    assert result("cucumber-json", orjson.dumps([feature])).iteration == iteration


@pytest.mark.parametrize("says", ["testCaseFinished", "testStepResult"])
def test_attempts_of_a_scenario_are_one_result(says: str) -> None:
    """That another follows is said by a step before version 17 of the messages, by the end of the scenario since."""
    envelopes: list[dict[str, Any]] = [{"pickle": {"id": "p", "name": "s"}}, {"testCase": {"id": "c", "pickleId": "p"}}]
    for attempt, status in enumerate(("FAILED", "PASSED")):
        again = {"willBeRetried": attempt == 0}
        step = {"status": status, **(again if says == "testStepResult" else {})}
        envelopes += [
            {"testCaseStarted": {"id": f"{attempt}", "testCaseId": "c", "attempt": attempt}},
            {"testStepFinished": {"testCaseStartedId": f"{attempt}", "testStepResult": step}},
            {"testCaseFinished": {"testCaseStartedId": f"{attempt}", **(again if says == "testCaseFinished" else {})}},
        ]
    one = result("cucumber-messages", b"\n".join(map(orjson.dumps, envelopes)))
    assert (one.name, one.status, one.failed_before) == ("s", "passed", True)


def test_a_test_that_rebot_has_merged_failed_before() -> None:
    said = (
        '*HTML* <span class="merge">Test has been re-executed and results merged.</span><hr>'
        '<span class="new-status">New status:</span> <span class="pass">PASS</span><br><hr>'
        '<span class="old-status">Old status:</span> <span class="fail">FAIL</span><br>1 &amp;lt; 0<br>'
    ).replace("<", "&lt;")
    one = result(
        "robot",
        f'<robot><suite name="s"><test name="t"><status status="PASS">{said}</status></test></suite></robot>'.encode(),
    )
    assert (one.status, one.failed_before) == ("passed", True)
    assert one.message == "Test has been re-executed and results merged. New status: PASS Old status: FAIL 1 < 0"


def test_a_test_that_robot_has_retried_failed_before() -> None:
    ends = (("SKIP", "1 != 2\nSkipped for Retry"), ("PASS", "[RETRY] PASS on 1. retry."))
    tests = "".join(f'<test name="t"><status status="{status}">{said}</status></test>' for status, said in ends)
    found = results("robot", f'<robot><suite name="s">{tests}</suite></robot>'.encode())
    assert [(one.status, one.failed_before) for one in found] == [("skipped", False), ("passed", True)]


def test_what_a_failure_says_may_be_longer_than_what_is_kept() -> None:
    one = result(
        "junit", b'<testsuite><testcase name="a"><failure message="%s"/></testcase></testsuite>' % (b"m" * 2**21)
    )
    assert (one.status, one.message) == ("failed", "m" * 4096)


def test_subtests_of_tap_are_results_and_so_is_what_they_belong_to() -> None:
    content = b"TAP version 14\n# Subtest: outer\n    ok 1 - inner\n    1..1\nok 1 - outer\n1..1\n"
    assert [(one.class_name, one.name) for one in results("tap", content)] == [("outer", "inner"), ("", "outer")]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("message: 'no door'", "no door"),
        ("error: '1 == 2'", "1 == 2"),
        ("error: |-\n\n    no door\n    no window", "no door"),
        ('error:\n    name: "E"\n    message: "no door"', "no door"),
    ],
)
def test_a_point_of_tap_says_why_it_failed(said: str, message: str) -> None:
    assert result("tap", f"TAP version 13\nnot ok 1 - a\n  ---\n  {said}\n  ...\n1..1\n".encode()).message == message


def test_comments_behind_a_point_of_tap_say_why_it_failed() -> None:
    content = (
        b"ok 1 a\n# fine\nnot ok 2 b\n# (in b.bats, line 2)\n#   `false' failed\nnot ok 3 c\n1..3\n# failed 2 of 3\n"
    )
    assert [one.message for one in results("tap", content)] == [None, "(in b.bats, line 2)\n`false' failed", None]


@pytest.mark.parametrize(
    "content",
    [
        b"ok 1 - a\n---\nnot ok 2 - b\n1..2\n",
        b"ok 1 - a\n  ---\n  error: cut off\nnot ok 2 - b\n1..2\n",
        b"    ok 1 - a\n      ---\n      error: cut off\n    not ok 2 - b\n",
        b"ok 1 - a\n  ---\n  found: >\n    not ok 1 - c\n      ---\n      ...\n    not ok 2 - d\n  ...\nnot ok 2 - b\n",
        b"1..2\nok, it starts\nok 1 - a\nok: it goes on ...\nnot ok 2 - b\n",
    ],
)
def test_what_a_program_prints_between_points_of_tap_hides_none(content: bytes) -> None:
    assert [(one.name, one.status) for one in results("tap", content)] == [("a", "passed"), ("b", "failed")]


def test_subtests_of_tap_may_stand_in_braces_behind_what_they_belong_to() -> None:
    content = b"""TAP version 14
ok 1 - a.js # time=12.5ms {
    ok 1 - inner {
        not ok 1 - deep
        1..1
    }
    1..1
}
not ok 2 - b.js # time=3ms
  ---
  exitCode: 1
  ...
{
    not ok 1 - in b
    1..1
}
1..2
"""
    assert [(one.class_name, one.name, one.status) for one in results("tap", content)] == [
        ("a.js", "inner > deep", "failed"),
        ("a.js", "inner", "failed"),
        ("", "a.js", "failed"),
        ("b.js", "in b", "failed"),
        ("", "b.js", "failed"),
    ]


def test_the_time_of_a_point_of_tap_is_no_part_of_its_name() -> None:
    content = b"TAP version 13\nok 1 - opens # time=3.5ms\nok 2 - shuts\n  ---\n  duration_ms: 12.2\n  ...\n1..2\n"
    assert [(one.name, one.duration_ms) for one in results("tap", content)] == [("opens", 4), ("shuts", 12)]
    content = b"ok 1     + boolean          273 ms\nok 2     - answers in 20 ms\n1..2\n"
    assert [(one.name, one.duration_ms) for one in results("tap", content)] == [
        ("boolean", 273),
        ("answers in 20 ms", None),
    ]
    content = b"ok 1 opens # in 12 ms\nok 2 shuts # in 3 ms # skip no door\nok - door::locks  (0.50s)\n1..3\n"
    assert [(one.name, one.duration_ms) for one in results("tap", content)] == [
        ("opens", 12),
        ("shuts", 3),
        ("door::locks", 500),
    ]


def test_a_part_of_an_address_is_no_directive_of_tap() -> None:
    content = b"not ok 1 - GET /docs#todo\nnot ok 2 - a \\# skip\nnot ok 3 - b #skip no door\nnot ok # TODO c\n1..4\n"
    assert [one.status for one in results("tap", content)] == ["failed", "failed", "skipped", "skipped"]


def test_how_a_point_of_tap_failed_is_no_part_of_its_name() -> None:
    content = b"""TAP version 13
ok 1 selftests: net: a.sh
not ok 1 selftests: net: a.sh # exit=1
not ok 1 selftests: net: a.sh # TIMEOUT 45 seconds
not ok 1 selftests: net: a.sh # in 1003 ms # timeout after 1 s
not ok 1 selftests: net: a.sh # XFAIL no such card
"""
    found = results("tap", content)
    assert {one.name for one in found} == {"selftests: net: a.sh"}
    assert [(one.status, one.message) for one in found] == [
        ("passed", None),
        ("failed", "exit=1"),
        ("failed", "TIMEOUT 45 seconds"),
        ("failed", "timeout after 1 s"),
        ("skipped", "no such card"),
    ]


@pytest.mark.parametrize("indent", ["  ", "    "])
def test_a_subtest_of_tap_may_say_its_name_itself(indent: str) -> None:
    content = f"""KTAP version 1
1..2
{indent}KTAP version 1
{indent}# Subtest: door
{indent}1..2
{indent}ok 1 opens
{indent}# Subtest: shuts
{indent * 2}ok 1 slowly
{indent}not ok 2 shuts
not ok 1 door
{indent}# Subtest: window
{indent}ok 1 opens
ok 2 window # SKIP
"""
    assert [(one.class_name, one.name) for one in results("tap", content.encode())] == [
        ("door", "opens"),
        ("door > shuts", "slowly"),
        ("door", "shuts"),
        ("", "door"),
        ("window", "opens"),
        ("", "window"),
    ]
    found = read(io.BytesIO(content.encode()), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, found.warnings) == ("tap", [])


def test_the_suite_of_an_assembly_is_a_report_of_nunit() -> None:
    content = b'<test-suite type="Assembly" runstate="Runnable" testcasecount="1"><test-case name="a" result="Failed"/>'
    found = read(io.BytesIO(content + b"</test-suite>"), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["failed"]) == ("nunit", 1)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b'<?xml version="1.0"?>\n<!-- NUnit -->\n<test-results name="a.dll"/>', "NUnit 2"),
        (b'<test-results xmlns:xsi="x" name="Pester" total="1"/>', "OutputFormat = 'JUnitXml'"),
        (b'<testExecutions version="1"><file path="a.ts"/></testExecutions>', "SonarQube"),
        (b'<Site BuildName="b" Generator="ctest-3.25"><Testing/></Site>', "--output-junit"),
        (b"<!DOCTYPE html><html><body/></html>", "web page"),
        (b'<a:test-suite xmlns:a="urn:model.allure.qatools.yandex.ru"><name>x</name></a:test-suite>', "Allure 1"),
        (b'{"generator": "Robot 7.2", "rpa": false, "suite": {}}', "--output output.xml"),
        (b'{"tests": 1, "disabled": 0, "testsuites": []}', "--gtest_output=xml"),
        (b'<testsuites xmlns="http://check.sourceforge.net/ns"><suite/></testsuites>', "CK_TAP_LOG_FILE_NAME"),
        (b"<TestRun>\n<FailedTests></FailedTests><SuccessfulTests/></TestRun>", "CppUnit"),
        (b'<failsafe-summary result="255"><completed>3</completed></failsafe-summary>', "TEST-*.xml"),
        (b"<TestCase name='tst_Door'><TestFunction name='opens'/></TestCase>", "junitxml"),
        (b'{"numFailedTestSuites": 0, "numTotalTestSuites": 1, "testResults": []}', "jest-junit"),
        (b'\n{"stats": {"suites": 1, "passes": 1, "pending": 0}, "tests": []}', "mocha-junit-reporter"),
        (b'{"version": "3.13", "examples": [{"id": "a", "full_description": "opens"}]}', "rspec_junit_formatter"),
        (b'{"type": "suite", "event": "started", "test_count": 3}\n', "nextest"),
        (b'{"uuid": "u", "name": "f", "children": ["x"], "befores": [], "start": 1}', "one zip"),
        (b'{"created":1.0,"exitcode":0,"summary":{},"collectors":[],"tests":[]}', "--junitxml=FILE"),
        (b'{"root_group":{"name":""},"metrics":{"http_reqs":{"count":1}}}', "handleSummary"),
        (b'{"type":"Metric","data":{"name":"http_reqs"},"metric":"http_reqs"}\n', "handleSummary"),
    ],
)
def test_what_people_send_in_vain_is_named_with_what_to_send_instead(content: bytes, hint: str) -> None:
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto", "Test.xml"))
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.code) == (415, "unknown_format")
    begins = refused.detail.partition(" The file ")[0]
    assert begins.startswith("This ")
    assert hint in begins


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("report.xml", b"<?xml version='1.0'?>", "unreadable_file", (1, 22)),
        ("report.xml", b"Tests passed", "unreadable_file", (1, 1)),
        ("report", b"<results>\n<case>", "unreadable_file", (2, 7)),
        ("report.json", b'\n{"resu', "cut_off", (2, 7)),
    ],
)
def test_what_is_too_broken_to_be_of_a_format_has_a_place_too(
    name: str, content: bytes, code: str, place: tuple[int, int]
) -> None:
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto", name))
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.code) == (422, code)
    assert (refused.members["line"], refused.members["column"]) == place


def test_cucumber_writes_an_empty_list_where_no_scenario_was_chosen() -> None:
    found = read(io.BytesIO(b"[]\n"), io.BytesIO(), Order("auto", "report.json"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["results"]) == ("cucumber-json", 0)


def test_a_report_may_be_packed_by_gzip() -> None:
    content = b'<testsuite><testcase name="a"/><testcase name="b"><skipped/></testcase></testsuite>'
    found = read(io.BytesIO(gzip.compress(content)), io.BytesIO(), Order("auto", "report.xml.gz"))
    assert isinstance(found, Read)
    assert (found.format, found.counts["passed"], found.counts["skipped"]) == ("junit", 1, 1)
    refused = read(io.BytesIO(gzip.compress(content)[:-4]), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.detail) == ("unreadable_file", "The gzip file is cut off: its stream does not end.")


@pytest.mark.parametrize("root", [b"testsuites", b"robot", b"TestRun", b"test-run", b"assemblies"])
def test_entities_are_refused(root: bytes) -> None:
    content = b'<!DOCTYPE x [<!ENTITY a "b">]><%b>&a;</%b>' % (root, root)
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal)
    assert refused.members["line"] == 1


def test_a_list_of_tests_is_no_report_of_them() -> None:
    content = b'<testsuites tests="1" name="AllTests"><testsuite name="A"><testcase name="a"/></testsuite></testsuites>'
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal)
    assert "--gtest_list_tests" in refused.detail
    ran = read(io.BytesIO(content.replace(b' name="A', b' failures="0" name="A', 1)), io.BytesIO(), Order("auto"))
    assert isinstance(ran, Read)


def test_a_test_case_within_another_is_refused_with_its_place() -> None:
    content = b'<testsuite>\n<testcase name="a">\n<testcase name="b"/>\n<failure/></testcase></testsuite>'
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.members["line"]) == ("unreadable_file", 3)


_LETTERS = st.text(st.sampled_from("<>/=\"'{}[]:,ok not#-\n\\ \t1\0é"), max_size=60)


@given(st.sampled_from(registry.FORMATS), st.one_of(st.binary(max_size=60), _LETTERS.map(str.encode)))
def test_no_file_makes_a_reader_fail_otherwise_than_by_saying_so(known: Any, content: bytes) -> None:
    assert 0 <= known.recognise(io.BytesIO(content), "report") <= 1
    try:
        for found in known.read(io.BytesIO(content), ReadAs()):
            assert isinstance(found, Result | Notice)
    except Unreadable:
        return


def test_rows_of_a_data_driven_test_are_its_iterations() -> None:
    inner = b'<UnitTestResult testName="T" outcome="Passed" dataRowInfo="0"/>'
    whole = b'<UnitTestResult testName="T" outcome="Passed"><InnerResults>%s</InnerResults></UnitTestResult>' % inner
    found = results("trx", b"<TestRun><Results>%s</Results></TestRun>" % whole)
    assert [(one.name, one.iteration) for one in found] == [("T", ""), ("T", "T [row 0]")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("junit", b'<testsuite><testcase name="a" status="timeout"/></testsuite>'),
        ("junit", b'<testsuite><testcase name="a" result="aborted"/></testsuite>'),
        ("ctrf", b'{"results": {"tool": {}, "summary": {}, "tests": [{"name": "a", "status": "broken"}]}}'),
        (
            "ctrf",
            b'{"results": {"tool": {}, "summary": {}, "tests": [{"name": "a", "status": "other",'
            b' "rawStatus": "timedOut"}]}}',
        ),
    ],
)
def test_what_did_not_pass_by_any_word_has_failed(name: str, content: bytes) -> None:
    assert result(name, content).status == "failed"

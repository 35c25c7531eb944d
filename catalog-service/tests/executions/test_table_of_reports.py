"""Reports that could be read as a yes where the answer is no: how each stands, and whether the gate opens.

A row a case. Files come in their order, each in a run of its own that has ended, unless `run` says otherwise; `KEY` in
them is the external id of a test case, which one requirement is linked to.
"""

import io
import json
import zipfile
from typing import Any, NamedTuple

import pytest

from testing.service import ok

from .conftest import Traced, junit


def named(name: str, inside: str = "", class_name: str = "t") -> str:
    """Return a case of JUnit that names the test case."""
    names = '<properties><property name="test_case" value="KEY"/></properties>'
    return f'<testcase classname="{class_name}" name="{name}">{names}{inside}</testcase>'


def suite(*cases: str, attributes: str = "") -> bytes:
    """Return a report of JUnit."""
    return f'<testsuites><testsuite name="s" {attributes}>{"".join(cases)}</testsuite></testsuites>'.encode()


class File(NamedTuple):
    """A file, or the members of a folder of Allure; at which commit it comes, and how else."""

    content: bytes | dict[str, Any]
    commit: str = "c1"
    options: dict[str, Any] = {}


class Case(NamedTuple):
    """What is sent, then how the test case stands and whether the gate of the last commit is open.

    `codes`: warnings that the last file is to have. `iterations`: of the failure.
    """

    files: list[File]
    verdict: str
    is_open: bool
    codes: set[str] = set()
    iterations: list[str] = []


def packed(members: dict[str, Any], key: str) -> bytes:
    """Return a folder of Allure, by the names of its files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as folder:
        for name, member in members.items():
            folder.writestr(name, json.dumps(member).replace("KEY", key))
    return archive.getvalue()


def of_go(*events: dict[str, str]) -> bytes:
    """Return events of a package of Go whose test of the test case passed."""
    named = {"Package": "ex.com/b", "Test": "Test[KEY]", "Action": "pass"}
    return "\n".join(json.dumps(one) for one in (named, *events)).encode()


ALLURE = {"uuid": "1", "name": "turns", "status": "passed", "labels": [{"name": "test_case", "value": "KEY"}]}
CONTAINER = {"uuid": "2", "children": ["1"]}
SERVER = {"name": "server", "status": "broken", "statusDetails": {"message": "no server"}}
FAILED = '<failure message="no">E</failure>'
GREEN = File(suite(named("a")))
JOB = {"run": "pipeline", "lane": "unit", "job": "unit"}
PYTEST = "shop.tests.test_lock.TestLock"

CASES = {
    "two pipelines, the failing one first": Case(
        [
            File(suite(named("shows", FAILED)), options={"lane": "e2e"}),
            File(suite(named("turns")), options={"lane": "unit"}),
        ],
        "failed",
        False,
    ),
    "two pipelines, the failing one last": Case(
        [
            File(suite(named("turns")), options={"lane": "unit"}),
            File(suite(named("shows", FAILED)), options={"lane": "e2e"}),
        ],
        "failed",
        False,
    ),
    "a run in which nothing ran": Case(
        [GREEN, File(suite(attributes='tests="0"'), "c2")], "passed", False, {"no_results"}
    ),
    "a suite that failed beside its cases": Case(
        [GREEN, File(suite(named("a"), attributes='failures="1" tests="1"'), "c2")],
        "passed",
        False,
        {"suite_failed"},
    ),
    "a commit that has lost the test": Case(
        [
            File(suite(named("a"), '<testcase classname="t" name="b"/>')),
            File(junit(("b", "passed"), class_name="t"), "c2"),
        ],
        "not_run",
        False,
    ),
    "a job that was repeated": Case(
        [
            File(suite(named("a", FAILED)), options={**JOB, "job_try": "70"}),
            File(suite(named("a")), options={**JOB, "job_try": "71"}),
        ],
        "flaky",
        True,
    ),
    "a job that was repeated and failed again": Case(
        [
            File(suite(named("a", FAILED)), options={**JOB, "job_try": "70"}),
            File(suite(named("a", FAILED)), options={**JOB, "job_try": "71"}),
        ],
        "failed",
        False,
    ),
    "a feature of Karate that was edited": Case(
        [File(suite(named("[1:7] lists", FAILED))), File(suite(named("[1:9] lists")), "c2")], "passed", True
    ),
    "rows of Karate of which one fails": Case(
        [File(suite(named("[2.1:20] orders"), named("[2.2:21] orders", FAILED)))],
        "failed",
        False,
        iterations=["orders [2]"],
    ),
    "pytest by JUnit, then by CTRF, where a retry passed": Case(
        [
            File(suite(named("test_turns", class_name=PYTEST)), options={"lane": "unit"}),
            File(
                b'{"reportFormat": "CTRF", "results": {"tool": {"name": "pytest"}, "summary": {"tests": 1}, "tests": ['
                b'{"name": "shop/tests/test_lock.py::TestLock::test_turns", "status": "passed", "flaky": true,'
                b' "suite": ["shop/tests/test_lock.py", "TestLock"], "filePath": "shop/tests/test_lock.py"}]}}',
                "c2",
                {"lane": "unit"},
            ),
        ],
        "flaky",
        True,
    ),
    "a label of Allure in small letters": Case(
        [
            File(
                b'{"uuid": "1", "name": "turns", "status": "failed", "historyId": "h", "fullName": "shop#turns",'
                b' "labels": [{"name": "as_id", "value": "KEY"}, {"name": "package", "value": "shop"}]}'
            )
        ],
        "failed",
        False,
    ),
    "two browsers of which one fails": Case(
        [
            File(
                b'<testsuites><testsuite name="a.spec.js" hostname="chromium"><testcase name="[KEY] locks"'
                b' classname="a.spec.js"/></testsuite><testsuite name="a.spec.js" hostname="webkit"><testcase'
                b' name="[KEY] locks" classname="a.spec.js"><failure message="no"/></testcase></testsuite></testsuites>'
            )
        ],
        "failed",
        False,
        iterations=["[KEY] locks [webkit]"],
    ),
    "a character that XML has not": Case(
        [File(suite(named("a", '<failure message="no">\x1b[31mred\x1b[0m \x0b</failure>')))],
        "failed",
        False,
        {"text_replaced"},
    ),
    "tries as cases": Case([File(suite(named("a", FAILED), named("a")))], "failed", False, {"like_tries"}),
    "tries as cases, and the sender says so": Case(
        [File(suite(named("a", FAILED), named("a")), options={"duplicates": "last"})], "flaky", True
    ),
    "a test that CTest could not run": Case(
        [
            File(
                b'<testsuite name="(empty)" tests="1" skipped="1"><testcase name="[KEY]" classname="[KEY]"'
                b' status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>'
            )
        ],
        "failed",
        False,
    ),
    "an annotation that CTRF keeps as extra": Case(
        [
            File(
                b'{"reportFormat": "CTRF", "results": {"tool": {"name": "playwright"}, "summary": {"tests": 1},'
                b' "tests": [{"name": "turns", "status": "failed", "extra": {"annotations": ['
                b'{"type": "test_case", "description": "KEY"}]}}]}}'
            )
        ],
        "failed",
        False,
    ),
    "failures of several tries in one case": Case(
        [File(suite(named("a", '<failure message="try 1"/><failure message="try 2"/>')))], "failed", False
    ),
    "a package of Go that was not built": Case(
        [
            File(
                b'{"Action":"run","Package":"ex.com/b","Test":"Test[KEY]"}\n'
                b'{"Action":"pass","Package":"ex.com/b","Test":"Test[KEY]","Elapsed":0}\n'
                b'{"Action":"pass","Package":"ex.com/b","Elapsed":0}\n'
                b'{"ImportPath":"ex.com/app [ex.com/app.test]","Action":"build-fail"}\n'
                b'{"Action":"start","Package":"ex.com/app"}\n'
                b'{"Action":"fail","Package":"ex.com/app","Elapsed":0,"FailedBuild":"ex.com/app [ex.com/app.test]"}\n'
            )
        ],
        "passed",
        False,
    ),
    "a flaky test that nextest lets fail": Case(
        [
            File(
                suite(
                    named(
                        "a",
                        '<failure message="passed on try 2 but has to fail when flaky" type="flaky failure"/>'
                        '<flakyFailure message="m" type="test failure">E</flakyFailure>',
                    )
                )
            )
        ],
        "failed",
        False,
    ),
    "a fixture of Allure that failed before its tests": Case(
        [File({"1-result.json": ALLURE, "2-container.json": {**CONTAINER, "befores": [SERVER]}})],
        "passed",
        False,
        {"suite_failed"},
    ),
    "a fixture of Allure that failed after its tests": Case(
        [File({"1-result.json": ALLURE, "2-container.json": {**CONTAINER, "afters": [SERVER]}})],
        "passed",
        False,
        {"suite_failed"},
    ),
    "a suite of NUnit that failed by itself": Case(
        [
            File(
                b'<test-run><test-suite name="s" result="Failed" label="Error"><test-case name="a" classname="t"'
                b' result="Passed"><properties><property name="test_case" value="KEY"/></properties></test-case>'
                b'<test-case name="b" classname="t" result="Passed"/></test-suite></test-run>'
            )
        ],
        "passed",
        False,
        {"suite_failed"},
    ),
    "a suite of Robot Framework that failed by itself": Case(
        [
            File(
                b"<robot><suite name='s'><test name='a'><tag>KEY</tag><status status='PASS'/></test>"
                b"<status status='FAIL'>no</status></suite></robot>"
            )
        ],
        "passed",
        False,
        {"suite_failed"},
    ),
    "an environment of CTRF that was not healthy": Case(
        [
            File(
                b'{"reportFormat": "CTRF", "results": {"tool": {"name": "x"}, "summary": {}, "environment":'
                b' {"healthy": false}, "tests": [{"name": "[KEY] turns", "status": "passed"}]}}'
            )
        ],
        "passed",
        False,
        {"errors_of_run"},
    ),
    "a package of Go that panics outside of its tests": Case(
        [
            File(
                of_go(
                    {"Package": "ex.com/b", "Action": "fail", "Test": "TestOther"},
                    {"Package": "ex.com/b", "Action": "output", "Output": "panic: no database\n"},
                    {"Package": "ex.com/b", "Action": "fail"},
                )
            )
        ],
        "passed",
        False,
        {"crashed"},
    ),
    "a panic that Go tells as text": Case(
        [File(of_go({"Package": "ex.com/b", "Action": "pass"}) + b"\npanic: no database\nFAIL\n")],
        "passed",
        False,
        {"crashed", "suite_failed"},
    ),
    "tests within a test of pytest": Case(
        [
            File(
                b'<testsuites name="pytest tests"><testsuite name="pytest" tests="4"><testcase classname="t"'
                b' name="test_[KEY]"/></testsuite></testsuites>'
            )
        ],
        "passed",
        True,
    ),
}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
async def test_a_report_is_read_as_its_owner_expects(traced: Traced, case: Case) -> None:
    catalog, sent = traced.results.catalog, {}
    for number, (content, commit, options) in enumerate(case.files):
        of: dict[str, Any] = {"branch": traced.branch, "lane": "ci", "run": f"run {number}", **options}
        of["run"], of["commit"] = f"{traced.branch} {of['run']}", traced.commit(commit)
        is_folder = isinstance(content, dict)
        whole = packed(content, traced.key) if is_folder else content.replace(b"KEY", traced.key.encode())
        sent = ok(await traced.results.post(whole, **of))
        ok(await catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    assert await traced.verdict() == case.verdict
    gate = await traced.gate(commit=traced.commit(case.files[-1].commit))
    assert gate["passed"] == case.is_open, gate["rules"]
    assert case.codes <= {warning["code"] for warning in sent["warnings"]}
    results = (await catalog.read(f"/test-runs/{sent['run']['id']}/results"))["items"]
    iterations = [name for one in results for name in one["iterations"]]
    assert iterations == [one.replace("KEY", traced.key) for one in case.iterations]

"""What `traceline check` says of files: formats, coverage, rules, and everything that closes the gate."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from traceline_check.judging import WrongRule, check, in_form
from traceline_cli.main import main

Files = dict[str, str | bytes]

HEADER = "external_id,title,description,type,priority"
REQUIREMENTS = f"{HEADER}\nREQ-1,Log in,They do.,functional,high\nREQ-2,Log out,They do.,functional,low\n"
TEST_CASES = (
    f"{HEADER},requirements\nTC-1,Logs in,It does.,functional,high,REQ-1\nTC-2,Logs out,It does.,functional,low,REQ-2\n"
)
STRICTDOC = """[DOCUMENT]
TITLE: Doors

[REQUIREMENT]
UID: REQ-1
TITLE: Doors close
STATEMENT: >>>
All doors close.
<<<
"""
FEATURE = "Feature: Doors\n  @REQ-1\n  Scenario: [TC-1] close\n    Given doors\n"
OPENFASTTRACE = "# Doors\n`req~close~1`\n\nThey close.\n\nNeeds: utest\n"
OPENFASTTRACE_TESTS = "# Closing\n`utest~close~1`\n\nIt does.\n\nCovers:\n\n- req~close~1\n"
NEEDS = {
    "current_version": "1",
    "versions": {
        "1": {
            "needs": {
                "REQ-1": {"id": "REQ-1", "type": "req", "title": "Doors close", "content": "They do.", "links": []},
                "TC-1": {"id": "TC-1", "type": "test", "title": "Closes", "content": "It does.", "links": ["REQ-1"]},
            }
        }
    },
}


def junit(*cases: tuple[str, str]) -> str:
    inside = {"passed": "", "failed": '<failure message="no &lt;b&gt;"/>', "skipped": "<skipped/>"}
    listed = "".join(f'<testcase classname="t" name="{name}">{inside[end]}</testcase>' for name, end in cases)
    return f'<testsuites><testsuite name="all">{listed}</testsuite></testsuites>'


BOTH_PASS = junit(("test_TC_1", "passed"), ("test_TC_2", "passed"))


def checked(folder: Path, files: Files, rules: dict[str, str] | None = None, policy: Any = None) -> Any:
    """Return what files in a folder come to."""
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return check([folder], rules or {}, policy)


def closed_by(answer: Any) -> list[str]:
    return [rule["rule"] for rule in answer["rules"] if not rule["passed"]]


def test_tables_and_a_report_have_verdicts(tmp_path: Path) -> None:
    report = junit(("test_TC_1", "passed"), ("test_TC_2", "failed"), ("other", "passed"))
    files: Files = {"requirements.csv": REQUIREMENTS, "tests.csv": TEST_CASES, "report.xml": report}
    answer = checked(tmp_path, files)
    assert {one["external_id"]: one["verdict"] for one in answer["requirements"]} == {
        "REQ-1": "passed",
        "REQ-2": "failed",
    }
    assert closed_by(answer) == ["max_failed"]
    assert answer["coverage"]["sentence"] == (
        "2 requirements, 2 test cases, 2 links: 2 of 2 have a test case, 1 is verified"
    )
    assert answer["untraced"] == ["t.other"]
    assert [(one["name"], one["message"]) for one in answer["failing"]] == [("t.test_TC_2", "no <b>")]


@pytest.mark.parametrize(
    ("files", "requirement"),
    [
        ({"doors.sdoc": STRICTDOC}, "REQ-1"),
        ({"doors.sdoc": STRICTDOC, "features/doors.feature": FEATURE}, "REQ-1"),
        ({"doors.md": OPENFASTTRACE, "tests/doors.md": OPENFASTTRACE_TESTS, "README.md": "# Read me\n"}, "req~close~1"),
        ({"needs.json": json.dumps(NEEDS)}, "REQ-1"),
        (
            {
                "doors.sdoc": STRICTDOC,
                "suite.xml": '<testsuite name="Doors"><testcase internalid="7" name="Close"><summary>x</summary>'
                "<steps><step><step_number>1</step_number><actions>a</actions></step></steps></testcase></testsuite>",
                "reports.md": '# Reports\n\n<testsuites><testsuite name="a"/></testsuites>\n',
            },
            "REQ-1",
        ),
        (
            {
                "req/.doorstop.yml": "settings:\n  digits: 3\n  prefix: REQ\n  sep: '-'\n",
                "req/REQ-001.yml": "active: true\ntext: |\n  Doors close.\n",
            },
            "REQ-001",
        ),
    ],
    ids=["strictdoc", "strictdoc and gherkin", "openfasttrace", "needs", "testlink", "doorstop"],
)
def test_a_record_of_a_tool_is_read_from_its_folder(tmp_path: Path, files: Files, requirement: str) -> None:
    answer = checked(tmp_path, files, {"min_coverage": "0"})
    assert [one["external_id"] for one in answer["requirements"]] == [requirement]
    assert closed_by(answer) == []


def test_links_of_one_file_find_what_another_has(tmp_path: Path) -> None:
    answer = checked(tmp_path, {"a.md": OPENFASTTRACE, "b/c.md": OPENFASTTRACE_TESTS}, {"min_coverage": "100"})
    assert (answer["coverage"]["links"], answer["passed"]) == (1, True)


@pytest.mark.parametrize(
    ("files", "rule", "said"),
    [
        ({"report.xml": "<testsuites><testsuite>"}, "not_read", "report.xml"),
        ({"report.xml": BOTH_PASS, "cut.csv": REQUIREMENTS + 'REQ-3,"open'}, "not_read", "cut.csv"),
        ({"more.csv": REQUIREMENTS}, "record_incomplete", "'REQ-1' is there twice"),
        ({"more.csv": f"{HEADER}\nREQ-3,,They do.,functional,high\n"}, "record_incomplete", "title"),
        ({"more.csv": f"{HEADER},requirements\nTC-3,x,y,functional,low,REQ-9\n"}, "record_incomplete", "REQ-9"),
        (
            {
                "named.xml": '<testsuite><testcase name="a"><properties><property name="test_case" value="TC-9"/>'
                "</properties></testcase></testsuite>"
            },
            "unknown_name",
            "TC-9, which is in no file",
        ),
        ({"empty.xml": junit()}, "require_run", "a file without a result in junit"),
    ],
    ids=["xml", "csv", "twice", "no title", "link without an end", "unknown test case", "no test"],
)
def test_what_is_not_read_or_refers_to_nothing_closes_the_gate(
    tmp_path: Path, files: Files, rule: str, said: str
) -> None:
    good: Files = {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "good.xml": BOTH_PASS}
    assert checked(tmp_path, good)["passed"]
    answer = checked(tmp_path, files)
    assert rule in closed_by(answer)
    assert said in next(one["reason"] for one in answer["rules"] if one["rule"] == rule)


def test_without_a_report_nothing_is_verified(tmp_path: Path) -> None:
    files: Files = {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES}
    assert closed_by(checked(tmp_path, files)) == ["require_run"]
    assert closed_by(checked(tmp_path, files, {"max_failed": "0"})) == ["empty_scope"]
    assert closed_by(checked(tmp_path, {}, {"min_coverage": "100"})) == []


def test_no_requirement_is_no_pass(tmp_path: Path) -> None:
    assert closed_by(checked(tmp_path, {"report.xml": BOTH_PASS})) == ["empty_scope"]


@pytest.mark.parametrize("rule", ["max_missing=0", "max_suspect=0", "max_unsteady=0", "no_new_failures=true"])
def test_what_no_file_tells_is_no_pass(tmp_path: Path, rule: str) -> None:
    name, _, limit = rule.partition("=")
    answer = checked(tmp_path, {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "c.xml": BOTH_PASS}, {name: limit})
    assert closed_by(answer) == [name]
    assert "ask a server" in answer["rules"][0]["reason"]


def test_a_rule_is_about_the_requirements_of_its_filters(tmp_path: Path) -> None:
    report = junit(("test_TC_1", "passed"), ("test_TC_2", "failed"))
    rule: dict[str, Any] = {"rule": "max_failed", "limit": 0}
    files: Files = {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "c.xml": report}
    assert checked(tmp_path, files, policy={"rules": [{**rule, "where": {"priority": "high"}}]})["passed"]
    for where in ({"priority": ["low", "medium"]}, {"priority": "!high"}, {}):
        assert closed_by(checked(tmp_path, files, policy={"rules": [{**rule, "where": where}]})) == ["max_failed"]
    assert closed_by(checked(tmp_path, files, policy={"rules": [{**rule, "where": {"module": "x"}}]})) == [
        "empty_scope"
    ]


@pytest.mark.parametrize(
    ("rules", "policy"),
    [
        ({"max_fail": "0"}, None),
        ({"max_failed": "none"}, None),
        ({"min_verified": "101"}, None),
        ({}, {}),
        ({}, {"rules": []}),
        ({}, {"rules": [{"rule": "max_failed", "limit": 0, "where": {"owner": "me"}}]}),
        ({}, {"rules": [{"rule": "max_failed", "limit": 0, "accepted": "allow"}]}),
    ],
)
def test_a_rule_that_is_none_is_refused(tmp_path: Path, rules: dict[str, str], policy: Any) -> None:
    with pytest.raises(WrongRule):
        checked(tmp_path, {}, rules, policy)


def test_the_same_report_counts_once_and_the_worse_of_two(tmp_path: Path) -> None:
    files: Files = {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "1.xml": BOTH_PASS, "2.xml": BOTH_PASS}
    answer = checked(tmp_path, files)
    assert answer["results"]["results"] == 2
    assert "counts once" in " ".join(one["message"] for one in answer["warnings"])
    answer = checked(tmp_path, {"2.xml": junit(("test_TC_1", "failed"))})
    assert closed_by(answer) == ["max_failed"]


def test_a_native_export_is_read_with_its_links(tmp_path: Path) -> None:
    item = {"description": "They do.", "type": "functional", "priority": "high"}
    lines = [
        {"kind": "requirement", "external_id": "REQ-1", "title": "Doors close", **item},
        {"kind": "test_case", "external_id": "TC-1", "title": "Closes", **item},
        {"kind": "link", "requirement": "REQ-1", "test_case": "TC-1"},
    ]
    answer = checked(
        tmp_path, {"record.ndjson": "".join(json.dumps(line) + "\n" for line in lines)}, {"min_coverage": "100"}
    )
    assert (answer["passed"], answer["coverage"]["links"]) == (True, 1)


def test_a_path_may_lead_out_of_the_folder_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(tmp_path, {"docs/a.md": OPENFASTTRACE, "docs/b/c.md": OPENFASTTRACE_TESTS, "here/x": ""})
    monkeypatch.chdir(tmp_path / "here")
    paths = (Path("../docs"), Path("../docs/a.md"), Path("../here/../docs/b/c.md"), tmp_path / "docs/b")
    for several in (paths[:1], paths[1:3], (paths[1], paths[3])):
        answer = check(several, {"min_coverage": "100"})
        assert (answer["passed"], answer["coverage"]["links"]) == (True, 1)


def test_a_file_that_is_named_has_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of ours")
    (tmp_path / "package.json").write_text("{}")
    assert closed_by(check([tmp_path / "notes.txt"], {"min_coverage": "0"})) == ["not_read", "empty_scope"]
    answer = check([tmp_path], {"min_coverage": "0"})
    assert closed_by(answer) == ["empty_scope"]
    assert "2 files in the folders are of no format that is read" in answer["warnings"][-1]["message"]


def test_an_archive_of_a_tree_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tree.zip", "w") as archive:
        archive.writestr("doors.sdoc", STRICTDOC)
        archive.writestr("more.sdoc", STRICTDOC.replace("REQ-1", "REQ-2"))
    assert len(check([tmp_path / "tree.zip"], {})["requirements"]) == 2


def test_the_command_ends_as_the_gate_does(tmp_path: Path) -> None:
    checked(tmp_path, {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "c.xml": BOTH_PASS})
    run = CliRunner().invoke
    passed = run(main, ["check", str(tmp_path)])
    assert (passed.exit_code, passed.output.splitlines()[0]) == (0, "passed on these files")
    (tmp_path / "c.xml").write_text(junit(("test_TC_1", "failed")))
    failed = run(main, ["check", str(tmp_path), "--json"])
    assert (failed.exit_code, json.loads(failed.output)["passed"]) == (1, False)
    junit_file = tmp_path / "gate-of-the-check.out"
    assert run(main, ["check", str(tmp_path), "--format", "junit", "-o", str(junit_file)]).exit_code == 1
    assert b'failures="1"' in junit_file.read_bytes()
    assert run(main, ["check", str(tmp_path / "none")]).exit_code == 2
    assert run(main, ["check", str(tmp_path), "--rule", "max_fail=0"]).exit_code == 2
    assert run(main, ["check", str(tmp_path), "--policy", "release"]).exit_code == 2


def test_markdown_says_the_gaps_and_does_nothing_else(tmp_path: Path) -> None:
    hostile = REQUIREMENTS.replace("Log out", "<b>@here</b> [x](http://x)")
    answer = checked(tmp_path, {"a.csv": hostile, "c.xml": junit(("a", "passed"))})
    text = in_form(answer, "markdown").decode()
    assert "2 requirements, 0 test cases, 0 links" in text
    assert "REQ-1" in text
    assert "<b>" not in text


def test_a_link_of_two_types_is_no_link(tmp_path: Path) -> None:
    link = {"kind": "link", "requirement": "REQ-1", "test_case": "TC-1", "link_type": "related"}
    files: Files = {"a.csv": REQUIREMENTS, "b.csv": TEST_CASES, "c.xml": BOTH_PASS, "d.ndjson": json.dumps(link) + "\n"}
    answer = checked(tmp_path, files)
    assert closed_by(answer) == ["record_incomplete"]
    assert "'REQ-1' with 'TC-1' is there twice" in answer["rules"][0]["reason"]

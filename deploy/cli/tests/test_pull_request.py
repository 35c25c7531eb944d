"""What is written of a change, and which change it is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from traceline_cli.pull_request.change import Change, Host, find_change
from traceline_cli.pull_request.findings import Altered, Failing, Findings
from traceline_cli.pull_request.markdown import MOST, describe, write
from traceline_cli.pull_request.places import find_place
from traceline_cli.pull_request.texts import Secrets

PAGE = "https://traceline.example.com/p/MAIN"
SHA = "8f14d3b710ccac3d65234f8d69cd4586a017a156"
CHANGE = Change(
    host=Host.GITHUB, page="https://github.com/acme/doors", head=SHA, build_url="https://github.com/acme/doors/runs/7"
)
PARSER = MarkdownIt("commonmark").enable("table")
ATTACKS = [
    "@alice please look, @acme/owners",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "<!-- traceline pr MAIN -->",
    "[Sign in](https://evil.example) ![](https://evil.example/a.png)",
    "see https://evil.example/ and www.evil.example or mail@evil.example",
    "```\n</details>\n# The gate passes\n@alice",
    "````\n@alice\n`````\n[x](https://evil.example)",
    "`` @alice ` [x](https://evil.example) ``",
    "| a | b |\n|---|---|\n| @alice | x |",
    "fixes #1, closes GH-2, acme/doors!3, ~label %milestone $9 &epic",
    "\r\n/close\r\n/merge\r\n/assign @alice",
    "1. one\n- two\n> three\n# four\n***\n===",
    "\\`@alice\\` \\[x](https://evil.example)",
    "[x]: https://evil.example\n[x]",
    "\u202egnissap si etag\u202c \x1b[2J \x00 \u200b@alice",
    "&#64;alice &lt;b&gt; :tada: $`x`$",
    "|" * 50,
    "`" * 4000,
]


def findings(text: str, **more: Any) -> Findings:
    """Return findings in which every text of strangers is this one."""
    rule = {
        "rule": "max_failed",
        "limit": 0,
        "actual": 1,
        "passed": False,
        "reason": text,
        "items": [{"reason": text}] * 3,
        "total": 30,
    }
    gate = {
        "passed": False,
        "branch": text,
        "commit": text,
        "environment": text,
        "rules": [rule, {**rule, "rule": "require_run", "limit": True, "actual": 1}],
        "runs": [],
        "warnings": [{"code": "lane_missing", "message": text}],
        "accepted": {"total": 1, "items": [{"reason": text}]},
        "older": {"total": 0, "items": []},
    }
    failing = Failing(text, text, (text, 7), [text], text, text, "11111111-1111-1111-1111-111111111111")
    altered = Altered("22222222-2222-2222-2222-222222222222", text, text, "passed", "failed")
    item = {"kind": "requirements", "id": "3", "external_id": text, "title": text}
    found = Findings(gate, [{"id": "1", "key": text, "status": "running"}], [failing] * 30, 40, text, compared=True)
    found.before, found.after = {"passed": 2}, {"passed": 1, "failed": 1}
    found.requirements = found.test_cases = [altered]
    found.named = found.revised = [item]
    for name, value in more.items():
        setattr(found, name, value)
    return found


def tokens(markdown: str) -> list[Token]:
    """Return all that a reader of Markdown finds."""
    blocks = PARSER.parse(markdown)
    return [*blocks, *(child for block in blocks for child in block.children or ())]


READ_LATER = re.compile(r"@\w|https?://|www\.|(?<!\w)#\w|GH-\d|!\d|~\w|%\w|\$\w|&\w")
"""What hosts make links and mentions of in text that is no code."""
OURS = ("https://traceline.example.com/p/MAIN", "https://github.com/acme/doors/")


def check_that_it_does_nothing(markdown: str) -> None:
    for token in tokens(markdown):
        assert token.type not in {"html_block", "html_inline", "image"}, token.content
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith(OURS)
        if token.type == "text":
            assert not READ_LATER.search(token.content), token.content
        if token.type == "heading_open":
            assert token.tag in {"h2", "h3"}
    headings = [line for line in markdown.splitlines() if line.startswith("## ")]
    assert headings == ["## ❌ The gate does not pass"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_of_strangers_is_shown_and_does_nothing(attack: str) -> None:
    check_that_it_does_nothing(write(findings(attack), CHANGE, PAGE))


@given(
    st.text(st.sampled_from("`@#<>[]()!|\\*_~&$:/\n\r -+=.1aw\u200b\u202e\x1b\ud800"), max_size=60)
    | st.text(max_size=40)
)
def test_no_text_becomes_markdown(text: str) -> None:
    check_that_it_does_nothing(write(findings(text), CHANGE, PAGE))


def test_letters_that_nobody_sees_or_that_turn_others_round_are_replaced() -> None:
    assert not re.search("[\u200b\u202e\x1b\x00]", write(findings(ATTACKS[14]), CHANGE, PAGE))


@pytest.mark.parametrize("letter", ["a", "`", "ü", "|", "\n", "😀"])
def test_names_that_are_longer_than_all_leave_room_for_the_rest(letter: str) -> None:
    written = write(findings(letter * 2 * MOST), CHANGE, PAGE)
    assert len(written.encode()) <= MOST
    assert "### Gate" in written
    check_that_it_does_nothing(written)


def test_what_does_not_fit_is_left_out_whole_and_told() -> None:
    failing = [
        Failing(f"doors.close[{number}]", "💥" * 1500, None, [], None, None, str(number)) for number in range(100)
    ]
    written = write(findings("x", failing=failing, failing_total=100), CHANGE, PAGE)
    assert len(written.encode()) <= MOST
    assert written.count("doors.close") == 50
    assert "And 50 more." in written
    assert written.count("```") % 2 == 0


def test_first_comes_what_needs_a_person() -> None:
    found = findings("x")
    found.gate["rules"][0]["passed"] = True
    written = write(found, CHANGE, PAGE)
    places = [
        written.index(part) for part in ("does not pass", "40 tests fail", "### Gate", "require_run", "max_failed")
    ]
    assert places == sorted(places)
    assert "| ❌ | require_run | required | no |" in written
    assert written.index("### Requirements before and after") < written.index("### What this change touches")


def test_a_failing_test_has_its_message_and_its_place() -> None:
    failing = Failing("doors.close", "expected 2\nfound 3", ("tests/test_doors.py", 12), ["TC-1"], "linux", "unit", "9")
    written = write(findings("x", failing=[failing], failing_total=1), CHANGE, PAGE)
    place = f"[`tests/test_doors.py:12`](<https://github.com/acme/doors/blob/{SHA}/tests/test_doors.py#L12>)"
    assert "### 1 test fails" in written
    assert f"**`doors.close`** (`TC-1`) · {place} · `unit` · `linux` · [run](<{PAGE}/results/9>)" in written
    assert "```text\nexpected 2\nfound 3\n```" in written


@pytest.mark.parametrize("file", ["/etc/passwd", "../x.py", "a/../../x.py", "C:\\x.py", "https://evil.example/x.py"])
def test_a_place_outside_of_the_checkout_is_no_link(file: str) -> None:
    failing = Failing("t", "m", (file, 1), [], None, None, "9")
    assert "blob" not in write(findings("x", failing=[failing], failing_total=1), CHANGE, PAGE)


def test_a_status_says_in_our_own_words_why() -> None:
    assert describe(findings(ATTACKS[0]).gate) == "Not passed: max_failed, require_run."
    assert describe({"passed": True, "rules": [{"rule": "max_failed", "passed": True}]}) == "The one rule holds."


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        ("E  assert 1 == 2\n\ntests/test_a.py:12: AssertionError", ("tests/test_a.py", 12)),
        ('Traceback:\n  File "a.py", line 3, in x\n  File "/usr/lib/python3.11/unittest/case.py", line 9', ("a.py", 3)),
        (
            "Error: x\n    at Object.<anonymous> (/ci/doors.test.js:10:5)\n    at node:internal/x:1:2",
            ("/ci/doors.test.js", 10),
        ),
        ("Error\n    at node_modules/vitest/a.js:1:1\n    at src/doors.test.ts:4:9", ("src/doors.test.ts", 4)),
        ("  at Doors.Test() in /src/Doors.cs:line 12", ("/src/Doors.cs", 12)),
        (
            "AssertionError\n\tat org.junit.Assert.fail(Assert.java:86)\n\tat acme.DoorsTest.open(DoorsTest.java:14)",
            ("DoorsTest.java", 14),
        ),
        ("    doors_test.go:17: expected 2", ("doors_test.go", 17)),
        ("at 12:30:40 nothing", None),
        ("", None),
    ],
)
def test_a_place_is_read_from_the_trace_of_a_runner(trace: str, place: tuple[str, int] | None) -> None:
    assert find_place(trace) == place


def test_secrets_of_the_pipeline_are_hidden() -> None:
    token = "ghp_" + "a1" * 18
    secrets = Secrets(
        {"TRACELINE_TOKEN": "s3cr3t-value", "DB_PASSWORD": "correct horse", "HOME": "/home/runner", "MY_TOKEN": "x"}
    )
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
    said = f"auth s3cr3t-value, correct horse, {token}, /home/runner\n{key}"
    assert secrets.hide(said) == "auth ***, ***, ***, /home/runner\n***"


def github(tmp_path: Path, event: Any, **more: str) -> Change:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    of = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/doors", "GITHUB_SERVER_URL": "https://github.com"}
    of |= {"GITHUB_API_URL": "https://api.example.com", "GITHUB_SHA": "merge", "GITHUB_REF_NAME": "7/merge"}
    return find_change({**of, "GITHUB_RUN_ID": "1", "GITHUB_EVENT_PATH": str(file), **more})


def pull(owner: str = "acme/doors") -> dict[str, Any]:
    head = {"sha": "head", "ref": "fix", "repo": {"full_name": owner}}
    return {"pull_request": {"number": 7, "title": "REQ-1", "head": head, "base": {"ref": "main", "sha": "base"}}}


def test_of_a_pull_request_results_are_of_the_merge_and_the_status_of_the_head(tmp_path: Path) -> None:
    found = github(tmp_path, pull(), GITHUB_HEAD_REF="fix")
    assert (found.number, found.branch, found.commits) == (7, "fix", ("merge", "head"))
    assert (found.head, found.reported, found.base, found.title) == ("head", "head", "base", "REQ-1")
    assert (found.is_fork, found.build_url) == (False, "https://github.com/acme/doors/actions/runs/1")


def test_of_a_fork_the_branch_has_its_name(tmp_path: Path) -> None:
    found = github(tmp_path, pull("mallory/doors"), GITHUB_HEAD_REF="main")
    assert (found.branch, found.is_fork) == ("mallory/doors:main", True)
    targeted = github(tmp_path, pull("mallory/doors"), GITHUB_HEAD_REF="main", GITHUB_EVENT_NAME="pull_request_target")
    assert targeted.commits == ("head",)


def test_a_second_workflow_is_about_the_first(tmp_path: Path) -> None:
    first = {
        "head_sha": "head",
        "head_branch": "main",
        "head_repository": {"full_name": "mallory/doors"},
        "html_url": "https://github.com/acme/doors/actions/runs/9",
        "pull_requests": [],
    }
    found = github(tmp_path, {"workflow_run": first}, GITHUB_REF_NAME="main")
    assert (found.branch, found.commits, found.reported) == ("mallory/doors:main", ("head",), "head")
    assert (found.number, found.source, found.is_fork) == (None, "mallory:main", True)
    assert found.build_url == "https://github.com/acme/doors/actions/runs/9"
    own = {**first, "head_repository": {"full_name": "acme/doors"}, "pull_requests": [{"number": 3}]}
    assert (github(tmp_path, {"workflow_run": own}).branch, github(tmp_path, {"workflow_run": own}).number) == (
        "main",
        3,
    )


@pytest.mark.parametrize("event", [[], {}, {"pull_request": 7}, {"workflow_run": {"pull_requests": [7]}}, "x"])
def test_an_event_that_is_odd_says_nothing(tmp_path: Path, event: Any) -> None:
    assert github(tmp_path, event).number is None


def test_gitea_is_told_as_github_is(tmp_path: Path) -> None:
    assert github(tmp_path, pull(), GITEA_ACTIONS="true").host is Host.GITEA


def test_of_a_merge_request_the_status_is_of_the_pipeline_s_commit() -> None:
    of = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "4", "CI_COMMIT_SHA": "merged", "CI_PIPELINE_ID": "44"}
    of |= {"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "head", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix"}
    of |= {
        "CI_PROJECT_ID": "9",
        "CI_MERGE_REQUEST_PROJECT_ID": "7",
        "CI_API_V4_URL": "https://gitlab.example.com/api/v4",
    }
    of |= {"CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "mallory/doors", "CI_MERGE_REQUEST_PROJECT_PATH": "acme/doors"}
    found = find_change(of)
    assert (found.host, found.number, found.commits) == (Host.GITLAB, 4, ("merged", "head"))
    assert (found.repository, found.status_repository, found.reported) == ("7", "9", "merged")
    assert (found.branch, found.is_fork, found.pipeline) == ("mallory/doors:fix", True, "44")


def test_elsewhere_there_is_a_branch_and_a_commit_alone() -> None:
    found = find_change({"BUILDKITE": "true", "BUILDKITE_BRANCH": "fix", "BUILDKITE_COMMIT": "abc"})
    assert (found.host, found.branch, found.commits, found.number) == (None, "fix", ("abc",), None)

"""`traceline pr` against a running Traceline and a host that takes the requests of its published document alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from acceptance.callers import in_one_process
from acceptance.client import Traceline, created, ok
from acceptance.waiting import eventually
from testing import commands
from testing.code_hosts import Answer, CodeHost, GitHub, GitLab

pytestmark = in_one_process

Run = Callable[..., subprocess.CompletedProcess[str]]
_CI = Path(__file__).resolve().parents[2] / "deploy" / "ci"
_TRACE = (
    "    def test_close():\n>       assert doors == 2\nE       assert 3 == 2\n\ntests/test_doors.py:12: AssertionError"
)


@pytest.fixture
def run(admin: Traceline, base_url: str, tmp_path: Path) -> Run:
    """Runs the command as a job of CI with a token that may send results and read."""
    made = created(admin.post("/auth/tokens", json={"name": "pipeline", "scopes": ["read", "results"]}))
    program = admin.with_token(made["token"])
    eventually(lambda: program.get("/requirements").status_code, "the gateway to know the token", equals=200)
    others = ("GIT_", "GITHUB_", "GITLAB_", "CI")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    ours |= {"TRACELINE_URL": base_url, "TRACELINE_TOKEN": made["token"], "XDG_CONFIG_HOME": str(tmp_path)}
    program_file = tmp_path / "bin" / "traceline"
    program_file.parent.mkdir()
    program_file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m traceline_cli.main "$@"\n')
    program_file.chmod(0o755)
    ours["PATH"] = os.pathsep.join([str(program_file.parent), ours["PATH"]])

    def run(*words: str, script: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        if script is None:
            return subprocess.CompletedProcess(
                words, *commands.run("traceline_cli.main", words, ours | variables, inside=tmp_path)
            )
        command = ["/bin/bash", "-eo", "pipefail", "-c", script]
        settings = {"cwd": tmp_path, "env": ours | variables}
        return subprocess.run(command, **settings, capture_output=True, text=True, check=False, timeout=600)

    return run


class Record:
    """Three requirements, each with a test case that a test is of."""

    def __init__(self, admin: Traceline, folder: Path) -> None:
        self._folder = folder
        self.name = f"PR{uuid4().hex[:8]}".upper()
        self.merge, self.head = (f"{uuid4().hex}{part:08}" for part in (1, 2))
        self.pipeline = int(self.name[2:], 16)
        self.requirements, self.test_cases = [], []
        for number in (1, 2, 3):
            requirement = admin.create_requirement(external_id=f"{self.name}-R-{number}", title=f"Doors {number}")
            test_case = admin.create_test_case(external_id=f"{self.name}-T-{number}", title=f"Close {number}")
            admin.create_link(requirement["id"], test_case["id"])
            self.requirements.append(requirement["external_id"])
            self.test_cases.append(test_case["external_id"])

    def report(self, *statuses: str, message: str = "assert 3 == 2", trace: str = _TRACE) -> None:
        """Write report.xml; a test without a status is not in it."""
        failure = f"<failure message={json.dumps(message)}><![CDATA[{trace}]]></failure>"
        cases = "".join(
            f'<testcase classname="doors.{self.name}" name="close {case}">'
            f'<properties><property name="test_key" value="{case}"/></properties>'
            f"{failure if status == 'failed' else ''}</testcase>"
            for case, status in zip(self.test_cases, statuses, strict=False)
        )
        (self._folder / "report.xml").write_text(f'<testsuite name="doors">{cases}</testsuite>')


@pytest.fixture
def record(admin: Traceline, run: Run, tmp_path: Path) -> Record:
    """A record whose first two tests have passed on the default branch."""
    record = Record(admin, tmp_path)
    record.report("passed", "passed")
    sent = run("results", "report.xml", "--complete", "--lane", record.name, "--commit", uuid4().hex)
    assert sent.returncode == 0, sent.stderr
    return record


@pytest.fixture
def on_github() -> Iterator[GitHub]:
    with GitHub() as host:
        yield host
        assert host.wrong == []


@pytest.fixture
def on_gitlab() -> Iterator[GitLab]:
    with GitLab() as host:
        yield host
        assert host.wrong == []


def of_github(host: CodeHost, folder: Path, record: Record, *, owner: str = "acme/doors") -> dict[str, str]:
    """Return the variables of a job of a pull request."""
    head = {"sha": record.head, "ref": "fix", "repo": {"full_name": owner}}
    event = {"pull_request": {"number": 7, "title": record.requirements[2], "head": head, "base": {"sha": record.head}}}
    (folder / "event.json").write_text(json.dumps(event))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": host.url,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_HEAD_REF": f"fix-{record.name}",
        "GITHUB_JOB": "unit",
        "GITHUB_REF_NAME": "7/merge",
        "GITHUB_REPOSITORY": "acme/doors",
        "GITHUB_RUN_ID": record.name,
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_SHA": record.merge,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_TOKEN": "ghs_token-of-the-job",
        "GITHUB_WORKFLOW": record.name,
    }


def of_gitlab(host: CodeHost, record: Record) -> dict[str, str]:
    """Return the variables of a job of a merge request."""
    return {
        "CI": "true",
        "CI_API_V4_URL": host.url,
        "CI_COMMIT_SHA": record.merge,
        "CI_JOB_NAME": record.name,
        "CI_JOB_TOKEN": "of-the-job",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_ID": "3",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": f"fix-{record.name}",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": record.head,
        "CI_PIPELINE_ID": str(record.pipeline),
        "CI_PIPELINE_URL": "https://gitlab.example.com/acme/doors/-/pipelines",
        "CI_PROJECT_ID": "3",
        "CI_PROJECT_PATH": "acme/doors",
        "CI_PROJECT_URL": "https://gitlab.example.com/acme/doors",
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": "glpat-of-the-project",
    }


GATE = ("--rule", "require_run=true", "--rule", "max_failed=0")


def test_a_pull_request_is_told_what_fails_and_what_it_changes(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path
) -> None:
    variables = of_github(on_github, tmp_path, record)
    record.report("passed", "failed", "passed")
    assert run("results", "report.xml", "--complete", **variables).returncode == 0
    told = run("pr", "--comment", "--status", "--summary", *GATE, **variables)
    assert told.returncode == 1, told.stderr
    (comment,) = on_github.comments
    assert comment["body"] == f"<!-- traceline pr MAIN -->\n{told.stdout}"
    assert (tmp_path / "summary.md").read_text() == told.stdout
    (status,) = on_github.statuses
    assert (status["sha"], status["state"], status["context"]) == (record.head, "failure", "traceline/gate")
    assert status["description"] == "Not passed: max_failed."
    said = told.stdout
    assert said.startswith("## ❌ The gate does not pass")
    assert "### 1 test fails" in said
    assert f"**`doors.{record.name}.close {record.test_cases[1]}`** (`{record.test_cases[1]}`)" in said
    assert (
        f"[`tests/test_doors.py:12`](<https://github.com/acme/doors/blob/{record.head}/tests/test_doors.py#L12>)"
        in said
    )
    assert "```text\nassert 3 == 2\n```" in said
    for names in (record.requirements, record.test_cases):
        assert re.search(rf"`{names[1]}`.*\| passed \| 🔺 failed \|", said)
        assert re.search(rf"`{names[2]}`.*\| stale \| passed \|", said)
        assert not re.search(rf"`{names[0]}`.*\| passed \|", said)
    assert re.search(
        rf"Named by the branch, the title or a commit:\n\n- requirement \[`{record.requirements[2]}`\]", said
    )

    record.report("passed", "passed", "passed")
    assert run("results", "report.xml", "--complete", "--attempt", "2", **variables).returncode == 0
    again = run("pr", "--comment", "--status", *GATE, **{**variables, "GITHUB_SHA": "f" * 40})
    assert again.returncode == 1, again.stdout
    assert "No run of this commit has come" in again.stdout
    assert len(on_github.comments) == 1
    assert on_github.comments[0]["body"].endswith(again.stdout)


def test_a_merge_request_is_told_too(run: Run, record: Record, on_gitlab: GitLab) -> None:
    variables = of_gitlab(on_gitlab, record)
    record.report("passed", "passed", "passed")
    assert run("results", "report.xml", "--complete", **variables).returncode == 0
    told = run("pr", "--comment", "--status", *GATE, **variables)
    assert told.returncode == 0, told.stdout
    assert told.stdout.startswith("## ✅ The gate passes")
    assert [one["body"] for one in on_gitlab.comments] == [f"<!-- traceline pr MAIN -->\n{told.stdout}"]
    (status,) = on_gitlab.statuses
    assert (status["sha"], status["state"], status["pipeline_id"]) == (record.merge, "success", record.pipeline)
    without = run("pr", "--comment", *GATE, **{**variables, "GITLAB_TOKEN": ""})
    assert without.returncode == 3
    assert "GitLab's job token may write neither notes nor statuses" in without.stderr


def test_nothing_that_a_fork_reports_is_more_than_text_nor_a_secret(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path
) -> None:
    variables = of_github(on_github, tmp_path, record, owner="mallory/doors")
    token = variables["GITHUB_TOKEN"]
    attack = f"@acme/owners &lt;img src=x onerror=alert(1)&gt; [x](https://evil.example) {token}"
    record.report("failed", message=attack, trace="````\n@alice\n</details><script>")
    assert run("results", "report.xml", "--complete", **variables).returncode == 0
    told = run("pr", *GATE, **variables)
    assert told.returncode == 1, told.stderr
    assert "Branch `mallory/doors:fix-" in told.stdout
    assert token not in told.stdout
    fences = re.findall(r"```text\n(.*?)\n```", told.stdout, re.DOTALL)
    assert any("@acme/owners" in block and "***" in block for block in fences)
    assert "@acme" not in re.sub(r"```text\n.*?\n```", "", told.stdout, flags=re.DOTALL)
    without = run("pr", "--comment", *GATE, **{**variables, "GITHUB_TOKEN": ""})
    assert (without.returncode, "the form in two steps" in without.stderr) == (3, True)
    stranger = run("pr", *GATE, **variables, TRACELINE_TOKEN="", TRACELINE_URL="http://127.0.0.1:9")
    assert (stranger.returncode, "A pull request of a fork has no secrets" in stranger.stderr) == (3, True)


def test_a_second_workflow_finds_the_pull_request_of_a_fork(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path
) -> None:
    variables = of_github(on_github, tmp_path, record)
    first = {"head_sha": record.head, "head_branch": "fix", "head_repository": {"full_name": "mallory/doors"}}
    (tmp_path / "event.json").write_text(json.dumps({"workflow_run": {**first, "pull_requests": []}}))
    variables |= {"GITHUB_HEAD_REF": "", "GITHUB_REF_NAME": "main"}
    on_github.pulls = [{"owner": "mallory", "branch": "fix", "number": 9, "sha": record.head}]
    record.report("passed", "passed")
    of_fork = ("--branch", "mallory/doors:fix", "--commit", record.head, "--run", record.name)
    assert run("results", "report.xml", "--complete", *of_fork, **variables).returncode == 0
    told = run("pr", "--comment", "--status", *GATE, **variables)
    assert told.returncode == 0, told.stderr
    assert "Comment of 9: written." in told.stderr
    assert on_github.statuses[0]["sha"] == record.head


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Answer(403, {"message": "Resource not accessible by integration"}), 3, "permissions: {pull-requests: write}"),
        (Answer(404, {"message": "Not Found"}), 4, "or the token may not see it"),
        (Answer(422, {"message": "Validation Failed"}), 4, "GitHub says: Validation Failed"),
        (Answer(500, "<h1>Unicorn</h1>"), 3, "GitHub answers 500"),
    ],
)
def test_what_the_host_refuses_hides_nothing(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path, answer: Answer, code: int, said: str
) -> None:
    variables = of_github(on_github, tmp_path, record)
    record.report("passed", "passed")
    assert run("results", "report.xml", "--complete", **variables).returncode == 0
    on_github.instead = lambda asked: answer if asked.method == "POST" and asked.path.endswith("comments") else None
    told = run("pr", "--comment", "--status", *GATE, **variables)
    assert told.returncode == code, told.stderr
    assert said in told.stderr
    assert told.stdout.startswith("## ✅ The gate passes")
    assert len(on_github.statuses) == 1


def test_a_server_that_answers_nothing_ends_it_in_time(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path
) -> None:
    on_github.silent = True
    variables = of_github(on_github, tmp_path, record)
    late = run("pr", "--status", "--timeout", "3", *GATE, **variables)
    assert (late.returncode, "has not answered within 3 s" in late.stderr) == (5, True), late.stderr
    away = run("pr", "--timeout", "2", *GATE, **variables, TRACELINE_URL=on_github.url)
    assert (away.returncode, "has not answered within 2 s" in away.stderr) == (5, True), away.stderr


def test_elsewhere_it_prints_markdown_and_says_what_it_cannot_do(run: Run, record: Record) -> None:
    of = {"BUILDKITE": "true", "BUILDKITE_BRANCH": record.name, "BUILDKITE_COMMIT": uuid4().hex}
    record.report("passed", "passed", "passed")
    assert run("results", "report.xml", "--complete", **of).returncode == 0
    told = run("pr", *GATE, "-o", "pr.md", **of)
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    refused = run("pr", "--comment", **of)
    assert (refused.returncode, "Elsewhere leave them out" in refused.stderr) == (2, True)
    as_json = json.loads(run("pr", *GATE, "--json", **of).stdout)
    assert (as_json["passed"], as_json["markdown"].startswith("## ✅")) == (True, True)


def test_what_commits_name_and_what_changed_in_the_record_since_is_told(
    run: Run, record: Record, admin: Traceline, tmp_path: Path
) -> None:
    def git(*words: str, **variables: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**ours, **variables}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    git(
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        f"before: {record.requirements[1]}",
        # So late that what other tests have changed in the record came before.
        GIT_COMMITTER_DATE=f"{datetime.now(UTC) - timedelta(seconds=1):%Y-%m-%dT%H:%M:%S+00:00}",
    )
    (revised_case,) = ok(admin.get("/test-cases", params={"external_id": record.test_cases[2]}))["items"]
    ok(admin.patch(f"/test-cases/{revised_case['id']}", json={"title": "Another title since"}))
    base = git("rev-parse", "HEAD").strip()
    git("commit", "-q", "--allow-empty", "-m", f"doors: close, for {record.requirements[0].lower()} (@alice)")
    head = git("rev-parse", "HEAD").strip()
    pull = {"number": 7, "title": "Doors", "head": {"sha": head, "ref": "fix"}, "base": {"sha": base}}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": pull}))
    of = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_HEAD_REF": record.name,
        "GITHUB_SHA": head,
        "GITHUB_REPOSITORY": "acme/doors",
    }
    told = run("pr", *GATE, **of, GITHUB_EVENT_PATH=str(tmp_path / "event.json"))
    assert told.returncode == 1, told.stderr
    named, revised = told.stdout.split("Changed in the record since this change began:")
    named = named.split("Named by the branch, the title or a commit:")[1]
    assert (record.requirements[0] in named, record.requirements[1] in named) == (True, False)
    assert record.test_cases[2] in revised
    assert "alice" not in told.stdout


def test_the_action_of_github_sends_results_and_tells_the_pull_request(
    run: Run, record: Record, on_github: GitHub, tmp_path: Path
) -> None:
    action = yaml.safe_load((_CI / "github" / "action.yml").read_text())
    *_, step = action["runs"]["steps"]
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()}
    inputs |= {"files": "none-*.xml\nreport.xml\n", "rules": "require_run=true\nmax_failed=0\n", "lane": record.name}
    of_step = {
        name: inputs[str(value).removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
        if name not in {"TRACELINE_URL", "TRACELINE_TOKEN", "GITHUB_TOKEN", "TRACELINE_MATRIX"}
    }
    assert step["env"]["TRACELINE_MATRIX"] == "${{ toJSON(matrix) }}"
    of_step["TRACELINE_MATRIX"] = '{"os": "linux", "python": 3.13}'
    variables = of_github(on_github, tmp_path, record)
    record.report("passed", "failed")
    lost = run(script=step["run"], **variables, **of_step)
    assert lost.returncode == 2, lost.stderr
    assert "There is no file none-*.xml" in lost.stderr
    failed = run(script=step["run"], **variables, **{**of_step, "FILES": "report.xml"})
    assert failed.returncode == 1, failed.stderr
    assert "### 1 test fails" in on_github.comments[0]["body"]
    assert on_github.statuses[-1]["state"] == "failure"
    record.report("passed", "passed")
    again = {**of_step, "FILES": "report.xml", "COMMENT": "false", "STATUS": "false", "FAIL": "false"}
    done = run(script=step["run"], **{**variables, "GITHUB_RUN_ATTEMPT": "2"}, **again)
    assert done.returncode == 0, done.stderr
    assert len(on_github.comments) == 1


def test_the_component_of_gitlab_sends_results_and_tells_the_merge_request(
    run: Run, record: Record, on_gitlab: GitLab, tmp_path: Path
) -> None:
    spec, made = yaml.safe_load_all((_CI / "gitlab" / "templates" / "traceline.yml").read_text())
    inputs = {name: about.get("default", "") for name, about in spec["spec"]["inputs"].items()}
    inputs |= {"files": "*.xml none.txt", "rules": "require_run=true max_failed=0"}
    variables = of_gitlab(on_gitlab, record)
    record.report("passed", "failed")
    (tmp_path / "none.txt").write_text("1..0\n")
    results, told = made[".traceline-results"], made["traceline"]
    of_jobs = {
        name: inputs[value.removeprefix("$[[ inputs.").removesuffix(" ]]")]
        for one in (results, told)
        for name, value in one["variables"].items()
    }
    del of_jobs["TRACELINE_URL"]
    sent = run(script="\n".join(results["after_script"]), **variables, **of_jobs)
    assert "report.xml: 2 tests: 1 passed, 1 failed; each of them has a test case" in sent.stdout, sent.stderr
    failed = run(script="\n".join(told["script"]), **variables, **of_jobs)
    assert failed.returncode == 1, failed.stderr
    assert on_gitlab.statuses[0]["description"] == "Not passed: max_failed, require_run."
    assert (tmp_path / "traceline.md").read_text() in on_gitlab.comments[0]["body"]


def test_the_stage_of_jenkins_sends_results_and_says_what_they_say(run: Run, record: Record, tmp_path: Path) -> None:
    stage = (_CI / "jenkins" / "Jenkinsfile").read_text().partition("stage('Traceline')")[2].partition("post {")[0]
    of = {"JENKINS_URL": "https://ci.example.com/", "JOB_NAME": record.name, "BUILD_NUMBER": "5"}
    of |= {"BRANCH_NAME": record.name, "GIT_COMMIT": record.merge}
    record.report("passed", "passed")
    commands = re.findall(r"sh '([^']+)'", stage)
    assert len(commands) == 3
    for command in commands:
        done = run(script=command, **of)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "traceline.md").read_text().startswith("## ✅ The gate passes")
    assert (tmp_path / "gate.xml").read_text().startswith("<?xml")

"""The command line against a running Traceline: what a person and a pipeline do with it."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pyotp
import pytest

from acceptance.callers import in_one_process
from acceptance.client import PASSWORD, Traceline, created, ok
from acceptance.waiting import eventually
from testing import commands

pytestmark = in_one_process

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(admin: Traceline, base_url: str, tmp_path: Path) -> Run:
    """Runs the command as a pipeline with an API token, in a folder of its own."""
    made = created(admin.post("/auth/tokens", json={"name": "pipeline", "scopes": ["write", "results"]}))
    program = admin.with_token(made["token"])
    eventually(lambda: program.get("/requirements").status_code, "the gateway to know the token", equals=200)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GITLAB_", "CI"))}
    ours |= {"TRACELINE_URL": base_url, "TRACELINE_TOKEN": made["token"], "XDG_CONFIG_HOME": str(tmp_path)}
    if admin.project is not None:
        ours["TRACELINE_PROJECT"] = admin.project

    def run(*words: str, typed: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        ended = commands.run("traceline_cli.main", words, ours | variables, inside=tmp_path, typed=typed)
        return subprocess.CompletedProcess(words, *ended)

    return run


def test_a_file_is_planned_applied_and_exported_whole(run: Run, tmp_path: Path) -> None:
    key = f"CLI-{uuid4().hex[:8]}"
    (tmp_path / "doors.csv").write_text(
        f"Key,Summary,Description\n{key},Doors close,All doors close.\n,,\n{key},Twice,x\n"
    )
    checked = run("import", "doors.csv", "--kind", "requirements", "--check")
    assert checked.returncode == 1, checked.stderr
    assert checked.stderr.startswith("doors.csv:4"), checked.stderr
    unapplied = run("import", "doors.csv", "--kind", "requirements", "--apply", "--json")
    assert (unapplied.returncode, json.loads(unapplied.stdout)["status"]) == (4, "planned")
    (tmp_path / "parents.csv").write_text(f"Key,Summary,Parent\n{key},Doors,\n{key}-2,Close,{key}\n")
    related = run("import", "parents.csv", "--check")
    assert (related.returncode, related.stderr.count("parents.csv: 1 relation between requirements is kept")) == (1, 1)
    assert "2 items are compared with the other side once applied" in related.stdout
    (tmp_path / "old.reqif").write_text("<REQ-IF/>")
    assert run("import", "old.reqif").stderr.startswith("Error: old.reqif:1:1: This file names no namespace")
    (tmp_path / "doors.csv").write_text(f"Key,Summary,Description\n{key},Doors close,All doors close.\n")
    applied = run("import", "doors.csv", "--kind", "requirements", "--apply", "--json")
    assert applied.returncode == 0, applied.stderr
    assert json.loads(applied.stdout)["status"] == "applied"
    exported = run("export", "-o", "all.ndjson")
    assert exported.returncode == 0, exported.stderr
    lines = (tmp_path / "all.ndjson").read_text().splitlines()
    assert json.loads(lines[-1])["kind"] == "end"
    assert sum(key in line for line in lines) == 1


def test_results_are_sent_once_and_the_gate_says_why_it_does_not_pass(
    run: Run, admin: Traceline, tmp_path: Path
) -> None:
    name = f"CLI-{uuid4().hex[:8]}"
    requirement, test_case = admin.create_requirement(), admin.create_test_case(external_id=name)
    admin.create_link(requirement["id"], test_case["id"])
    of_ci = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/doors", "GITHUB_RUN_ID": uuid4().hex}
    of_ci |= {"GITHUB_REF_NAME": f"branch-{name}", "GITHUB_SHA": uuid4().hex, "GITHUB_WORKFLOW": "long " * 50}
    case = f'<testcase classname="doors" name="[{name}] close" test_id="NONE-1"><failure message="open"/></testcase>'
    (tmp_path / "report.xml").write_text(f'<testsuite name="doors">{case}</testsuite>')
    for again in (False, True, False):
        sent = run("--json", "results", "*.xml", **of_ci)
        assert sent.returncode == 0, sent.stderr
        assert ("report.xml: Results name test cases that do not exist: NONE-1." in sent.stderr) is not again
        [answer] = json.loads(sent.stdout)
        assert answer["run"]["key"] == f"github:acme/doors:{of_ci['GITHUB_RUN_ID']}"
        assert answer["run"]["counts"]["failed"] == 1
        assert (answer["duplicate"], answer["matched"]) == (again, 0 if again else 1)
        if again:
            assert admin.delete(f"/test-runs/{answer['run']['id']}").status_code == 204

    summary = tmp_path / "summary.md"
    held = run("gate", "--rule", "max_failed=0", "--summary", **of_ci, GITHUB_STEP_SUMMARY=str(summary))
    assert held.returncode == 1, held.stderr
    assert "FAIL max_failed" in held.stdout
    assert f"(failed: {name})" in held.stdout
    assert "has not ended yet" in held.stdout
    assert "max_failed" in summary.read_text()
    passed = run("gate", "--rule", "max_failed=1000", "--format", "junit", "-o", "gate.xml", **of_ci)
    assert passed.returncode == 0, passed.stderr
    assert "passed on branch" in passed.stdout
    assert (tmp_path / "gate.xml").read_text().startswith("<?xml")


def test_fields_of_the_project_are_printed_and_defined(run: Run, admin: Traceline, tmp_path: Path) -> None:
    field = {"key": "ring", "name": "Ring", "of": ["requirement"], "kind": "choice", "choices": ["gold", "blue"]}
    (tmp_path / "fields.json").write_text(json.dumps({"fields": [field]}))
    assert run("fields", "--set", "fields.json").returncode != 0, "for admins alone"
    assert admin.put("/fields", json={"fields": [field]}).is_success
    printed = run("fields")
    assert (printed.returncode, printed.stdout) == (0, "ring  Ring  choice of requirements; gold, blue\n"), (
        printed.stderr
    )
    data = {"custom_metadata": {"fields": {"ring": "gold"}}}
    admin.create_requirement(external_id="RING-1", **data)
    exported = run("export", "--option", "field.ring=gold", "--kind", "requirements")
    assert '"RING-1"' in exported.stdout, exported.stderr
    assert admin.put("/fields", json={"fields": []}).is_success


@pytest.mark.parametrize("ending", ["", ".json"])
def test_a_file_of_the_checkout_is_not_taken_for_a_saved_policy(
    run: Run, admin: Traceline, tmp_path: Path, ending: str
) -> None:
    name = f"strict-{uuid4().hex[:8]}{ending}"
    admin.create_requirement()
    strict = {"rules": [{"rule": "max_uncovered", "limit": 0}]}
    assert admin.put(f"/reports/gate/policies/{name}", json=strict).is_success
    soft = json.dumps({"rules": [{"rule": "max_uncovered", "limit": 10**9}]})
    for file in (name, "soft.json"):
        (tmp_path / file).write_text(soft)
    assert [run("gate", "--policy", policy).returncode for policy in (name, f"./{name}", "./soft.json")] == [1, 0, 0]
    unsaved = run("gate", "--policy", "soft.json")
    assert (unsaved.returncode, "The file of this name is ./soft.json." in unsaved.stderr) == (4, True)
    nowhere = run("gate", "--policy", "./soft.json", "--environment", uuid4().hex)
    assert (nowhere.returncode, "No result is of the environment" in nowhere.stdout) == (1, True)
    assert run("gate", "--policy", name, "--allow-flaky").returncode == 4


@pytest.mark.parametrize("beside", [0, 2**20], ids=["small", "followed"])
def test_one_file_that_is_refused_does_not_hide_the_others(run: Run, tmp_path: Path, beside: int) -> None:
    log = f"<testsuite><system-out>{' ' * beside}</system-out>"
    (tmp_path / "good.xml").write_text(f'{log}<testcase classname="doors" name="close"/></testsuite>')
    (tmp_path / "cut.xml").write_text(f'{log}\n<testcase classname="doors"')
    sent = run("results", "*.xml", "--json", "--run", uuid4().hex)
    assert sent.returncode == 4
    cut, good = json.loads(sent.stdout)
    assert (cut["file"], cut["error"]["code"], cut["error"]["line"]) == ("cut.xml", "unreadable_file", 2)
    assert (good["file"], good["tests"]) == ("good.xml", 1)
    assert f"cut.xml:2:{cut['error']['column']}: The file is not well-formed" in sent.stderr


def test_files_that_are_sent_outside_of_ci_are_a_run_that_has_ended(run: Run, admin: Traceline, tmp_path: Path) -> None:
    for name in ("one.xml", "two.xml"):
        (tmp_path / name).write_text(f'<testsuite><testcase classname="{uuid4()}" name="close"/></testsuite>')
    ended = []
    for files, more in ((["one.xml", "two.xml"], []), (["one.xml"], ["--shard", "1/2"]), (["two.xml"], ["--run", "x"])):
        sent = run("results", *files, *more, "--json")
        assert sent.returncode == 0, sent.stderr
        (which,) = {answer["run"]["id"] for answer in json.loads(sent.stdout)}
        ended.append(admin.read(f"/test-runs/{which}")["status"])
    assert ended == ["completed", "running", "running"]
    assert f"/p/MAIN/results/{which}\n" in run("results", "two.xml", "--run", "x").stdout
    of_commits = [run("results", "one.xml", "--commit", commit) for commit in ("c1", "c2", "c2")]
    assert [("has it already" in sent.stdout, sent.returncode) for sent in of_commits] == [
        (False, 0),
        (False, 0),
        (True, 0),
    ]


def test_the_same_report_of_another_shard_is_that_of_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text('<testsuite errors="1"><testcase name="close"/></testsuite>')
    first, again, other = (
        run("results", "one.xml", "--run", f"{tmp_path}", "--shard", part) for part in ("1/2",) * 2 + ("2/2",)
    )
    assert "A suite says that it failed" in first.stderr
    assert "has it already" in again.stdout
    assert again.stderr.count("one.xml") == 0
    assert "A suite says that it failed" in other.stderr


def test_when_no_test_has_a_test_case_the_lines_of_the_runner_are_printed(
    run: Run, base_url: str, tmp_path: Path
) -> None:
    cases = "".join(f'<testcase classname="test_doors" name="test_{uuid4().hex}"/>' for _ in range(4))
    (tmp_path / "report.xml").write_text(f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>')
    sent = run("results", "report.xml")
    assert sent.stdout.startswith("report.xml: 4 tests: 4 passed; none of them has a test case\n"), sent.stderr
    assert re.search(
        r"without a test case are test_doors\.test_\w+, test_doors\.\w+, test_doors\.\w+ and 1 more", sent.stderr
    )
    assert 'record_property("test_case", "TC-1")' in sent.stderr
    assert f"{base_url}/p/" in sent.stderr
    assert "/results/connect" in sent.stderr
    (tmp_path / "other.xml").write_text(f'<testsuite name="x"><testcase name="{uuid4().hex}"/></testsuite>')
    assert "by a property, a tag or its name, such as [TC-1]" in run("results", "other.xml").stderr
    again = run("results", "report.xml")
    assert "record_property" not in again.stderr


def test_a_file_without_a_result_is_sent_and_ends_with_4_unless_that_is_meant(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none.xml").write_text("<testsuites/>")
    (tmp_path / "one.xml").write_text(f'<testsuite><testcase classname="{uuid4()}" name="close"/></testsuite>')
    key = uuid4().hex
    for _ in range(2):
        empty = run("results", "*.xml", "--run", key, "--complete")
        assert empty.returncode == 4
        assert "none.xml holds no result" in empty.stderr
        assert "--allow-empty" in empty.stderr
        assert f"The run {key} is incomplete: a file holds no result." in empty.stdout
    meant = run("results", "*.xml", "--run", uuid4().hex, "--complete", "--allow-empty")
    assert (meant.returncode, "incomplete" in meant.stdout) == (0, False), meant.stderr


def test_results_are_of_the_lane_of_their_job_and_of_a_selection_outside_of_ci(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(f'<testsuite><testcase classname="{uuid4()}" name="close"/></testsuite>')
    of_ci = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "acme/doors", "CI_COMMIT_SHA": uuid4().hex}
    of_ci |= {"CI_COMMIT_REF_NAME": uuid4().hex, "CI_JOB_NAME": "unit: [3.11, linux]"}
    found = []
    for words, variables in (
        ([], of_ci),
        (["--lane", "e2e", "--environment", "windows", "--partial"], of_ci),
        (["--lane", "e2e"], {}),
        (["--lane", "e2e", "--complete"], {}),
    ):
        key = uuid4().hex
        sent = run("results", "one.xml", "--json", "--run", key, *words, **variables)
        assert sent.returncode == 0, sent.stderr
        [answer] = json.loads(sent.stdout)
        found += [(one["lane"], one["environment"], one["partial"]) for one in answer["run"]["lanes"]]
    assert found == [
        *(("unit", "3.11, linux", False), ("e2e", "windows", True), ("e2e", None, True), ("e2e", None, False))
    ]


_REPEATED: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]] = {
    "github": (
        {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/doors", "GITHUB_RUN_ID": "RUN", "GITHUB_JOB": "unit"},
        {"GITHUB_RUN_ATTEMPT": "1"},
        {"GITHUB_RUN_ATTEMPT": "2"},
    ),
    "gitlab": (
        {"GITLAB_CI": "true", "CI_PROJECT_PATH": "acme/doors", "CI_PIPELINE_ID": "RUN", "CI_JOB_NAME": "unit"},
        {"CI_JOB_ID": "8731"},
        {"CI_JOB_ID": "8735"},
    ),
    "azure": (
        {"TF_BUILD": "True", "SYSTEM_TEAMPROJECT": "doors", "BUILD_BUILDID": "RUN", "SYSTEM_PHASENAME": "unit"},
        {"SYSTEM_JOBATTEMPT": "1"},
        {"SYSTEM_JOBATTEMPT": "2"},
    ),
    "buildkite": (
        {
            "BUILDKITE": "true",
            "BUILDKITE_ORGANIZATION_SLUG": "acme",
            "BUILDKITE_PIPELINE_SLUG": "doors",
            "BUILDKITE_BUILD_NUMBER": "RUN",
            "BUILDKITE_STEP_KEY": "unit",
        },
        {"BUILDKITE_RETRY_COUNT": "0"},
        {"BUILDKITE_RETRY_COUNT": "1"},
    ),
}
"""Variables of a job, and what its first and second try have beside them."""


@pytest.mark.parametrize("system", _REPEATED)
def test_a_job_that_is_repeated_replaces_its_first_try(run: Run, tmp_path: Path, system: str) -> None:
    job, *tries = _REPEATED[system]
    key, case = uuid4().hex, f'<testcase classname="{uuid4()}" name="close"'
    counts = []
    for variables, inside in zip(tries, ('<failure message="no connection"/>', ""), strict=True):
        (tmp_path / "report.xml").write_text(f"<testsuite>{case}>{inside}</testcase></testsuite>")
        of_ci = {name: key if value == "RUN" else value for name, value in (job | variables).items()}
        sent = run("results", "report.xml", "--json", **of_ci)
        assert sent.returncode == 0, sent.stderr
        counts.append(json.loads(sent.stdout)[0]["run"]["counts"])
    assert [(one["tests"], one["failed"], one["flaky"]) for one in counts] == [(1, 1, 0), (1, 0, 1)]


def test_a_gate_is_waited_for_while_a_run_goes_on(run: Run, admin: Traceline, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(f'<testsuite><testcase classname="{uuid4()}" name="close"/></testsuite>')
    key = uuid4().hex
    of_ours = ["--branch", key, "--commit", key]
    sent = run("results", "one.xml", "--run", key, *of_ours, "--json", CI="true")
    assert sent.returncode == 0, sent.stderr
    [answer] = json.loads(sent.stdout)
    asked = ["gate", *of_ours, "--rule", "require_run=true"]
    late = run(*asked, "--wait", "1s")
    assert late.returncode == 5, late.stderr
    assert f"Not finished after 1 s: the run {key} goes on." in late.stderr
    assert "FAIL require_run" in late.stdout
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(run, *asked, "--wait", "5m")
        ok(admin.post(f"/test-runs/{answer['run']['id']}/complete"))
        passed = waiting.result()
    assert passed.returncode == 0, passed.stderr


def test_a_report_that_repeats_a_case_for_each_try_is_told_of(run: Run, tmp_path: Path) -> None:
    case = f'<testcase classname="{uuid4()}" name="close"'
    report = f'<testsuite>{case}><failure message="stuck"/></testcase>{case}/></testsuite>'
    (tmp_path / "report.xml").write_text(report)
    ends = []
    for which in ("worst", "last"):
        sent = run("results", "report.xml", "--run", uuid4().hex, "--duplicates", which, "--json")
        assert sent.returncode == 0, sent.stderr
        (answer,) = json.loads(sent.stdout)
        ends.append({end: answer["run"]["counts"][end] for end in ("passed", "failed", "flaky")})
    assert ends == [{"passed": 0, "failed": 1, "flaky": 0}, {"passed": 0, "failed": 0, "flaky": 1}]


def test_a_person_logs_in_with_a_second_factor(run: Run, admin: Traceline, tmp_path: Path) -> None:
    somebody = admin.new_user()
    begun = ok(somebody.post("/auth/second-factor", json={"password": PASSWORD}))
    phone = pyotp.TOTP(begun["secret"])
    codes = ok(somebody.post("/auth/second-factor/confirm", json={"code": phone.now()}))["recovery_codes"]
    words = ["login", "--email", somebody.me()["email"], "--password", PASSWORD]
    assert "Code of your second factor" in run(*words).stderr
    logged_in = run(*words, typed=f"{codes[0]}\n")
    assert logged_in.returncode == 0, logged_in.stderr
    assert run("project", "list", TRACELINE_TOKEN="").returncode == 0


def test_a_person_makes_a_token_for_a_pipeline_without_curl(run: Run, admin: Traceline, tmp_path: Path) -> None:
    somebody = admin.new_user("reviewer")
    person = {"TRACELINE_TOKEN": "", "TRACELINE_EMAIL": somebody.me()["email"], "TRACELINE_PASSWORD": PASSWORD}
    made = run("token", "create", "ci", "--scope", "results", "--days", "7", **person)
    assert made.returncode == 0, made.stderr
    secret = made.stdout.strip()
    assert secret.startswith("tlp_")
    assert "It is shown this once" in made.stderr
    (tmp_path / "one.xml").write_text(f'<testsuite><testcase classname="{uuid4()}" name="close"/></testsuite>')
    eventually(
        lambda: run("results", "one.xml", "--run", uuid4().hex, TRACELINE_TOKEN=secret).returncode,
        "the token",
        equals=0,
    )
    listed = json.loads(run("token", "list", "--json", **person).stdout)
    assert [(one["name"], one["scopes"], "token" in one) for one in listed] == [("ci", ["results"], False)]
    assert run("token", "create", "another", "--scope", "results", TRACELINE_TOKEN=secret).returncode == 3
    badges = run("token", "create", "readme", "--scope", "badge", **person).stdout.splitlines()
    assert [re.sub(r"tlp_\w+$", "", one).partition("/badges/")[2] for one in badges] == [
        *("verified.svg?token=", "coverage.svg?token=", "gate.svg?token=")
    ]
    eventually(lambda: httpx.get(badges[2], trust_env=False).status_code, "the badge", equals=200)
    assert run("token", "create", "x", "--scope", "everything", **person).returncode == 2
    assert run("token", "revoke", str(listed[0]["id"]), **person).returncode == 0
    assert [one["name"] for one in json.loads(run("token", "list", "--json", **person).stdout)] == ["readme"]


def test_a_person_logs_in_with_a_token_of_the_page(run: Run, admin: Traceline, base_url: str, tmp_path: Path) -> None:
    somebody = admin.new_user()
    made = created(somebody.post("/auth/tokens", json={"name": "terminal", "scopes": ["read"]}))["token"]
    refused = run("login", "--token", typed="password\n", TRACELINE_TOKEN="")
    assert refused.returncode == 2
    assert f"make one at {base_url}/p/" in refused.stderr
    assert run("login", "--token", typed=f"tlp_{36 * 'x'}\n", TRACELINE_TOKEN="").returncode == 3
    eventually(lambda: run("login", "--token", typed=f"{made}\n", TRACELINE_TOKEN="").returncode, "the token", equals=0)
    assert run("project", "list", TRACELINE_TOKEN="").returncode == 0
    assert run("logout").stdout == "Logged out here.\n"
    assert run("project", "list", TRACELINE_TOKEN="").returncode == 3


def test_a_token_that_ended_does_not_get_in(run: Run) -> None:
    refused = run("project", "list", TRACELINE_TOKEN="tlp_" + "0" * 36)
    assert refused.returncode == 3
    assert refused.stdout == ""


def test_what_is_not_done_in_time_goes_on_there(run: Run) -> None:
    waited = run("suggest", "--wait", "0")
    assert waited.returncode == 5
    assert "it goes on at http" in waited.stderr


def test_an_agent_reads_and_proposes_over_stdin_and_stdout(run: Run) -> None:
    client = {"name": "Some client", "version": "2.1"}
    handshake = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fnd", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 3, "method": "nothing"},
    ]
    served = run("mcp", typed="".join(f"{json.dumps(message)}\n" for message in messages))
    assert served.returncode == 0, served.stderr
    begun, called, unknown = (json.loads(line) for line in served.stdout.splitlines())
    assert begun["result"]["protocolVersion"] == handshake["protocolVersion"]
    assert "did you mean 'find'" in called["result"]["content"][0]["text"]
    assert (unknown["id"], unknown["error"]["code"]) == (3, -32601)
    refused = run("mcp", typed=json.dumps(messages[2]), TRACELINE_TOKEN="tlp_none")
    assert json.loads(refused.stdout)["error"]["data"]["code"] == "unauthenticated"

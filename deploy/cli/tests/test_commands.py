"""How commands end without a Traceline: by exit code, with the reason on stderr."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import PIPE

import pytest
from click.testing import CliRunner, Result

from traceline_cli import login
from traceline_cli.failures import Exit
from traceline_cli.login import Login
from traceline_cli.main import main
from traceline_cli.results import commit_time, find_checkout

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is logged in, and this is no CI."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    of_ours = ("TRACELINE_URL", "TRACELINE_TOKEN", "TRACELINE_EMAIL", "TRACELINE_PROJECT")
    for name in (*of_ours, "CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


def run(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, words, env=variables)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["gate"], Exit.WRONG_USE, "Say where Traceline is"),
        (["--url", NOBODY, "gate"], Exit.UNREACHABLE, "Nobody is logged in"),
        (["--url", NOBODY, "results", "none-*.xml"], Exit.WRONG_USE, "There is no file none-*.xml"),
        (["import", "none.csv"], Exit.WRONG_USE, "does not exist"),
        (["--url", NOBODY, "gate", "--rule", "max_failed"], Exit.WRONG_USE, "NAME=VALUE"),
        (["gate", "--rule", "max_failed=0", "--rule", "max_failed=9"], Exit.WRONG_USE, "max_failed is given twice"),
        (["gate", "--url", "traceline.example.com"], Exit.WRONG_USE, "begins with https://"),
        (["gate", "--url", "http://[::1"], Exit.WRONG_USE, "http://[::1 is no address"),
        (["results", "--url", NOBODY, "."], Exit.WRONG_USE, "is a folder"),
        (["export", "--url", NOBODY, "-o", "nowhere/all.ndjson"], Exit.UNREACHABLE, "Nobody is logged in"),
        (["results", "--url", NOBODY, "--shard", "5/4", "a.xml"], Exit.WRONG_USE, "such as 2/4"),
        (["gate", "--url", NOBODY, "--policy", "./none.json"], Exit.WRONG_USE, "none.json: No such file"),
        (["gate", "--url", NOBODY, "--wait", "20 minutes"], Exit.WRONG_USE, "write 20m, 90s or 1h"),
        (["gate", "--url", NOBODY, "--commit", ""], Exit.WRONG_USE, "is its variable set?"),
        (["gate", "--url", NOBODY, "--branch", " "], Exit.WRONG_USE, "is its variable set?"),
        (["nonsense"], Exit.WRONG_USE, "No such command"),
    ],
)
def test_wrong_use_says_what_to_do(words: list[str], code: Exit, said: str) -> None:
    done = run(*words)
    assert done.exit_code == code
    assert said in done.stderr
    assert done.stdout == ""


def test_a_service_that_is_away_is_tried_again_and_then_told(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text("<testsuite/>")
    done = run("--url", NOBODY, "--tries", "2", "results", str(report), TRACELINE_TOKEN="tlp_x")
    assert done.exit_code == Exit.UNREACHABLE
    assert "(1 of 2)" in done.stderr
    assert "nothing doubles" in done.stderr
    assert (
        run("--url", NOBODY, "--tries", "1", "results", "--no-fail", str(report), TRACELINE_TOKEN="tlp_x").exit_code
        == 0
    )


def test_what_fails_is_told_as_json_too() -> None:
    failed = run("--json", "gate", "--url", NOBODY, "--tries", "1", TRACELINE_TOKEN="tlp_x")
    assert failed.exit_code == Exit.UNREACHABLE
    assert json.loads(failed.stdout)["error"]["code"] == "unreachable"
    misused = run("--json", "gate", "--rule", "max_failed", "--url", NOBODY)
    assert (misused.exit_code, json.loads(misused.stdout)["error"]["code"]) == (Exit.WRONG_USE, "wrong_use")
    unsent = run("results", "none.xml", "--url", NOBODY, "--json", "--no-fail")
    assert unsent.exit_code == 0
    assert json.loads(unsent.stdout) == {"error": {"code": "wrong_use", "detail": "There is no file none.xml."}}


def test_files_of_a_pipeline_that_names_no_run_are_told_of(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text("<testsuite/>")
    done = run(
        "results", "--url", NOBODY, "--tries", "1", str(report), TRACELINE_TOKEN="tlp_x", CI="true", GITLAB_CI=""
    )
    assert "--run names it" in done.stderr


def test_a_log_in_is_kept_from_others_and_not_used_after_its_end(tmp_path: Path) -> None:
    file = login.place({"XDG_CONFIG_HOME": str(tmp_path)})
    login.keep(Login(NOBODY, "token", time.time() + 60), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert login.find(file) == Login(**json.loads(file.read_text()))
    login.keep(Login(NOBODY, "token", time.time() - 1), file)
    assert login.find(file) is None


def test_a_log_in_without_a_terminal_says_how_else() -> None:
    done = run("login", "--url", NOBODY)
    assert done.exit_code == Exit.WRONG_USE
    assert "say it by options" in done.stderr


OTHER_SERVICES = (
    ("LIST", 200, b"[]"),
    ("OBJECT", 200, b'{"status": "ok"}'),
    ("NULL", 200, b"null"),
    ("JOB", 202, b'{"job": 7}'),
    ("RUN", 200, b'{"run": 7, "passed": true, "error": "none", "results": 1}'),
    ("LOST", 404, b'{"detail": "Not Found"}'),
    ("UNTOLD", 422, b'{"detail": [{"loc": ["body"]}]}'),
    ("BROKEN", 500, b"[]"),
)
"""The name of each as a project, the status and the body of all that it answers."""


class _Proxy(BaseHTTPRequestHandler):
    """What stands at an address that is none of Traceline's; `/api/v1/projects/NAME/...` chooses what it answers."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def do_GET(self) -> None:
        for name, status, body in OTHER_SERVICES:
            if f"/{name}" in self.path:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)
                return
        moved = self.path == "/api/v1/projects?limit=500&skip=0"
        self.send_response(302 if moved else 200)
        self.send_header("Location", "https://login.example.com/")
        if "/exports" in self.path:
            self.send_header("Content-Disposition", "attachment")
        self.end_headers()
        is_json = "/exports" in self.path or "/JSON/" in self.path
        self.wfile.write(b'{"kind": "requirement"}\n' if is_json else b"<h1>Sign in</h1>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Proxy)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_no_traceline_never_looks_like_a_gate_that_does_not_pass(proxy: str) -> None:
    for command, said in (
        (["gate"], "does not answer as Traceline does"),
        (["gate", "--project", "JSON"], "does not answer as Traceline does"),
        (["project", "list"], "redirects to"),
    ):
        done = run(*command, "--url", proxy, TRACELINE_TOKEN=" tlp_x\n")
        assert (done.exit_code, done.stdout) == (Exit.UNREACHABLE, "")
        assert said in done.stderr


@pytest.mark.parametrize("service", [name for name, status, _ in OTHER_SERVICES if status < 400])
@pytest.mark.parametrize(
    "words",
    [
        ["results", "report.xml"],
        ["results", "--complete", "report.xml"],
        ["import", "report.xml"],
        ["export"],
        ["export", "--format", "json", "-o", "all.json"],
        ["gate"],
        ["suggest"],
        ["project", "show"],
    ],
)
def test_json_of_another_service_is_no_answer_of_traceline(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("report.xml").write_text("<testsuite/>")
    if words[0] == "project":
        words = [*words, service]
    done = run(*words, "--project", service, "--url", proxy, TRACELINE_TOKEN="tlp_x")
    assert done.exit_code == Exit.UNREACHABLE
    assert "does not answer as Traceline does" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["report.xml"]


@pytest.mark.parametrize(
    ("service", "code", "said"),
    [
        ("LOST", Exit.REFUSED, "answers 404 Not Found"),
        ("UNTOLD", Exit.REFUSED, "answers 422"),
        ("BROKEN", Exit.UNREACHABLE, "answers 500 Internal Server Error"),
    ],
)
def test_what_another_service_refuses_has_its_address(proxy: str, service: str, code: Exit, said: str) -> None:
    done = run("gate", "--project", service, "--url", proxy, TRACELINE_TOKEN="tlp_x")
    assert done.exit_code == code
    assert f"/projects/{service}/reports/gate" in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("service", ["LIST", "OBJECT", "LOST"])
def test_a_log_in_at_another_service_is_none(proxy: str, service: str) -> None:
    secret = {"TRACELINE_EMAIL": "a@example.org", "TRACELINE_PASSWORD": "secret"}
    done = run("gate", "--url", f"{proxy}/{service}", **secret)
    person = run("login", "--email", "a@example.org", "--url", f"{proxy}/{service}", **secret)
    for one in (done, person):
        assert one.exit_code == (Exit.REFUSED if service == "LOST" else Exit.UNREACHABLE)
        assert "/auth/login" in one.stderr


@pytest.mark.parametrize("to", [[], ["-o", "all.ndjson"]])
def test_an_export_that_is_cut_off_is_told(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("export", *to, "--url", proxy, TRACELINE_TOKEN="tlp_x")
    assert done.exit_code == Exit.UNREACHABLE
    assert "cut off before its end" in done.stderr
    assert [*tmp_path.glob("*.ndjson")] == []


_INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("traceline_cli.main", run_name="__main__", alter_sys=True)
"""
"""Runs the command line where Ctrl-C is heard: under nohup it is not, nor is it by what runs in the background."""


def _interrupted(running: subprocess.Popen[bytes]) -> bytes:
    """Press Ctrl-C, and once more where that came just before the program began to wait; return its stderr."""
    for _ in range(5):
        running.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=600)[1]
    running.kill()
    return b"It did not end."


@pytest.mark.parametrize("words", [["gate"], ["results", "a.xml"], ["export"], ["pr"], ["project", "list"]])
def test_a_server_that_takes_a_connection_and_answers_nothing_ends_it_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.xml").write_text("<testsuite/>")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = run(*words, "--url", url, "--timeout", "1", TRACELINE_TOKEN="tlp_x")
    assert done.exit_code == Exit.TIMED_OUT
    said = f"{url} has not answered within 1 s. Look whether it is well; --timeout gives it longer.\n"
    assert done.stderr.removeprefix("Error: ").removeprefix("a.xml: ") == said


@pytest.mark.parametrize("words", [["results", "a.xml", "b.xml", "--no-fail"], ["gate"], ["login"]])
def test_who_interrupts_a_command_closes_no_gate(tmp_path: Path, words: list[str]) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text(f'<testsuite name="{name}"/>')
    environment = {**os.environ, "TRACELINE_TOKEN": "tlp_x"}
    with socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as kept:
        silent.settimeout(30)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-c", _INTERRUPTIBLE, *words, "--url", url]
        with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=tmp_path, env=environment) as running:
            if words == ["login"]:
                assert running.stderr is not None
                assert running.stderr.read(7) == b"Email: "
            else:
                kept.enter_context(silent.accept()[0]).recv(1)
            said = _interrupted(running)
    assert running.returncode == 130
    assert said.decode().strip() == "Error: Interrupted."


def test_names_are_told_where_letters_are_missing(proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["export", "--format", "csv", "-o", "Tür.csv", "--url", proxy]
    runner = CliRunner(charset="ascii", env={"TRACELINE_TOKEN": "tlp_x"})
    told, as_json = (runner.invoke(main, [*words, *more]) for more in ([], ["--json"]))
    assert told.stdout == "T\\xfcr.csv written\n"
    assert json.loads(as_json.stdout_bytes)["file"] == "Tür.csv"


def test_what_the_system_calls_a_name_may_be_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"T\xfcr")
    report = tmp_path / f"{name}.xml"
    report.write_text("<testsuite/>")
    for words in (["results", str(report)], ["gate", "--branch", name], ["gate", "--project", name]):
        done = run(*words, "--url", NOBODY, "--tries", "1", TRACELINE_TOKEN="tlp_x")
        assert done.exit_code == Exit.UNREACHABLE


@pytest.mark.parametrize(
    ("policy", "code", "said"),
    [
        (b'\xef\xbb\xbf{"rules": []}', Exit.UNREACHABLE, "cannot be reached"),
        (b'{"rules": [{"rule": "min_tests", "limit": NaN}]}', Exit.WRONG_USE, "NaN is no number"),
        (b'{"rules": [{"rule": "min_tests", "limit": 1e999}]}', Exit.WRONG_USE, "1e999 is no number"),
        (b"null", Exit.WRONG_USE, "holds no rules"),
        (b"[" * 100_000, Exit.WRONG_USE, "is no JSON"),
        (b"\xff", Exit.WRONG_USE, "is no JSON"),
    ],
)
def test_a_policy_is_a_file_of_json(tmp_path: Path, policy: bytes, code: Exit, said: str) -> None:
    file = tmp_path / "gate.json"
    file.write_bytes(policy)
    done = run("gate", "--policy", str(file), "--url", NOBODY, "--tries", "1", TRACELINE_TOKEN="tlp_x")
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr


def test_the_time_of_a_commit_is_what_ci_says_or_the_checkout_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)  # run by a hook of git, the test would work on the repository that it is in
    at = "2026-03-02T08:15:00+01:00"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    dated = {**os.environ, "GIT_COMMITTER_DATE": at}
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *command], env=dated, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, stdout=PIPE, text=True).stdout.strip()
    assert commit_time(head, None) == at
    assert commit_time(head, "2026-03-01T00:00:00Z") == "2026-03-01T00:00:00Z"
    for unknown in ("0" * 40, "--help", None):
        assert commit_time(unknown, None) is None
    assert commit_time(head, "9999-01-01T00:00:00Z") is None
    assert commit_time(head, "yesterday") is None
    monkeypatch.setenv("PATH", "")
    assert commit_time(head, None) is None


def test_the_checkout_that_paths_of_tests_are_told_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    within = tmp_path / "within"
    within.mkdir()
    monkeypatch.chdir(within)
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    assert find_checkout() == str(within)
    command = ["git", "init", "--quiet", tmp_path]
    subprocess.run(command, check=True)
    assert find_checkout() == str(tmp_path)


def test_certificates_that_cannot_be_read_are_told() -> None:
    done = run("gate", "--url", NOBODY, TRACELINE_TOKEN="tlp_x", SSL_CERT_FILE="/nowhere/ca.pem")
    assert done.exit_code == Exit.WRONG_USE
    assert "SSL_CERT_FILE" in done.stderr


def test_a_folder_of_allure_is_to_be_packed(tmp_path: Path) -> None:
    (tmp_path / "1-result.json").write_text("{}")
    done = run("results", str(tmp_path), "--url", NOBODY)
    assert done.exit_code == Exit.WRONG_USE
    assert "into one zip" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0
    assert "traceline" in done.stdout


def test_a_shell_that_evaluates_it_completes_commands_options_and_files() -> None:
    asked = {"_TRACELINE_COMPLETE": "bash_complete"}
    for words, completed in (
        ("traceline re", "plain,results\n"),
        ("traceline gate --form", "plain,--format\n"),
        ("traceline results --unknown ke", "plain,keep\n"),
        ("traceline results rep", "file,rep\n"),
    ):
        place = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = CliRunner().invoke(main, [], prog_name="traceline", env=asked | place)
        assert done.stdout == completed

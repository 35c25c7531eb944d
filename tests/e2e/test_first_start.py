"""The first minutes: whose data are where, who can get at them, and what is printed about that is true."""

import asyncio
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from acceptance.client import Json, Traceline, ok, problem
from acceptance.process import RunningTraceline, copy, living_in
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD, free_port
from acceptance.waiting import eventually
from contracts.projects import DEMO
from embedded.demo import DemoError, load_demo

pytestmark = pytest.mark.requirement("TL-USER-4")

BUILT_IN = ("admin@traceline.local", "traceline-admin")
EVERYWHERE = "0.0.0.0"  # noqa: S104 - that is what is tried
OTHERS_UID = 65534


@contextmanager
def started_in(folder: Path, *arguments: str, **settings: str) -> Iterator[tuple[str, list[str]]]:
    """`python -m embedded` in a folder, as a newcomer starts it: its address, and the lines that it prints."""
    unset = ("TRACELINE_", "DEFAULT_ADMIN_", "ENVIRONMENT")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    address = f"http://127.0.0.1:{(port := free_port())}"
    output = folder / f"{port}.output"
    with output.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "embedded", *arguments],
            cwd=folder,
            env={**inherited, "TRACELINE_PORT": str(port), **settings},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    lines: list[str] = []
    try:
        eventually(lambda: "Ctrl-C stops it" in output.read_text(), "the greeting", seconds=300)
        lines += output.read_text().splitlines()
        yield address, lines
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == 0, output.read_text()
        lines[:] = output.read_text().splitlines()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_demo_and_real_data_have_folders_of_their_own_that_are_closed_to_others(place: Path) -> None:
    place.mkdir()
    with started_in(place, "--demo") as (address, lines), Traceline(address) as anyone:
        assert not any(line.startswith("{") for line in lines), "sentences are for people, JSON is for the log file"
        assert any(line.startswith(f"Traceline is running at {address} ") for line in lines)
        assert f"Log in as {BUILT_IN[0]}, password {BUILT_IN[1]}." in lines
        after = coverage_rises_with_accepted_suggestions(anyone.logged_in(*BUILT_IN).within(DEMO))
    assert lines[-1] == f"Traceline has stopped; the data stays in {place / '.traceline-demo'}."
    with started_in(place, "--demo") as (address, lines), Traceline(address) as anyone:
        assert "The demo project is there already." in lines
        assert summary(anyone.logged_in(*BUILT_IN).within(DEMO)) == after

    with started_in(place) as (address, lines), Traceline(address) as anyone:
        admin = anyone.logged_in(*BUILT_IN)
        assert admin.read("/requirements")["total"] == 0
        change = {"current_password": BUILT_IN[1], "new_password": ADMIN_PASSWORD}
        assert admin.post("/auth/change-password", json=change).status_code == 204
        folder = place / ".traceline"
        assert mode(folder) & 0o707 == 0o700
        assert mode(folder / "traceline.log") == 0o600
        assert mode(folder / "postgresql") == 0o700

    with started_in(place, DEFAULT_ADMIN_EMAIL="other@example.org") as (_, lines):
        told = [line for line in lines if "other@example.org" in line or BUILT_IN[1] in line]
        assert told == [], "there is an admin, whose password is another by now"


def coverage_rises_with_accepted_suggestions(admin: Traceline) -> Json:
    """Look at the demo project as a newcomer does; return the sums at the end."""
    before = summary(admin)
    assert before["total_requirements"] >= 60
    assert before["total_test_cases"] >= 90
    assert before["suspect_links"] == 1
    assert 0.3 < before["coverage"] < 0.6
    verdicts = admin.read("/reports/verification", limit=1)["summary"]["requirements"]
    assert all(verdicts[verdict] for verdict in ("passed", "failed", "flaky", "partial", "not_run", "uncovered"))
    assert admin.read("/automated-tests", linked="false")["total"] > 0
    pending = admin.read("/suggestions", status="pending", sort="score:desc")
    assert pending["total"] >= 10
    assert all(suggestion["suggestion_reason"] for suggestion in pending["items"])
    best = [suggestion["id"] for suggestion in pending["items"][:10]]
    ok(admin.post("/suggestions/bulk-review", json={"action": "accept", "ids": best}))
    after = summary(admin)
    assert after["total_links"] == before["total_links"] + 10
    assert after["coverage"] > before["coverage"]
    return after


def summary(user: Traceline) -> Json:
    report: Json = user.read("/reports/traceability-matrix", limit=1)["summary"]
    return report


def test_the_demo_does_not_go_into_a_folder_with_other_data(place: Path) -> None:
    (place / "postgresql").mkdir(parents=True)
    ended = RunningTraceline(place).run_to_its_end("--demo")
    assert ended.returncode == 1
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith(f"The data folder {place} is not empty and not the demo's")
    assert "TRACELINE_DATA_DIR" in sentence
    assert [entry.name for entry in place.iterdir()] == ["postgresql"]


def test_the_demo_is_a_project_of_its_own_that_one_call_removes(base_url: str, admin: Traceline) -> None:
    beside = admin.within(None)
    kept = beside.create_requirement()
    total = beside.read("/requirements")["total"]
    assert asyncio.run(load_demo(base_url, str(admin.token))) is not None
    assert asyncio.run(load_demo(base_url, str(admin.token))) is None, "once more changes nothing"
    # Another gateway than that of the loader hears of the project a little later.
    eventually(lambda: admin.within(DEMO).get("/requirements").status_code, "the project", equals=200)
    assert summary(admin.within(DEMO))["total_requirements"] >= 60
    assert beside.read("/requirements")["total"] == total
    ok(admin.delete(f"/projects/{DEMO}", params={"confirm": DEMO}), 202)
    eventually(lambda: admin.within(DEMO).get("/requirements").status_code, "its end", equals=404)
    assert ok(beside.get(f"/requirements/{kept['id']}")) == kept
    with pytest.raises(DemoError, match="stays its own"):
        asyncio.run(load_demo(base_url, str(admin.token)))


def test_a_known_password_is_refused_where_others_reach_it(place: Path) -> None:
    ended = RunningTraceline(
        place, TRACELINE_HOST=EVERYWHERE, ENVIRONMENT="development", DEFAULT_ADMIN_PASSWORD=BUILT_IN[1]
    ).run_to_its_end()
    assert ended.returncode == 1
    assert ended.stderr.startswith("The setting DEFAULT_ADMIN_PASSWORD is the built-in password")
    assert not place.exists()


def test_where_others_reach_it_the_first_password_is_random_printed_once_and_loads_the_demo(place: Path) -> None:
    place.mkdir()
    everywhere = {"TRACELINE_HOST": EVERYWHERE}
    with started_in(place, "--demo", **everywhere) as (address, lines), Traceline(address) as anyone:
        said = "\n".join(lines)
        assert "The demo project is loaded: " in said
        (password,) = re.findall(rf"Log in as {BUILT_IN[0]}, password (\S+) \(shown this once, and to be changed", said)
        problem(anyone.login(*BUILT_IN), 401)
        anyone.logged_in(BUILT_IN[0], password)
    assert "\n".join(lines).count(password) == 1
    with started_in(place, "--demo", **everywhere) as (address, lines), Traceline(address) as anyone:
        first = anyone.logged_in(BUILT_IN[0], password)
        change = {"current_password": password, "new_password": ADMIN_PASSWORD}
        assert first.post("/auth/change-password", json=change).status_code == 204
        admin = anyone.logged_in(BUILT_IN[0], ADMIN_PASSWORD)
        assert summary(admin.within(DEMO))["total_requirements"] >= 60
    assert password not in "\n".join(lines)
    assert password not in (place / ".traceline-demo" / "traceline.log").read_text()


@pytest.mark.parametrize(
    "name", ["a" * 90, pytest.param("folder of 'Kim' & co", marks=pytest.mark.long)], ids=["long", "odd"]
)
def test_other_users_of_the_machine_do_not_get_at_the_database(unused: Path, place: Path, name: str) -> None:
    """Where sockets take the path of the data folder, and where they do not."""
    place.mkdir()
    copy(unused, place / name)
    with RunningTraceline(place / name) as running, Traceline(running.base_url) as anyone:
        anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        url = running.database_url("auth-service")
        with psycopg.connect(url) as connection:
            (where,) = connection.execute("SHOW unix_socket_directories").fetchone() or ("",)
        assert mode(Path(where)) == 0o700
        if os.geteuid() == 0:
            assert "Permission denied" in as_somebody_else("ls", where)
    assert not Path(where).exists() or Path(where).is_relative_to(place)
    assert living_in(place) == []


def as_somebody_else(*command: str) -> str:
    """What another user of the machine is told by a command."""
    done = subprocess.run(command, user=OTHERS_UID, cwd="/", capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_folder_that_is_not_postgresqls_is_left_alone_and_told_in_one_sentence(place: Path) -> None:
    (place / "postgresql").mkdir(parents=True)
    (place / "postgresql" / "notes.txt").write_text("mine")
    ended = RunningTraceline(place).run_to_its_end()
    assert ended.returncode == 1
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith(f"The folder {place / 'postgresql'} holds something that is not PostgreSQL's")
    assert (place / "postgresql" / "notes.txt").read_text() == "mine"


WRONG: Mapping[str, str] = {
    "TRACELINE_PORT": "http",
    "DEFAULT_ADMIN_EMAIL": "you",
    "AUTO_SUGGESTIONS_ALGORITHM": "magic",
    "AUTO_SUGGESTIONS_THRESHOLD": "1.5",
    "ACCESS_TOKEN_EXPIRE_MINUTES": "soon",
    "COVERAGE_DROP_THRESHOLD": "2",
    "FORWARDED_ALLOW_IPS": "proxy",
}


def test_all_wrong_settings_are_told_at_once(place: Path) -> None:
    ended = RunningTraceline(place, **WRONG).run_to_its_end()
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert sorted(line.split(" is ")[0] for line in lines) == sorted(f"The setting {name}" for name in WRONG)
    assert any("DEFAULT_ADMIN_EMAIL" in line and "'you' is no email address" in line for line in lines), lines
    assert not place.exists()

"""The process itself: how it ends, what it leaves, and how it refuses to start."""

import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from acceptance.client import Json, Traceline, ok, problem
from acceptance.process import RunningTraceline, fresh_folder, living_in
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD, free_port
from acceptance.waiting import eventually
from chassis.core.version import software
from contracts.routes import SERVICES
from testing.metrics import Series, read, rises


@dataclass(frozen=True, slots=True)
class Brief:
    """A Traceline whose tokens live for one minute, and a login of when it started."""

    server: RunningTraceline
    client: Traceline
    metrics_port: int
    login: Json
    ends: float


@pytest.fixture(scope="module", autouse=True)
def brief(unused: Path) -> Iterator[Brief]:
    """Started before the first test, so that nobody waits a whole minute at the last."""
    metrics_port = free_port()
    settings = {"ACCESS_TOKEN_EXPIRE_MINUTES": "1", "TRACELINE_METRICS_PORT": str(metrics_port)}
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place, **settings) as server,
        Traceline(server.base_url) as client,
    ):
        login = ok(client.login(ADMIN_EMAIL, ADMIN_PASSWORD))
        yield Brief(server, client, metrics_port, login, time.monotonic() + login["expires_in"])


@pytest.fixture
def used(unused: Path) -> Iterator[Path]:
    """A data folder that has been in use before."""
    with fresh_folder(unused) as folder:
        yield folder


def one_clear_sentence(ended: subprocess.CompletedProcess[str], about: str) -> None:
    """Assert that it refused to start: exit code 1, and one line about the reason, for people."""
    assert ended.returncode == 1, ended
    assert "Traceback" not in ended.stdout + ended.stderr
    (sentence,) = (line for line in ended.stderr.splitlines() if about in line)
    assert sentence == ended.stderr.splitlines()[-1]
    assert sentence.rstrip().endswith(".")
    assert not sentence.startswith("{"), "a log record is no sentence"


def test_nothing_is_lost_or_left_by_ctrl_c_or_when_it_is_killed_with_or_without_its_database(used: Path) -> None:
    with RunningTraceline(used) as server, Traceline(server.base_url) as client:
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        requirement, test_case = admin.create_pair()
        admin.generate()
        (suggestion,) = admin.suggestions_for(requirement["id"], test_case["id"])
        ok(admin.post(f"/suggestions/{suggestion['id']}/accept"))
        # Clients that keep their connections open, one of them within a request, hold nothing up.
        with socket.create_connection(("127.0.0.1", server.port)) as half:
            half.sendall(b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nuser")
            server.stop()
        eventually(lambda: living_in(used), "the end of every process", equals=[])

        server.start()
        assert ok(admin.get(f"/requirements/{requirement['id']}")) == requirement, "and the token still works"
        (link,) = admin.items("/links", requirement_id=requirement["id"])
        assert link["test_case_id"] == test_case["id"]
        assert admin.read(f"/suggestions/{suggestion['id']}")["status"] == "accepted"
        assert client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).me() == admin.me()
        assert len(admin.items("/users")) == 1, "the first admin is made once"

        for with_database in (False, True):
            made = admin.create_requirement()
            server.kill(with_database=with_database)
            server.start()
            assert ok(admin.get(f"/requirements/{made['id']}")) == made
    assert living_in(used) == []


def test_a_minute_is_sixty_seconds(brief: Brief) -> None:
    assert brief.login["expires_in"] == 60


def test_it_answers_only_at_the_address_that_it_was_given(brief: Brief) -> None:
    family = [process for process in psutil.process_iter() if in_family(process, brief.server.pid)]
    listening = {
        connection.laddr[:2]
        for process in family
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {("127.0.0.1", port) for port in (brief.server.port, brief.metrics_port)}


def test_it_tells_what_it_measures_at_a_port_of_its_own(brief: Brief) -> None:
    def measured() -> Series:
        return read(httpx.get(f"http://127.0.0.1:{brief.metrics_port}/metrics").text)

    before = measured()
    ok(brief.client.login(ADMIN_EMAIL, ADMIN_PASSWORD))
    series = measured()
    assert httpx.get(f"{brief.server.base_url}/metrics").status_code == 404
    login = 'method="POST",program="gateway",route="/api/v1/auth",status="200"'
    assert rises(before, series)[f"traceline_http_requests_total{{{login}}}"] == 1
    assert series[f'traceline_build_info{{api="v1",software="{software()}"}}'] == 1
    assert {series[f'traceline_database_up{{database="{service.package}"}}'] for service in SERVICES} == {1}


def test_automatic_generation_is_logged_for_every_item(brief: Brief) -> None:
    admin = brief.client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
    _, test_case = admin.create_pair()

    def lines() -> list[str]:
        return [line for line in brief.server.log.splitlines() if test_case["id"] in line]

    eventually(lambda: len(lines()) >= 2, "a message at the start and one at the end")
    assert "created" in lines()[-1]
    assert "skipped" in lines()[-1]


def in_family(process: psutil.Process, pid: int) -> bool:
    try:
        return pid in (process.pid, *(parent.pid for parent in process.parents()))
    except psutil.NoSuchProcess:
        return False  # some other process, which has ended meanwhile


def test_a_port_in_use_is_told_in_one_sentence(place: Path) -> None:
    server = RunningTraceline(place)
    with socket.socket() as other:
        other.bind(("127.0.0.1", server.port))
        other.listen()
        ended = server.run_to_its_end()
    one_clear_sentence(ended, about=str(server.port))
    assert living_in(place) == []


def test_a_data_folder_in_use_is_told_in_one_sentence_and_harms_nobody(brief: Brief) -> None:
    ended = RunningTraceline(brief.server.data_dir).run_to_its_end()
    one_clear_sentence(ended, about=str(brief.server.data_dir))
    assert httpx.get(brief.server.base_url + "/healthz").status_code == 200
    brief.client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).create_requirement()


def test_a_data_folder_that_is_none_is_told_in_one_sentence(place: Path) -> None:
    place.write_text("not a folder")
    one_clear_sentence(RunningTraceline(place).run_to_its_end(), about=str(place))
    assert place.read_text() == "not a folder"


def test_a_data_folder_that_cannot_be_made_is_told_in_one_sentence(place: Path) -> None:
    place.write_text("not a folder")
    one_clear_sentence(RunningTraceline(place / "below").run_to_its_end(), about=str(place))


@pytest.mark.long
def test_a_token_ends_with_its_lifetime(brief: Brief) -> None:
    """The last one here, so that most of the minute is over."""
    visitor = brief.client.with_token(brief.login["access_token"])
    remaining = brief.ends - time.monotonic()
    assert remaining < 5 or ok(visitor.get("/requirements")), "it must work until then"
    time.sleep(max(remaining, 0))
    eventually(lambda: visitor.get("/requirements").status_code, "the end of the token", equals=401)
    problem(visitor.get("/auth/me"), 401)
    ok(brief.client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).get("/auth/me"))

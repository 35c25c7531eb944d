"""The stack as it really runs: it answers, comes back by itself, and leaves nothing behind."""

import shutil
import socket
from collections.abc import Iterator

import httpx
import psutil
import psycopg
import pytest

from acceptance.client import Traceline, ok, problem
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack, module
from acceptance.waiting import eventually
from chassis.core.start_failure import StartFailure
from testing.metrics import Series, read


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    """One stack for all tests here. Its end is a check too: exit code 0 after Ctrl-C, told, and nothing left."""
    with fresh_folder() as place:
        with RunningStack(place) as running:
            yield running
        assert running.output.endswith(f"Stopping ...\nTraceline has stopped; the data stays in {place}.\n")


def test_it_says_where_it_is_and_answers_there(stack: RunningStack) -> None:
    assert f"Traceline is running at {stack.base_url}" in stack.output
    assert httpx.get(f"{stack.base_url}/healthz", timeout=60).status_code == 200


@pytest.mark.parametrize("process", ["gateway-0", "suggestion-worker-1"])
def test_a_process_that_is_killed_comes_back(stack: RunningStack, process: str) -> None:
    killed = stack.kill(process)
    stack.wait_ready()
    assert stack.pids()[process] != killed


def test_the_other_gateway_answers_while_one_is_replaced(stack: RunningStack) -> None:
    stack.stop_program("gateway-0")
    assert [httpx.get(f"{stack.base_url}/healthz", timeout=60).status_code for _ in range(5)] == [200] * 5
    stack.start_program("gateway-0")
    stack.stop_program("gateway-1")
    healthz = f"{stack.base_url}/healthz"
    eventually(lambda: httpx.get(healthz, timeout=60).status_code, "an answer of the new one", equals=200)
    stack.start_program("gateway-1")
    stack.wait_ready()


def test_a_port_that_was_taken_meanwhile_is_told(stack: RunningStack) -> None:
    stack.supervisor.stop_groups(["gateway"])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", stack.port))
        other.listen()
        with pytest.raises(StartFailure, match="cannot start gateway: somebody may have taken its port"):
            stack.supervisor.start_group("gateway")
    stack.supervisor.start_group("gateway")
    stack.wait_ready()


def test_a_program_can_be_given_other_settings_and_another_command(stack: RunningStack) -> None:
    port = stack.setting("auth-worker", "HTTP_PORT")
    stack.override("auth-worker", COMMAND=module("http.server", "--bind", "127.0.0.1", port), MARK="seen")
    stack.restart("auth-worker")
    assert psutil.Process(stack.pids()["auth-worker"]).environ()["MARK"] == "seen"
    eventually(lambda: _server(stack.urls["auth-worker"]).startswith("SimpleHTTP"), "the other command")
    stack.override("auth-worker")
    stack.restart("auth-worker")
    stack.wait_ready()


def test_what_happens_shows_in_the_metrics_of_the_processes(stack: RunningStack) -> None:
    def measured(process: str) -> Series:
        return read(httpx.get(stack.metrics_urls[process], timeout=60).text)

    with Traceline(stack.base_url) as anyone:
        anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).create_pair(module="brakes")
    requests = 'method="POST",program="{}",route="/api/v1/requirements",status="201"'
    at_gateways = [measured(gateway) for gateway in ("gateway-0", "gateway-1")]
    assert (
        sum(series.get(f"traceline_http_requests_total{{{requests.format('gateway')}}}", 0) for series in at_gateways)
        == (measured("catalog-service")[f"traceline_http_requests_total{{{requests.format('catalog-service')}}}"])
    )
    head = measured("catalog-worker")['traceline_feed_head{source="catalog"}']
    assert head > 0

    def caught_up() -> bool:
        of = '{consumer="notification",source="catalog"}'
        series = measured("notification-worker")
        return series[f"traceline_consumer_applied{of}"] >= head and series[f"traceline_consumer_lag{of}"] == 0

    eventually(caught_up, "notification-service up to date, in its metrics")
    assert {process for process in stack.metrics_urls if not measured(process)} == set()
    assert measured("suggestion-worker-1")['traceline_database_up{database="suggestion_service"}'] == 1


def test_no_secret_is_on_a_command_line(stack: RunningStack) -> None:
    lines = [" ".join(process.cmdline()) for process in stack.processes()]
    url = stack.setting("catalog-worker", "RABBITMQ_URL")
    password = url.partition("@")[0].rpartition(":")[2]
    secrets = [password, *stack.signing_keys.values()]
    assert [line for line in lines if any(secret in line for secret in secrets)] == []


def test_supervisorctl_reaches_it(stack: RunningStack) -> None:
    shown = stack.run_to_its_end("ctl", "status")
    assert shown.returncode == 0, shown
    assert {line.split()[1] for line in shown.stdout.splitlines()} == {"RUNNING"}


@pytest.mark.long
def test_a_run_whose_parent_was_killed_is_taken_down_by_the_next(stack: RunningStack) -> None:
    before = set(stack.pids().values())
    keys = stack.signing_keys
    stack.kill_parent()
    stack.start()
    assert before.isdisjoint(stack.pids().values())
    assert [pid for pid in before if psutil.pid_exists(pid)] == []
    assert stack.signing_keys == keys


def test_a_stack_that_was_destroyed_is_there_again(stack: RunningStack) -> None:
    backup = stack.data_dir.with_name("backups") / "monday"
    with Traceline(stack.base_url) as anyone:
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        requirement, test_case = admin.create_pair()
        link = admin.create_link(requirement["id"], test_case["id"])
        in_use = f"The data folder {stack.data_dir} is in use"
        assert stack.run_to_its_end("restore", str(backup)).stderr.startswith(in_use)
        done = stack.run_to_its_end("backup", str(backup))
        assert done.returncode == 0, done.stderr
        kept = rows(stack)
        later = admin.create_requirement()
        asked = stack.run_to_its_end("sql", "catalog-service", "-Atc", "SELECT id FROM links")
        assert (asked.returncode, asked.stdout, asked.stderr) == (0, f"{link['id']}\n", "")
        feed = stack.run_to_its_end("admin", "notification-worker", "feed")
        assert feed.returncode == 0, feed.stderr
        assert "catalog" in feed.stdout
    stack.stop()
    shutil.rmtree(stack.data_dir)

    done = stack.run_to_its_end("restore", str(backup))
    assert done.returncode == 0, done.stderr
    stack.start()
    with Traceline(stack.base_url) as anyone:
        assert rows(stack) == kept
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        assert ok(admin.get(f"/requirements/{requirement['id']}")) == requirement
        assert [link["test_case_id"] for link in admin.items("/links")] == [test_case["id"]]
        problem(admin.get(f"/requirements/{later['id']}"), 404)
        admin.create_pair()


def rows(stack: RunningStack) -> dict[str, int]:
    """The number of rows of each table that nobody but a caller changes."""
    found = {}
    for service, table in {"catalog": "requirements", "suggestion": "reviews", "auth": "users"}.items():
        with psycopg.connect(stack.database_url(f"{service}-service")) as connection:
            exists = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
            if exists is not None and exists[0] is not None:
                (found[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
    return found


def _server(url: str) -> str:
    try:
        return str(httpx.get(url, timeout=60).headers.get("server", ""))
    except httpx.TransportError:
        return ""

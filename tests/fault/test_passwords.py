"""Passwords of databases and of RabbitMQ's users are changed under load, by the runbook's own words: none is refused.

What the runbook gives to Docker goes to the stack here. Each service is one process: requests wait at the gateway while
it restarts.
"""

import os
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import fresh_folder
from acceptance.stack import RunningStack
from contracts.routes import SERVICES

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "deploy" / "RUNBOOK.md").read_text()
CONTEXTS = [service.context for service in SERVICES]
ANSWERS = {"200", "201", "204", "404"}
SOCKET_ASKS_ALL_BUT_ONE = "local all postgres trust\nlocal all all scram-sha-256\n"
DOCKER = f"""\
#!/bin/sh -e
shift 3 # compose --file FILE
case "$1 $2 $3 $4" in
"exec -T postgres psql") shift 4; exec {sys.executable} -m stack sql auth-service "$@" ;;
"restart "*) shift; for name; do {sys.executable} -m stack ctl restart "$name:*"; done ;;
*) echo "$*" >&2; exit 64 ;;
esac
"""


class Host:
    """A folder with secrets that the stack reads, and a docker command that acts on the stack."""

    def __init__(self, stack: RunningStack, folder: Path) -> None:
        self.folder = folder
        self.secrets = folder / "deploy" / "docker" / "secrets"
        self.secrets.mkdir(parents=True)
        self._stack = stack
        docker = folder / "docker"
        docker.write_text(DOCKER)
        docker.chmod(0o700)

    def run(self, script: str) -> None:
        """Run what the runbook says to type."""
        environment = self._stack.environment()
        environment |= {"PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["/bin/bash", "-euo", "pipefail"],
            input=script,
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def reads_secrets(self, context: str) -> None:
        """Have a service read from the folder where database and broker are, from its next start on."""
        for program, names in (("service", ["database"]), ("worker", ["database", "rabbitmq"])):
            lines = [
                f"{name.upper()}_URL=$(cat {shlex.quote(str(self.secrets))}/{context}_{name}_url)" for name in names
            ]
            (self._stack.data_dir / "overrides" / f"{context}-{program}.env").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with fresh_folder() as place, RunningStack(place) as running:
        yield running


@pytest.fixture
def host(stack: RunningStack, tmp_path: Path) -> Host:
    """Each service is at its database the user of compose, who has to give a password."""
    host = Host(stack, tmp_path)
    for service in SERVICES:
        url, user, password = stack.database_url(service.name), f"{service.package}_run", secrets.token_hex(24)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                f"CREATE ROLE {user} LOGIN NOINHERIT PASSWORD '{password}' IN ROLE traceline_app, traceline_across;"
                f"GRANT CONNECT ON DATABASE {service.package} TO {user}"
            )
        own = url.replace("//postgres@", f"//{user}:{password}@")
        (host.secrets / f"{service.context}_database_url").write_text(own)
        (host.secrets / f"{service.context}_rabbitmq_url").write_text(
            stack.setting(f"{service.context}-worker", "RABBITMQ_URL")
        )
        host.reads_secrets(service.context)
    (stack.data_dir / "postgresql" / "pg_hba.conf").write_text(SOCKET_ASKS_ALL_BUT_ONE)
    with psycopg.connect(stack.database_url("auth-service"), autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
    for context in CONTEXTS:
        stack.restart(f"{context}-service")
        stack.restart(f"{context}-worker")
    stack.wait_ready()
    return host


def commands_below(heading: str) -> str:
    """Return what the runbook says to type below a heading."""
    section = RUNBOOK.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (found,) = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.long
def test_passwords_are_changed_and_no_request_is_refused(
    stack: RunningStack, host: Host, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        for context in CONTEXTS:
            load.acknowledges(30)
            host.run(commands_below("Passwords of databases").replace("auth", context))
        load.acknowledges(30)
        change_passwords_at_rabbitmq(stack, host)
        load.acknowledges(100)
    refused = [operation for operation in history.operations if operation.answer not in ANSWERS]
    assert refused == [], why(stack)
    for service in SERVICES:
        with psycopg.connect(stack.database_url(service.name)) as connection:
            users = connection.execute(
                "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = %s", [service.package]
            )
            assert {name for (name,) in users} == {f"{service.package}_run_2", "postgres"}
    hold()


def why(stack: RunningStack) -> str:
    """Return what the programs that people wait for have logged as wrong."""
    programs = [*(f"{context}-service" for context in CONTEXTS), "gateway-0", "gateway-1"]
    lines = [line for program in programs for line in stack.log(program).splitlines()]
    return "\n".join(
        line for line in lines if '"level":"info"' not in line and "revocations cannot be read" not in line
    )


def change_passwords_at_rabbitmq(stack: RunningStack, host: Host) -> None:
    made = host.folder / "made"
    host.run(f"{sys.executable} {ROOT}/deploy/docker/make_secrets.py {made}")
    definitions = (made / "rabbitmq_definitions").read_text()
    (stack.data_dir / "rabbitmq" / "definitions.json").write_text(definitions)
    for context in CONTEXTS:
        login = urlsplit((made / f"{context}_rabbitmq_url").read_text()).netloc.partition("@")[0]
        file = host.secrets / f"{context}_rabbitmq_url"
        file.write_text(re.sub("//.*@", f"//{login}@", file.read_text()))
    stack.restart("rabbitmq")
    for context in CONTEXTS:
        stack.restart(f"{context}-worker")
    stack.wait_ready()

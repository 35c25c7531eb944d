"""The images as they run: locked in as in compose.yaml, against a real PostgreSQL. `make images-check` runs this.

Needs a Docker engine on this machine and the images that `make images` has built. All programs share the machine's
network, so that they need no rules of a firewall.
"""

import json
import secrets
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from acceptance.client import API, Traceline, requirement
from acceptance.own_postgres import own_postgres
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD, free_port
from acceptance.waiting import eventually
from chassis.core.internal_tokens import GATEWAY, public_key
from chassis.core.version import software
from testing.internal import KEYS
from testing.postgres import with_database

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
SERVICES = ("auth", "catalog")
_OWN_PASSWORD = f"{ADMIN_PASSWORD}, by themself"
STARTS_WITHIN = 90
GRACE = 30
"""Seconds that compose.yaml gives a container to end."""
LOCKED_IN = [
    "--network=host",
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--user=10001:10001",
]


def docker(*words: str, within: float = 120) -> str:
    """Run a command of Docker's client; return what it says."""
    command = ["docker", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=within)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr or done.stdout}"
    return done.stdout.strip()


class Container:
    """One program of one image, as `docker run` started it."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self.url = f"http://127.0.0.1:{port}"
        self.port = port

    def inspect(self, field: str) -> str:
        return docker("inspect", "--format", f"{{{{{field}}}}}", self.name)

    def answers(self, path: str) -> bool:
        try:
            return httpx.get(self.url + path, timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> threading.Thread:
        """Have it end as an orchestrator does: SIGTERM, and SIGKILL after the grace."""
        stopping = threading.Thread(target=docker, args=("stop", "--time", str(GRACE), self.name))
        stopping.start()
        return stopping

    def log(self) -> str:
        done = subprocess.run(["docker", "logs", self.name], capture_output=True, text=True, check=False)  # noqa: S607
        return done.stdout + done.stderr


class Images:
    """Runs the images with secrets as files."""

    def __init__(self, secrets_folder: Path) -> None:
        self.secrets = secrets_folder
        self._names: list[str] = []
        self._image = f"traceline/{{}}:{software()}"

    def run_to_its_end(self, image: str, *command: str) -> str:
        return docker("run", "--rm", *self._options(image, {}), self._image.format(image), *command)

    def start(self, image: str, **settings: str) -> Container:
        """Start an app; it is ready when this returns."""
        port = free_port()
        container = Container(f"traceline-check-{secrets.token_hex(4)}", port)
        self._names.append(container.name)
        settings |= {"HTTP_HOST": "127.0.0.1", "HTTP_PORT": str(port)}
        options = ["--detach", "--name", container.name, *self._options(image, settings)]
        docker("run", *options, self._image.format(image))
        try:
            eventually(lambda: container.answers("/readyz"), f"{image} ready", seconds=STARTS_WITHIN)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{container.log()}") from None
        return container

    def remove(self) -> None:
        for name in self._names:
            docker("rm", "--force", "--volumes", name)

    def _options(self, image: str, settings: dict[str, str]) -> list[str]:
        settings = {"SECRETS_DIR": "/run/secrets", **settings}
        variables = [f"--env={name}={value}" for name, value in settings.items()]
        return [*LOCKED_IN, *variables, f"--volume={self.secrets / image}:/run/secrets:ro"]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    folder = tmp_path_factory.mktemp("secrets")
    with own_postgres() as server:
        _write(folder / "gateway", {"internal_signing_key": KEYS[GATEWAY]})
        shared = {
            "internal_trusted_keys": "\n".join(map(public_key, KEYS.values())),
            "default_admin_password": ADMIN_PASSWORD,
        }
        for service in SERVICES:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(f"{service}_service")))
            database = {"database_url": with_database(server.url, f"{service}_service")}
            _write(folder / f"{service}-service", shared | database)
        images = Images(folder)
        try:
            yield images
        finally:
            images.remove()


class System:
    """auth-service, catalog-service and a gateway, migrated and ready."""

    def __init__(self, images: Images) -> None:
        for service in SERVICES:
            images.run_to_its_end(f"{service}-service", "python", "-m", "chassis.migrations", f"{service}_service")
        self._images = images
        self.auth = images.start("auth-service", DEFAULT_ADMIN_EMAIL=ADMIN_EMAIL)
        self.catalog = images.start("catalog-service")
        self.gateway = self.new_gateway()

    def new_gateway(self) -> Container:
        # Two services are not here: nothing of this asks them.
        addresses = {"AUTH_URL": self.auth.url, "CATALOG_URL": self.catalog.url}
        addresses |= {"SUGGESTION_URL": self.auth.url, "NOTIFICATION_URL": self.auth.url}
        return self._images.start("gateway", **addresses)


@pytest.fixture(scope="module")
def system(images: Images) -> System:
    return System(images)


@pytest.fixture
def admin(system: System) -> Iterator[Traceline]:
    with Traceline(system.gateway.url) as anyone:
        if anyone.login(ADMIN_EMAIL, _OWN_PASSWORD).status_code == 401:
            change = {"current_password": ADMIN_PASSWORD, "new_password": _OWN_PASSWORD}
            first = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            assert first.get("/requirements").json()["code"] == "password_change_required"
            assert first.post("/auth/change-password", json=change).status_code == 204
        yield anyone.logged_in(ADMIN_EMAIL, _OWN_PASSWORD)


def test_probes_are_answered_and_the_image_says_that_it_is_well(system: System) -> None:
    for container in (system.auth, system.catalog, system.gateway):
        assert container.answers("/livez"), container.log()
        assert container.answers("/readyz"), container.log()
        eventually(lambda one=container: one.inspect(".State.Health.Status"), "a healthy state", equals="healthy")


def test_a_program_is_not_root_and_can_write_nowhere_but_in_tmp(system: System) -> None:
    for container in (system.auth, system.catalog, system.gateway):
        assert docker("exec", container.name, "id", "-u") == "10001"
        written = "touch /tmp/there && for place in /opt/traceline /etc /usr / /run/secrets; do touch $place/x; done"
        done = subprocess.run(
            ["docker", "exec", container.name, "sh", "-c", written],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.count("Read-only file system") == 5, done.stderr
        assert docker("exec", container.name, "sh", "-c", "grep CapEff /proc/1/status").split()[1].strip("0") == ""


def test_a_secret_is_in_no_variable_and_no_command_line(system: System) -> None:
    for container in (system.auth, system.catalog, system.gateway):
        shown = json.dumps(json.loads(docker("inspect", container.name))[0]["Config"])
        shown += docker("exec", container.name, "sh", "-c", "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ")
        assert ADMIN_PASSWORD not in shown
        assert "postgresql://" not in shown


def test_a_gateway_that_is_told_to_end_answers_the_request_under_way(system: System, admin: Traceline) -> None:
    gateway = system.new_gateway()
    body = json.dumps(requirement()).encode()
    head = f"POST {API}/requirements HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {admin.token}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=GRACE) as connection:
        connection.sendall(head.encode() + body[:10])
        # What was sent before the signal is under way once a later request was answered.
        assert gateway.answers("/livez")
        stopping = gateway.stop()
        eventually(lambda: not gateway.answers("/livez"), "the end of listening", seconds=GRACE)
        connection.sendall(body[10:])
        answer = connection.makefile("rb").read()
    stopping.join()
    assert answer.startswith(b"HTTP/1.1 201 "), answer
    assert gateway.inspect(".State.ExitCode") == "0", gateway.log()


def test_a_service_that_is_told_to_end_answers_the_request_under_way(
    images: Images, system: System, admin: Traceline
) -> None:
    catalog = system.catalog
    answers: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: answers.append(admin.post("/requirements", json=requirement())))
    with psycopg.connect(_database_url(images, "catalog")) as connection:
        connection.execute("LOCK TABLE requirements IN ACCESS EXCLUSIVE MODE")
        asking.start()
        eventually(
            lambda: connection.execute("SELECT pid FROM pg_locks WHERE NOT granted").fetchone(), "a request that waits"
        )
        stopping = catalog.stop()
        eventually(lambda: not catalog.answers("/livez"), "the end of listening", seconds=GRACE)
    asking.join()
    stopping.join()
    assert [answer.status_code for answer in answers] == [201]
    assert catalog.inspect(".State.ExitCode") == "0", catalog.log()


def _database_url(images: Images, service: str) -> str:
    return (images.secrets / f"{service}-service" / "database_url").read_text()


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)

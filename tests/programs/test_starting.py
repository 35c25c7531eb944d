"""Every program says in one sentence why it cannot start: it waits where that helps, and ends with 1 where not."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from acceptance.program import free_port
from acceptance.waiting import eventually
from chassis.admin.settings import address_of
from chassis.core.internal_tokens import GATEWAY, public_key
from chassis.core.settings import read
from chassis.core.start_failure import StartFailure
from chassis.core.version import software
from chassis.server.process.settings import addresses
from contracts.routes import SERVICES
from testing import PostgresServer, commands
from testing.certificates import Authority
from testing.internal import KEYS

PROGRAMS = [f"{service.package}.{part}" for service in SERVICES for part in ("app", "worker")]
PASSWORD = "not-for-the-log"
NOBODY = "http://127.0.0.1:1"

every_program = pytest.mark.parametrize("program", PROGRAMS)


def environment(**settings: str) -> dict[str, str]:
    """What any program needs, and nothing of what the tests were started with."""
    return {
        "PATH": os.environ["PATH"],
        "ENVIRONMENT": "development",
        "HTTP_PORT": str(free_port()),
        "INTERNAL_TRUSTED_KEYS": " ".join(map(public_key, KEYS.values())),
        "START_PATIENCE_SECONDS": "0",
        **{f"{service.context.upper()}_URL": NOBODY for service in SERVICES},
        "RABBITMQ_URL": f"amqp://traceline:{PASSWORD}@127.0.0.1:1/",
        **settings,
    }


def with_key(program: str, settings: Mapping[str, str]) -> dict[str, str]:
    """These settings and the key that a program signs with, if it has one and they do not say."""
    key = KEYS.get(program.partition(".")[0].replace("_", "-"))
    return {**({"INTERNAL_SIGNING_KEY": key} if key else {}), **settings}


@contextmanager
def program(name: str, settings: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A running program, killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", name],
        env=with_key(name, settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def refusal(name: str, settings: Mapping[str, str]) -> str:
    """The sentence with which a program refuses to start, after what it may have waited for."""
    return refusals(name, settings)[-1]


def refusals(name: str, settings: Mapping[str, str]) -> list[str]:
    """The sentences with which a program refuses to start."""
    code, output, log = commands.run(name, (), with_key(name, settings))
    assert code == 1, log
    assert PASSWORD not in output + log
    lines = [json.loads(line) for line in log.splitlines()]
    assert all("exception" not in line for line in lines), log
    assert lines[0]["message"].startswith(f"Started: Traceline {software()}, API v1"), "which version it was"
    assert ("schema" in lines[0]["message"]) == (name != "gateway.app")
    sentences: list[str] = [line["message"] for line in lines if line["level"] == "error"]
    assert all(sentence.endswith(".") for sentence in sentences)
    return sentences


def url_of(database: str, **parts: str) -> str:
    """The URL of a database, with another name, host, port, user or password."""
    return psycopg.conninfo.make_conninfo(database, **parts)


def test_a_missing_address_is_named(postgres: PostgresServer) -> None:
    settings = environment(DATABASE_URL=postgres.database("suggestion_service"))
    del settings["CATALOG_URL"]
    assert refusal("suggestion_service.app", settings) == "The setting CATALOG_URL is missing."
    del settings["AUTH_URL"]
    assert refusals("gateway.app", settings) == [
        "The setting AUTH_URL is missing.",
        "The setting CATALOG_URL is missing.",
    ]


def test_one_setting_says_where_all_services_are_and_their_own_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = addresses(["auth-service", "catalog-service"])
    monkeypatch.setenv("SERVICE_URL", "https://{service}:8000")
    monkeypatch.setenv("CATALOG_URL", NOBODY)
    assert read(settings).model_dump(exclude={"service_url"}) == {
        "auth_url": "https://auth-service:8000",
        "catalog_url": NOBODY,
    }
    assert [address_of(source) for source in ("auth", "catalog")] == ["https://auth-service:8000", NOBODY]
    monkeypatch.setenv("SERVICE_URL", "https://services:8000")
    with pytest.raises(StartFailure, match=r"SERVICE_URL is wrong: it must have \{service\} where the name"):
        read(settings)


@every_program
def test_all_that_is_wrong_is_told_at_once(program: str) -> None:
    wrong = {"HTTP_PORT": "http", "DATABASE_POOL_SIZE": "0", "ENVIRONMENT": "test"}
    assert refusals(program, environment(**wrong)) == [
        "The setting HTTP_PORT is 'http': it must be a whole number.",
        "The setting ENVIRONMENT is 'test': it must be 'development' or 'production'.",
        "The setting DATABASE_URL is missing.",
        "The setting DATABASE_POOL_SIZE is '0': it must be 1 or more.",
    ]


def test_a_setting_that_makes_no_sense_is_named_and_not_shown() -> None:
    sentence = refusal("catalog_service.worker", environment(DATABASE_URL=NOBODY, INTERNAL_SIGNING_KEY=PASSWORD[:5]))
    assert "INTERNAL_SIGNING_KEY" in sentence
    assert PASSWORD[:5] not in sentence


def test_keys_that_are_not_a_programs_own_or_not_all_of_its_callers_are_told() -> None:
    settings = environment(DATABASE_URL=NOBODY, INTERNAL_SIGNING_KEY=KEYS["catalog-service"])
    named = "The setting INTERNAL_SIGNING_KEY is of catalog-service, and this is"
    assert refusal("gateway.app", settings) == f"{named} gateway."
    assert refusal("suggestion_service.worker", settings) == f"{named} suggestion-service."
    settings = environment(DATABASE_URL=NOBODY, INTERNAL_TRUSTED_KEYS=public_key(KEYS[GATEWAY]))
    assert refusal("catalog_service.app", settings) == (
        "The setting INTERNAL_TRUSTED_KEYS has no key of notification-service, suggestion-service, by which"
        " catalog-service is called."
    )


def test_nobody_in_particular_is_no_proxy_to_trust() -> None:
    """With a star whoever calls could say from where, and guess passwords from everywhere."""
    assert refusal("gateway.app", environment(FORWARDED_ALLOW_IPS="127.0.0.1,*")) == (
        "The setting FORWARDED_ALLOW_IPS is '127.0.0.1,*': * is neither an address nor a network, as 10.0.0.5 and"
        " 10.0.0.0/8 are, with commas between."
    )


@every_program
def test_an_old_schema_is_waited_for_and_then_told(program: str, postgres: PostgresServer) -> None:
    assert "run the migrations" in refusal(program, environment(DATABASE_URL=postgres.empty_database()))


def test_a_metrics_port_in_use_is_told_before_anything_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        sentence = refusal("gateway.app", environment(METRICS_PORT=port, START_PATIENCE_SECONDS="600"))
    assert port in sentence
    assert "METRICS_PORT" in sentence


def test_a_database_that_is_away_is_waited_for_and_then_told() -> None:
    url = f"postgresql://traceline:{PASSWORD}@127.0.0.1:1/catalog"
    assert "The database cannot be reached" in refusal("catalog_service.app", environment(DATABASE_URL=url))


def test_a_database_that_does_not_exist_is_told_at_once(postgres: PostgresServer) -> None:
    missing = url_of(postgres.empty_database(), dbname="nowhere")
    settings = environment(DATABASE_URL=missing, START_PATIENCE_SECONDS="600")
    assert "does not exist" in refusal("catalog_service.worker", settings)


def test_an_address_that_is_none_is_told_at_once() -> None:
    settings = environment(DATABASE_URL=f"my database, {PASSWORD}", START_PATIENCE_SECONDS="600")
    assert "DATABASE_URL is no address" in refusal("catalog_service.app", settings)


@pytest.mark.parametrize("url", [f"http://traceline:{PASSWORD}@127.0.0.1/", PASSWORD, "amqp://", "amqp://here:port/"])
def test_a_broker_address_that_is_none_is_told_at_once(url: str, postgres: PostgresServer) -> None:
    settings = environment(DATABASE_URL=postgres.database("catalog_service"), RABBITMQ_URL=url)
    assert "RABBITMQ_URL" in refusal("catalog_service.worker", settings)


def test_a_broker_that_is_away_is_waited_for_as_long_as_it_takes(postgres: PostgresServer) -> None:
    settings = environment(DATABASE_URL=postgres.database("catalog_service"))
    with program("catalog_service.worker", settings) as process:
        assert process.stderr is not None
        lines = (json.loads(line)["message"] for line in process.stderr)
        sentence = next(line for line in lines if "127.0.0.1:1" in line)
        assert PASSWORD not in sentence
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == 0


@pytest.mark.parametrize("part", ["app", "worker"])
def test_a_program_can_be_stopped_while_it_waits(part: str, postgres: PostgresServer) -> None:
    settings = environment(DATABASE_URL=postgres.empty_database(), START_PATIENCE_SECONDS="600")
    with program(f"auth_service.{part}", settings) as process:
        assert process.stderr is not None
        assert "Started" in process.stderr.readline()
        assert "Waiting" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == 0


def test_it_starts_as_soon_as_the_migrations_have_run(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    settings = environment(DATABASE_URL=url, START_PATIENCE_SECONDS="600")
    with program("auth_service.app", settings) as process:
        assert process.stderr is not None
        assert "Started" in process.stderr.readline()
        assert "run the migrations" in process.stderr.readline()
        subprocess.run(
            [sys.executable, "-m", "chassis.migrations", "auth_service"],
            env={**os.environ, "DATABASE_URL": url},
            check=True,
        )
        lines = iter(process.stderr.readline, "")
        assert any("default admin" in line for line in lines)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == 0


def test_a_newer_schema_serves_older_software(postgres: PostgresServer) -> None:
    url = postgres.database("catalog_service")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    settings = environment(DATABASE_URL=url)
    address = f"http://127.0.0.1:{settings['HTTP_PORT']}/readyz"
    with program("catalog_service.app", settings) as process:
        eventually(lambda: _status(address), "a service that is ready", equals=200)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == 0


def test_secrets_are_read_from_files(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("secrets")
    settings = environment(SECRETS_DIR=str(folder))
    (folder / "internal_trusted_keys").write_text(settings.pop("INTERNAL_TRUSTED_KEYS"))
    assert "DATABASE_URL is missing" in refusal("catalog_service.app", settings)
    (folder / "database_url").write_text(postgres.empty_database() + "\n")
    assert "run the migrations" in refusal("catalog_service.app", settings)
    assert "SECRETS_DIR" in refusal("catalog_service.app", settings | {"SECRETS_DIR": str(folder / "nowhere")})


@pytest.mark.long
def test_a_gateway_asks_a_service_over_tls_and_no_other(postgres: PostgresServer, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shown = authority.settings_of("localhost").model_dump(exclude={"tls_ca"})
    service = environment(
        DATABASE_URL=postgres.database("auth_service"), **{name.upper(): str(file) for name, file in shown.items()}
    )
    port = service["HTTP_PORT"]
    ways = {
        "right": (f"https://localhost:{port}", authority),
        "of another authority": (f"https://localhost:{port}", Authority(tmp_path, "other")),
        "in the clear": (f"http://localhost:{port}", authority),
    }
    gateways = {way: environment(AUTH_URL=url, TLS_CA=str(believed.file)) for way, (url, believed) in ways.items()}
    with ExitStack() as running:
        running.enter_context(program("auth_service.app", service))
        for settings in gateways.values():
            running.enter_context(program("gateway.app", settings))
        places = {way: f"http://127.0.0.1:{settings['HTTP_PORT']}" for way, settings in gateways.items()}
        # The gateway knows what it lets pass: its worker has read the service's feed.
        eventually(lambda: _status(f"{places['right']}/readyz"), "a gateway that is ready", equals=200)
        eventually(lambda: all(_status(f"{place}/livez") for place in places.values()), "the gateways")
        answers = {way: _status(f"{place}/api/v1/auth/ways-in") for way, place in places.items()}
        assert answers == {"right": 200, "of another authority": 503, "in the clear": 503}
        assert {_status(f"{places[way]}/readyz") for way in ways if way != "right"} == {503}


def _status(url: str) -> int:
    try:
        return httpx.get(url, timeout=2).status_code
    except httpx.TransportError:
        return 0

"""compose.yaml beside what it starts: nothing that a program needs is missing, nothing is said to nobody."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.fields import FieldInfo

from chassis.core.settings import is_secret
from chassis.server.process.settings import ProcessSettings
from contracts import routes
from manifests.environment import READ_BESIDES
from manifests.environment import settings_of as settings_read_by

FOLDER = Path(__file__).parents[1]
ROOT = FOLDER.parents[1]
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
IMAGE = re.compile(r"\$\{TRACELINE_IMAGES:-traceline\}/(?P<name>[a-z-]+):\$\{TRACELINE_VERSION:-(?P<version>[\d.]+)\}")


def image_of(service: dict[str, Any]) -> re.Match[str] | None:
    return IMAGE.fullmatch(service["image"])


OURS = {name: service for name, service in SERVICES.items() if image_of(service)}
THEIRS = {name: service for name, service in SERVICES.items() if name not in OURS}


def module_of(service: dict[str, Any]) -> str:
    """The module that `python -m` runs; without a command the image runs its service's app."""
    command = service.get("command", ["python", "-m", f"{image_of(service)['name'].replace('-', '_')}.app"])
    assert command[:2] == ["python", "-m"]
    return command[2]


def settings_of(service: dict[str, Any]) -> dict[str, FieldInfo]:
    return settings_read_by(module_of(service))


def files_of(service: dict[str, Any]) -> dict[str, str]:
    """What a service sees in /run/secrets: the name of each file there, and of the secret behind it."""
    listed = service.get("secrets", [])
    return dict((each, each) if isinstance(each, str) else (each["target"], each["source"]) for each in listed)


def variables_of(service: dict[str, Any]) -> set[str]:
    return set(service.get("environment", {}))


def files_named_by(service: dict[str, Any]) -> set[str]:
    """The files in /run/secrets that variables, commands and the like lead to."""
    said = json.dumps([service.get(part) for part in ("environment", "command")])
    return set(re.findall(r"/run/secrets/([\w.]+)", said))


def each(services: dict[str, dict[str, Any]]) -> list[Any]:
    return [pytest.param(service, id=name) for name, service in services.items()]


def test_every_service_is_migrated_served_and_worked_for() -> None:
    started = {module_of(service) for service in OURS.values()}
    migrated = {service["command"][3] for service in OURS.values() if module_of(service) == "chassis.migrations"}
    packages = {service.package for service in routes.SERVICES}
    assert started == {"gateway.app", "chassis.migrations"} | {
        f"{package}.{program}" for package in packages for program in ("app", "worker")
    }
    assert migrated == packages


@pytest.mark.parametrize("service", each(OURS))
def test_every_setting_that_a_program_requires_is_set(service: dict[str, Any]) -> None:
    required = {name for name, field in settings_of(service).items() if field.is_required()}
    given = {name.lower() for name in variables_of(service)} | set(files_of(service))
    if "service_url" in given:
        given |= {f"{each.context}_url" for each in routes.SERVICES}
    assert required <= given


@pytest.mark.parametrize("service", each(OURS))
def test_everything_set_is_read_by_the_program(service: dict[str, Any]) -> None:
    read = {*settings_of(service), *READ_BESIDES}
    assert {name.lower() for name in variables_of(service)} <= read
    assert set(files_of(service)) <= read | files_named_by(service)
    assert service["environment"]["SECRETS_DIR"] == "/run/secrets"


@pytest.mark.parametrize("service", each(OURS))
def test_what_is_secret_comes_as_a_file(service: dict[str, Any]) -> None:
    secret = {name.upper() for name, field in settings_of(service).items() if is_secret(field)}
    assert not variables_of(service) & (secret | {"DATABASE_URL", "RABBITMQ_URL"})


@pytest.mark.parametrize("service", each({name: each for name, each in SERVICES.items() if name != "rabbitmq"}))
def test_every_file_that_is_named_is_there(service: dict[str, Any]) -> None:
    assert files_named_by(service) <= set(files_of(service))


def test_the_broker_reads_files_that_are_there() -> None:
    settings = "".join((FOLDER / name).read_text() for name in ("rabbitmq.conf", "rabbitmq_tls.conf"))
    assert set(re.findall(r"/run/secrets/([\w.]+)", settings)) == set(files_of(SERVICES["rabbitmq"]))


def test_who_is_called_shows_the_certificate_of_its_name() -> None:
    for service in routes.SERVICES:
        files = files_of(SERVICES[service.name])
        assert files["certificate.crt"] == f"{service.context}_tls.crt"
        assert files["certificate.key"] == f"{service.context}_tls.key"
        assert {"TLS_CERTIFICATE", "TLS_KEY"} <= variables_of(SERVICES[service.name])


@pytest.mark.parametrize("service", each(OURS))
def test_every_program_believes_the_authority_alone(service: dict[str, Any]) -> None:
    environment = service["environment"]
    assert environment["PGSSLMODE"] == "verify-full"
    assert environment["PGSSLROOTCERT"] == "/run/secrets/internal_ca.crt"
    if module_of(service) != "chassis.migrations":
        assert environment["TLS_CA"] == "/run/secrets/internal_ca.crt"


def test_every_secret_is_used_and_every_one_used_is_there() -> None:
    assert {secret for service in SERVICES.values() for secret in files_of(service).values()} == set(COMPOSE["secrets"])


@pytest.mark.parametrize("service", each(SERVICES))
def test_no_variable_holds_a_password(service: dict[str, Any]) -> None:
    for name, value in service.get("environment", {}).items():
        assert "@" not in str(value) or name.endswith(("_EMAIL", "_FROM"))
        holds_one = re.search("PASS|SECRET|COOKIE|TOKEN", name) and not name.startswith("RATE_LIMIT_")
        assert not holds_one or str(value).startswith("/run/secrets")


def test_a_default_admin_of_ones_own_is_given_to_auth_service_alone() -> None:
    assert {name for name, s in SERVICES.items() if "default_admin_password" in files_of(s)} == {"auth-service"}


@pytest.mark.parametrize("service", each(SERVICES))
def test_every_service_says_whether_it_is_well_or_does_its_work_and_ends(service: dict[str, Any]) -> None:
    if service.get("restart") == "no":
        assert service["healthcheck"] == {"disable": True}
    elif image_of(service):
        assert "healthcheck" not in service, "the image knows how"
    else:
        assert service["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("service", each(SERVICES))
def test_every_service_is_locked_in(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "network_mode"} & set(service)


@pytest.mark.parametrize("service", each(THEIRS))
def test_no_image_of_others_runs_as_root_or_in_whatever_version_is_newest(service: dict[str, Any]) -> None:
    assert service["user"] not in {"root", "0"}
    _, colon, tag = service["image"].partition(":")
    assert colon
    assert "latest" not in tag


@pytest.mark.parametrize("service", each(OURS))
def test_an_image_of_ours_has_the_version_that_its_package_has(service: dict[str, Any]) -> None:
    image = image_of(service)
    assert image is not None
    project = tomllib.loads((ROOT / image["name"] / "pyproject.toml").read_text())["project"]
    assert image["version"] == project["version"]


def test_only_the_gateway_can_be_reached_and_only_from_this_machine() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"gateway"}
    assert {name for name, service in SERVICES.items() if "public" in service["networks"]} == {"gateway"}
    outbound = {name for name, service in SERVICES.items() if "outbound" in service["networks"]}
    assert outbound == {"auth-service", "auth-worker"}, "they call identity providers and servers for mails"
    assert COMPOSE["networks"]["internal"] == {"internal": True}
    assert SERVICES["gateway"]["ports"] == ["${TRACELINE_HOST:-127.0.0.1}:${TRACELINE_PORT:-8000}:8000"]


def test_the_services_addresses_are_names_of_the_services() -> None:
    for service in OURS.values():
        for name, value in service["environment"].items():
            if name.endswith("_URL") and name != "PUBLIC_URL":
                assert (name, value) == ("SERVICE_URL", "https://{service}:8000")
    assert {each.name for each in routes.SERVICES} <= set(SERVICES)


def test_suggestions_are_scored_by_two_workers() -> None:
    assert SERVICES["suggestion-worker"]["deploy"] == {"replicas": 2}


def test_the_containers_are_given_the_time_that_the_programs_take_to_end() -> None:
    grace = ProcessSettings.model_fields["shutdown_grace_seconds"].default
    for service in OURS.values():
        if service["restart"] != "no":
            assert int(service["stop_grace_period"].removesuffix("s")) > grace

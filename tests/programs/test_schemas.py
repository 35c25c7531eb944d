"""The schema of each service is what its models describe, and keeps projects apart; its programs need the newest."""

import runpy
from importlib import import_module
from importlib.resources import files
from itertools import pairwise

import psycopg
import pytest

from chassis import migrations
from chassis.server.service import service_of
from contracts.routes import SERVICES
from testing import PostgresServer, older, schema_differences
from testing.isolation import OF_THE_INSTALLATION, unwalled_tables
from testing.schemas import describe_schema

OWN = {
    "auth_service": {
        # Of people: who may see it is decided by who asks.
        *("users", "sessions", "ended_tokens", "second_factors", "identities", "begun_sign_ins", "used_logout_tokens"),
        *("api_tokens", "api_token_networks", "invitations", "password_resets", "asked_mails", "signing_keys"),
        *("login_attempts", "known_networks", "counted_actions"),
        # Which projects there are is asked across them.
        *("projects", "project_members", "service_accounts"),
    },
    "catalog_service": {
        "search_documents_due": "work that a migration leaves for all items",
    },
    "suggestion_service": {
        "embedding_model": "workers compute with one model for all projects",
    },
    "notification_service": {
        "recipients": "people are of the installation",
        "projects": "which projects there are is asked across them",
        "removed_projects": "of those there is nothing left",
        "members": "who may see which project is asked across them",
        "audit_sealing": "entries are sealed in the order of their ids, whose ever they are",
    },
}
"""Tables that no project owns, and why not."""

each_service = pytest.mark.parametrize("package", [service.package for service in SERVICES])


@each_service
def test_what_version_0_1_0_left_comes_to_the_schema_of_a_new_database(package: str, postgres: PostgresServer) -> None:
    url = postgres.older_database(package)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (older.SCHEMAS[package],)
    migrations.upgrade(package, url)
    assert describe_schema(url) == describe_schema(postgres.database(package))


@each_service
def test_the_schema_is_what_the_models_describe(package: str, postgres: PostgresServer) -> None:
    metadata = import_module(f"{package}.models").metadata
    assert schema_differences(postgres.database(package), metadata) == []


@each_service
def test_the_migrations_are_one_chain_by_their_numbers(package: str) -> None:
    paths = [path for path in files(package).joinpath("migrations", "versions").iterdir() if path.name[0].isdigit()]
    names = sorted(path.name for path in paths)
    assert [pair for pair in pairwise(names) if pair[0][:4] == pair[1][:4]] == [], "two have the same number"
    said = {path.name: runpy.run_path(str(path)) for path in paths}
    assert {name: said[name]["revision"] for name in names} == {name: name[:4] for name in names}
    before = dict(zip(names, [None, *(name[:4] for name in names)], strict=False))
    assert {name: said[name]["down_revision"] for name in names} == before


@each_service
def test_the_programs_need_the_newest_migration(package: str, postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.database(package)) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert row == (service_of(package).schema,)


@each_service
def test_every_table_keeps_projects_apart_but_those_of_the_installation(package: str, postgres: PostgresServer) -> None:
    assert unwalled_tables(postgres.database(package)) == {*OF_THE_INSTALLATION, *OWN.get(package, ())}

"""The command that brings a database to its schema, as operators run it."""

import os
import subprocess
import sys

import psycopg

from chassis.db.isolation import ACROSS, APP
from testing.postgres import PostgresServer


def migrate(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chassis.migrations", "auth_service"],
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def version(url: str) -> str:
    with psycopg.connect(url) as connection:
        (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(found)


def test_migrating_again_changes_nothing(postgres: PostgresServer) -> None:
    url = postgres.database("auth_service")
    before = version(url)
    done = migrate(url)
    assert done.returncode == 0, done.stderr
    assert version(url) == before


def test_a_newer_schema_stays_as_it_is(postgres: PostgresServer) -> None:
    url = postgres.database("auth_service")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    done = migrate(url)
    assert done.returncode == 0, done.stderr
    assert version(url) == "9999"


def test_who_holds_a_table_is_not_waited_for_until_requests_time_out(postgres: PostgresServer) -> None:
    url = postgres.database("auth_service")
    with psycopg.connect(url) as holding:
        holding.execute("LOCK TABLE alembic_version")
        done = migrate(url)
    assert done.returncode == 1
    assert done.stderr == "The database of auth_service cannot be migrated: canceling statement due to lock timeout.\n"


def test_tables_and_sequences_of_before_the_roles_can_be_used_by_them(postgres: PostgresServer) -> None:
    url = postgres.database("auth_service")
    with psycopg.connect(url, autocommit=True) as connection:
        for kind in ("TABLES", "SEQUENCES"):
            connection.execute(f"REVOKE ALL ON ALL {kind} IN SCHEMA public FROM {APP}, {ACROSS}")
    done = migrate(url)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(url) as connection:
        connection.execute(f"SET ROLE {APP}")
        connection.execute("SELECT FROM users")
        connection.execute("SELECT nextval(pg_get_serial_sequence('users', 'id'))")


def test_a_schema_of_before_version_0_1_0_is_not_taken_over(postgres: PostgresServer) -> None:
    url = postgres.older_database("auth_service")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0020'")
    done = migrate(url)
    assert done.returncode == 1
    assert done.stderr == (
        "The database of auth_service has schema 0020, older than that of version 0.1.0 (0021): start version 0.1.0"
        " with it once, then this version.\n"
    )
    assert version(url) == "0020"

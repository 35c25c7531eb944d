"""The migrations build what the models describe, and the app waits for the newest of them."""

import psycopg

from catalog_service.app import SCHEMA_VERSION
from catalog_service.models import metadata
from chassis.testing import PostgresServer, schema_differences


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("catalog_service"), metadata) == []


def test_the_app_needs_the_newest_migration(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.database("catalog_service")) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert row == (SCHEMA_VERSION,)

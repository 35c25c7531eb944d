"""The migrations build what the models describe, and the app waits for the newest of them."""

from importlib.resources import files

import psycopg
from alembic import command
from alembic.config import Config

from catalog_service.app import SCHEMA_VERSION
from catalog_service.models import metadata
from chassis import migrations
from chassis.testing import PostgresServer, schema_differences


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("catalog_service"), metadata) == []


def test_the_app_needs_the_newest_migration(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.database("catalog_service")) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert row == (SCHEMA_VERSION,)


def test_rows_of_an_older_schema_are_counted_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    older = Config(attributes={"database_url": url})
    older.set_main_option("script_location", str(files("catalog_service") / "migrations"))
    command.upgrade(older, "0002")
    insert = (
        "INSERT INTO requirements (id, title, description, type, priority, status, created_at, updated_at)"
        " SELECT gen_random_uuid(), 'Title', 'Text', 'technical', 'low', 'draft', now(), now()"
        " FROM generate_series(1, %s)"
    )
    with psycopg.connect(url) as connection:
        connection.execute(insert, (3,))
    migrations.upgrade("catalog_service", url)
    with psycopg.connect(url) as connection:
        connection.execute(insert, (2,))
        counts = connection.execute("SELECT table_name, sum(rows) FROM row_counts GROUP BY table_name").fetchall()
    assert dict(counts) == {"requirements": 5, "test_cases": 0, "links": 0}

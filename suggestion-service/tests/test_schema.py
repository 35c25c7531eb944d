"""The migrated database is what the models say."""

from importlib.resources import files

from chassis.testing import PostgresServer, schema_differences
from suggestion_service.app import SCHEMA_VERSION
from suggestion_service.models import metadata


def test_the_migrations_make_the_tables_of_the_models(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("suggestion_service"), metadata) == []


def test_the_app_waits_for_the_newest_migration() -> None:
    versions = files("suggestion_service").joinpath("migrations", "versions")
    newest = max(file.name for file in versions.iterdir() if file.name[:1].isdigit())
    assert newest.partition("_")[0] == SCHEMA_VERSION

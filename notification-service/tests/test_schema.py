"""The migrations build what the models describe, and the app waits for the newest."""

from alembic.config import Config
from alembic.script import ScriptDirectory

from chassis.testing import PostgresServer, schema_differences
from notification_service.app import SCHEMA_VERSION
from notification_service.models import metadata


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("notification_service"), metadata) == []


def test_the_app_needs_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "notification_service:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == SCHEMA_VERSION

"""The migrations build what the models describe, and the app asks for the newest of them."""

from importlib.resources import files

from alembic.config import Config
from alembic.script import ScriptDirectory

from auth_service.models import metadata
from auth_service.service import SERVICE
from testing import PostgresServer, schema_differences


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("auth_service"), metadata) == []


def test_the_app_needs_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(files("auth_service").joinpath("migrations")))
    assert ScriptDirectory.from_config(config).get_current_head() == SERVICE.schema

"""The migrations build what the models describe, and the app asks for the newest of them."""

from importlib.resources import files

from alembic.config import Config
from alembic.script import ScriptDirectory

from auth_service.models import metadata
from auth_service.service import SERVICE
from testing import PostgresServer, schema_differences
from testing.isolation import OF_THE_INSTALLATION, unwalled_tables

OF_ACCOUNTS = {
    *("users", "sessions", "ended_tokens", "second_factors", "identities", "begun_sign_ins", "used_logout_tokens"),
    *("api_tokens", "api_token_networks", "invitations", "password_resets", "asked_mails", "signing_keys"),
    *("login_attempts", "known_networks", "counted_actions"),
    *("projects", "project_members", "service_accounts"),  # which projects there are is asked across them
}
"""What no project owns: who may see it is decided by who asks."""


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("auth_service"), metadata) == []


def test_the_app_needs_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(files("auth_service").joinpath("migrations")))
    assert ScriptDirectory.from_config(config).get_current_head() == SERVICE.schema


def test_every_table_keeps_projects_apart_but_those_of_the_installation(postgres: PostgresServer) -> None:
    assert unwalled_tables(postgres.database("auth_service")) == OF_THE_INSTALLATION.keys() | OF_ACCOUNTS

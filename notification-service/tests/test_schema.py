"""The migrations build what the models describe, and the app waits for the newest."""

import psycopg
from alembic.config import Config
from alembic.script import ScriptDirectory

from chassis import migrations
from notification_service.models import metadata
from notification_service.service import SERVICE
from testing import PostgresServer, schema_differences
from testing.isolation import OF_THE_INSTALLATION, unwalled_tables


def test_the_migrations_build_what_the_models_describe(postgres: PostgresServer) -> None:
    assert schema_differences(postgres.database("notification_service"), metadata) == []


def test_the_app_needs_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "notification_service:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == SERVICE.schema


def test_rows_of_an_older_schema_are_counted_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("notification_service", url, to="0002")
    rows = (
        "INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at, read_at)"
        " SELECT gen_random_uuid(), n % 2, 'system', 'Title', 'Text', '{}', now(), CASE WHEN n = 1 THEN now() END"
        " FROM generate_series(1, 5) n",
        "INSERT INTO audit_entries (occurred_at, actor, action, resource_type, summary, request_id)"
        " SELECT '2026-01-31 12:00Z', 'ana', 'changed', CASE WHEN n = 1 THEN 'user' ELSE 'link' END, 'Text', ''"
        " FROM generate_series(1, 5) n",
    )
    with psycopg.connect(url) as connection:
        for statement in rows:
            connection.execute(statement)
    migrations.upgrade("notification_service", url)
    with psycopg.connect(url) as connection:
        for statement in rows:
            connection.execute(statement)
        notifications = connection.execute(
            "SELECT user_id, total, unread FROM notification_counts ORDER BY user_id"
        ).fetchall()
        entries = connection.execute("SELECT total, activity FROM audit_entry_counts").fetchall()
    assert notifications == [(0, 4, 4), (1, 6, 4)]
    assert entries == [(10, 8)]


def test_every_table_keeps_projects_apart_but_those_of_the_installation(postgres: PostgresServer) -> None:
    own = {
        "recipients": "people are of the installation",
        "projects": "which projects there are is asked across them",
        "removed_projects": "of those there is nothing left",
        "members": "who may see which project is asked across them",
        "audit_sealing": "entries are sealed in the order of their ids, whose ever they are",
    }
    assert unwalled_tables(postgres.database("notification_service")) == {*OF_THE_INSTALLATION, *own}

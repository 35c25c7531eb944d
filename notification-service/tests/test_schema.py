"""Data of an older schema is what the newest needs of it, once it is migrated."""

import psycopg

from chassis import migrations
from testing import PostgresServer


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


def test_entries_of_an_older_schema_are_found_by_their_items(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("notification_service", url, to="0015")
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO audit_entries (occurred_at, actor, action, resource_type, summary, request_id, details)"
            " VALUES (now(), 'ana', 'link.created', 'link', 'Text', '',"
            ' \'{"requirement_id": "r", "test_case_id": "t"}\'),'
            " (now(), 'ana', 'suggestion.generated', 'suggestion', 'Text', '', '{\"test_case_id\": \"t\"}'),"
            " (now(), 'ana', 'run.completed', 'run', 'Text', '', NULL)"
        )
    migrations.upgrade("notification_service", url)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT item_ids FROM audit_entries ORDER BY id").fetchall()
    assert found == [(["r", "t"],), (["t"],), (None,)]

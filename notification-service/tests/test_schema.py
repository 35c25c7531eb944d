"""What version 0.1.0 left is what this version needs of it, once it is migrated."""

import psycopg

from chassis import migrations
from testing import PostgresServer


def test_entries_of_an_older_schema_are_found_by_their_items(postgres: PostgresServer) -> None:
    url = postgres.older_database("notification_service")
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
        found = connection.execute("SELECT item_ids FROM audit_entries WHERE actor = 'ana' ORDER BY id").fetchall()
    assert found == [(["r", "t"],), (["t"],), (None,)]

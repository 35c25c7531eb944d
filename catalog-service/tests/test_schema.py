"""Data of an older schema is what the newest needs of it, once it is migrated."""

import psycopg

from chassis import migrations
from testing import PostgresServer


def test_rows_of_an_older_schema_are_counted_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("catalog_service", url, to="0002")
    insert = (
        "INSERT INTO requirements (id, title, description, type, priority, status, created_at, updated_at)"
        " SELECT gen_random_uuid(), 'Title', 'Text', 'technical', 'low', 'draft', now(), now()"
        " FROM generate_series(1, %s)"
    )
    with psycopg.connect(url) as connection:
        connection.execute(insert, (3,))
    migrations.upgrade("catalog_service", url, to="0036")
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE row_counts SET rows = rows - 1")  # as what another project deleted made it
    migrations.upgrade("catalog_service", url)
    with psycopg.connect(url) as connection:
        connection.execute(insert, (2,))
        counts = connection.execute(
            "SELECT table_name, sum(rows) FROM row_counts GROUP BY table_name HAVING sum(rows) > 0"
        ).fetchall()
    assert dict(counts) == {"requirements": 5}


def test_links_of_an_older_schema_are_counted_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("catalog_service", url, to="0003")
    with psycopg.connect(url) as connection:
        for table, more, values in (("requirements", "", ""), ("test_cases", ", automation_status", ", 'manual'")):
            connection.execute(
                f"INSERT INTO {table} (id, title, description, type, priority, status, created_at, updated_at{more})"
                f" SELECT gen_random_uuid(), n::text, 'Text', 'functional', 'low', 'draft', now(), now(){values}"
                " FROM generate_series(1, 3) n"
            )
        connection.execute(
            "INSERT INTO links (id, requirement_id, test_case_id, link_type, link_source, created_at,"
            " requirement_version, test_case_version)"
            " SELECT gen_random_uuid(), r.id, t.id, 'covers', 'manual', now(), 1, 1"
            " FROM requirements r, test_cases t WHERE r.title = '1' OR r.title = '2' AND t.title = '1'"
        )
    migrations.upgrade("catalog_service", url)
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM test_cases WHERE title = '3'")
        linked = connection.execute(
            "SELECT title, links FROM linked_requirements JOIN requirements ON id = requirement_id ORDER BY title"
        ).fetchall()
        counts = connection.execute(
            "SELECT table_name, sum(rows) FROM row_counts WHERE table_name LIKE 'linked%' GROUP BY table_name"
        ).fetchall()
    assert linked == [("1", 2), ("2", 1)]
    assert dict(counts) == {"linked_requirements": 2, "linked_test_cases": 2}


def test_links_of_an_older_schema_get_the_time_of_their_last_change(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("catalog_service", url, to="0005")
    with psycopg.connect(url) as connection:
        for table, more, values in (("requirements", "", ""), ("test_cases", ", automation_status", ", 'manual'")):
            connection.execute(
                f"INSERT INTO {table} (id, title, description, type, priority, status, created_at, updated_at{more})"
                f" SELECT gen_random_uuid(), n::text, 'Text', 'functional', 'low', 'draft', now(), now(){values}"
                " FROM generate_series(1, 3) n"
            )
        connection.execute(
            "INSERT INTO links (id, requirement_id, test_case_id, link_type, link_source, created_at, confirmed_at,"
            " notes, requirement_version, test_case_version)"
            " SELECT gen_random_uuid(), r.id, t.id, 'covers', 'manual', '2026-01-01',"
            " CASE WHEN r.title <> '1' THEN timestamptz '2026-01-02' END, r.title, 1, 1"
            " FROM requirements r JOIN test_cases t USING (title)"
        )
        connection.execute(
            "INSERT INTO outbox (event_id, wire_name, envelope) SELECT gen_random_uuid(), 'catalog.link.updated',"
            " json_build_object('subject', id, 'time', time) FROM links, (VALUES ('2026-01-04T00:00:00Z'),"
            " ('2026-01-03T00:00:00Z')) told (time) WHERE notes = '3'"
        )
    migrations.upgrade("catalog_service", url)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_char(updated_at, 'DD') FROM links ORDER BY notes").fetchall()
    assert found == [("01",), ("02",), ("04",)]


def test_mappings_of_an_older_schema_have_names_that_differ_by_more_than_case(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("catalog_service", url, to="0034")
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO import_mappings (id, name, mapping, created_by, created_at, updated_at)"
            " SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, name, '{}', 'kim', now(), now()"
            " FROM unnest(ARRAY['Jira', 'jira', 'Xray']) WITH ORDINALITY AS given (name, n)"
        )
    migrations.upgrade("catalog_service", url)
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT name FROM import_mappings ORDER BY id").fetchall()
    assert names == [("Jira",), ("jira 00000000",), ("Xray",)]

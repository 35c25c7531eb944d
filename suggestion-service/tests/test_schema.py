"""Data of an older schema is what the newest needs of it, once it is migrated."""

import psycopg

from chassis import migrations
from testing import PostgresServer


def test_suggestions_of_an_older_schema_are_counted_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("suggestion_service", url, to="0007")
    insert = (
        "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
        " created_at, requirement_text_sequence, test_case_text_sequence)"
        " SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0.5, 'hybrid', %s, now(), 1, 1"
        " FROM generate_series(1, %s)"
    )
    with psycopg.connect(url) as connection:
        for status, number in (("pending", 3), ("rejected", 2)):
            connection.execute(insert, (status, number))
    migrations.upgrade("suggestion_service", url)
    with psycopg.connect(url) as connection:
        connection.execute(insert, ("pending", 4))
        connection.execute(insert, ("accepted", 1))
        connection.execute("DELETE FROM suggestions WHERE status = 'rejected'")
        counts = connection.execute("SELECT status, sum(rows) FROM suggestion_counts GROUP BY status").fetchall()
    assert dict(counts) == {"pending": 7, "rejected": 0, "accepted": 1}


def test_what_is_pending_in_an_older_schema_is_told_when_it_is_migrated(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    migrations.upgrade("suggestion_service", url, to="0010")
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
            " created_at, requirement_text_sequence, test_case_text_sequence)"
            " SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0.5, 'hybrid', status, now(), 1, 1"
            " FROM generate_series(1, 600), (VALUES ('pending'), ('rejected'), ('expired')) AS given (status)"
        )
        pending = connection.execute(
            "SELECT requirement_id::text, test_case_id::text FROM suggestions WHERE status = 'pending' ORDER BY 1"
        ).fetchall()
    migrations.upgrade("suggestion_service", url)
    with psycopg.connect(url) as connection:
        told = connection.execute(
            "SELECT key, test_case_id FROM outbox, json_each(envelope::json -> 'data' -> 'pairs'),"
            " json_array_elements_text(value) AS test_case_id WHERE envelope::json -> 'data' ->> 'pending' = 'true'"
            " ORDER BY 1"
        ).fetchall()
        events = connection.execute("SELECT count(*) FROM outbox").fetchone()
    assert told == pending
    assert events == (2,), "500 pairs are told at once"


def test_projects_of_an_older_schema_are_to_have_new_scores_and_those_that_come_later_are_not(
    postgres: PostgresServer,
) -> None:
    url = postgres.empty_database()
    migrations.upgrade("suggestion_service", url, to="0018")
    put = "INSERT INTO corpus_head (project_id, only_row, head) VALUES (%s, true, 1)"
    with psycopg.connect(url) as connection:
        connection.execute(put, ("OLD",))
    migrations.upgrade("suggestion_service", url)
    with psycopg.connect(url) as connection:
        connection.execute(put, ("NEW",))
        assert connection.execute("SELECT project_id, position FROM outdated_scales").fetchall() == [("OLD", None)]

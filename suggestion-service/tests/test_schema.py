"""What version 0.1.0 left is what this version needs of it, once it is migrated."""

import psycopg

from chassis import migrations
from testing import PostgresServer


def test_projects_of_an_older_schema_are_to_have_new_scores_and_those_that_come_later_are_not(
    postgres: PostgresServer,
) -> None:
    url = postgres.older_database("suggestion_service")
    put = "INSERT INTO corpus_head (project_id, only_row, head) VALUES (%s, true, 1)"
    with psycopg.connect(url) as connection:
        connection.execute(put, ("OLD",))
    migrations.upgrade("suggestion_service", url)
    with psycopg.connect(url) as connection:
        connection.execute(put, ("NEW",))
        outdated = connection.execute("SELECT project_id, position FROM outdated_scales ORDER BY 1").fetchall()
    assert outdated == [("DEMO", None), ("OLD", None)]

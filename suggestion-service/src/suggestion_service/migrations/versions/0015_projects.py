"""Each row belongs to a project, and each project sees its own rows alone; what a project wants of suggestions.

Readers and writers wait while it runs, some seconds each 100,000 suggestions.
"""

import sqlalchemy as sa
from alembic import op

from chassis.db.isolation import add_project, isolate
from suggestion_service.embeddings import tables

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give what is there to MAIN, begin keys and indexes with the project, and put up the walls."""
    for table in TABLES:
        for statement in add_project(table):
            op.execute(statement)
    for table in ONE_ROW_A_PROJECT:
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT pk_{table},"
            f" ADD CONSTRAINT pk_{table} PRIMARY KEY (project_id, only_row)"
        )
    for statement in STATEMENTS:
        op.execute(statement)
    for table in (*TABLES, *NEW_TABLES):
        for statement in isolate(table):
            op.execute(statement)
    if op.get_bind().execute(sa.text("SELECT to_regclass('embeddings')")).scalar_one() is not None:
        for statement in tables.projects_apart():
            op.execute(statement)


TABLES = (
    "items",
    "corpus_head",
    "settlement",
    "import_items",
    "linked_pairs",
    "scoring_queue",
    "runs",
    "run_parts",
    "suggestions",
    "suggestion_counts",
    "accept_intents",
    "undo_intents",
    "reviews",
    "learning",
)
ONE_ROW_A_PROJECT = ("corpus_head", "settlement", "learning")
NEW_TABLES = ("embeddings_in_use", "projects")

STATEMENTS = (
    "DROP INDEX ix_items_change_id, ix_linked_pairs_requirement_id_test_case_id",
    "CREATE INDEX ix_items_project_id_change_id ON items (project_id, change, id)",
    "CREATE INDEX ix_linked_pairs_project_id_requirement_id_test_case_id"
    " ON linked_pairs (project_id, requirement_id, test_case_id) WHERE NOT deleted",
    "CREATE INDEX ix_scoring_queue_project_id_due_at ON scoring_queue (project_id, due_at)",
    "DROP INDEX ix_runs_created_at_id, ix_runs_unfinished, ix_reviews_undone_at",
    "CREATE INDEX ix_runs_project_id_created_at_id ON runs (project_id, created_at, id)",
    "CREATE INDEX ix_runs_unfinished ON runs (project_id, created_at) WHERE status IN ('queued', 'running')",
    "CREATE INDEX ix_reviews_project_id_undone_at ON reviews (project_id, undone_at)",
    "DROP INDEX ix_suggestions_requirement_id_test_case_id, ix_suggestions_test_case_id, ix_suggestions_created_at_id,"
    " ix_suggestions_similarity_score_id, ix_suggestions_status_similarity_score_id, ix_suggestions_relevance_id,"
    " ix_suggestions_withdrawn, ix_suggestions_reviewed",
    # With the status, filters by what the items are can be counted without reading the suggestions.
    "CREATE INDEX ix_suggestions_project_id_requirement_id_test_case_id"
    " ON suggestions (project_id, requirement_id, test_case_id) INCLUDE (status)",
    "CREATE INDEX ix_suggestions_project_id_test_case_id ON suggestions (project_id, test_case_id)",
    "CREATE INDEX ix_suggestions_project_id_created_at_id ON suggestions (project_id, created_at, id)",
    "CREATE INDEX ix_suggestions_project_id_similarity_score_id ON suggestions (project_id, similarity_score, id)",
    "CREATE INDEX ix_suggestions_project_id_status_similarity_score_id"
    " ON suggestions (project_id, status, similarity_score, id)",
    "CREATE INDEX ix_suggestions_project_id_relevance_id ON suggestions (project_id, relevance, id)",
    "CREATE INDEX ix_suggestions_withdrawn ON suggestions (project_id, requirement_id, test_case_id) WHERE withdrawn",
    "CREATE INDEX ix_suggestions_reviewed ON suggestions (project_id, reviewed_at)"
    " WHERE status IN ('accepted', 'rejected')",
    "CREATE INDEX ix_suggestion_counts_project_id_status ON suggestion_counts (project_id, status)",
    # Which vectors are used is a project's own; what workers compute with is the installation's.
    """
    CREATE TABLE embeddings_in_use (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        model text NOT NULL,
        CONSTRAINT pk_embeddings_in_use PRIMARY KEY (project_id)
    )
    """,
    "COMMENT ON TABLE embeddings_in_use IS 'the vectors of all items are there, and hybrid scores are made of them'",
    "INSERT INTO embeddings_in_use (project_id, model) SELECT 'MAIN', model FROM embedding_model"
    " WHERE in_use AND model IS NOT NULL",
    "COMMENT ON TABLE embedding_model IS 'what workers compute with: of the installation'",
    "COMMENT ON COLUMN embedding_model.in_use IS 'for software of before 0015: embeddings_in_use says it'",
    """
    CREATE TABLE projects (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        sequence bigint NOT NULL,
        deleted boolean NOT NULL,
        automatic_suggestions boolean,
        algorithm text,
        threshold double precision,
        CONSTRAINT pk_projects PRIMARY KEY (project_id),
        CONSTRAINT ck_projects_threshold CHECK (threshold BETWEEN 0 AND 1)
    )
    """,
    "COMMENT ON TABLE projects IS 'what projects want otherwise than the settings say; of deleted ones the tombstone'",
    "COMMENT ON COLUMN projects.sequence IS 'place in the feed of auth of the event that was applied last'",
    "DROP FUNCTION count_suggestions(text, bigint)",
    # A slot that no other transaction holds, else a new one: see 0008.
    """
    CREATE FUNCTION count_suggestions(of_project text, of_status text, more bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE suggestion_counts SET rows = rows + more WHERE slot = (
            SELECT slot FROM suggestion_counts WHERE project_id = of_project AND status = of_status
            ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO suggestion_counts (project_id, status, rows) VALUES (of_project, of_status, more);
        END IF;
    END
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION count_inserted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, count(*)) FROM inserted GROUP BY project_id, status;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION count_updated_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, sum(difference)::bigint) FROM (
            SELECT project_id, status, 1 AS difference FROM updated
            UNION ALL SELECT project_id, status, -1 FROM previous
        ) changes GROUP BY project_id, status HAVING sum(difference) <> 0;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION count_deleted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, -count(*)) FROM deleted GROUP BY project_id, status;
        RETURN NULL;
    END
    $$
    """,
    "DROP FUNCTION tell_pending_pairs(boolean, uuid[], uuid[])",
    # As `chassis.messaging.events.NewEvent` writes an event. 500 pairs each: see 0011.
    """
    CREATE FUNCTION tell_pending_pairs(of_project text, pending boolean, requirements uuid[], test_cases uuid[])
    RETURNS void LANGUAGE sql AS $$
        INSERT INTO outbox (project_id, event_id, wire_name, envelope)
        SELECT of_project, event_id, 'suggestion.pending_pairs.changed', json_build_object(
            'specversion', '1.0', 'id', event_id, 'source', '/traceline/suggestion',
            'type', 'suggestion.pending_pairs.changed', 'subject', 'pending_pairs',
            'time', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'datacontenttype', 'application/json', 'correlationid', '', 'actor', 'system', 'project', of_project,
            'data', json_build_object('pending', pending, 'pairs', pairs)
        )::text
        FROM (
            SELECT gen_random_uuid() AS event_id, json_object_agg(requirement_id, test_case_ids) AS pairs
            FROM (
                SELECT batch, requirement_id, json_agg(test_case_id) AS test_case_ids
                FROM (
                    SELECT *, (row_number() OVER (ORDER BY requirement_id) - 1) / 500 AS batch
                    FROM unnest(requirements, test_cases) AS pair (requirement_id, test_case_id)
                ) AS batched
                GROUP BY batch, requirement_id
            ) AS by_requirement
            GROUP BY batch ORDER BY batch
        ) AS events
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION tell_inserted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(project_id, true, array_agg(requirement_id), array_agg(test_case_id))
        FROM inserted WHERE status = 'pending' GROUP BY project_id;
        RETURN NULL;
    END
    $$
    """,
    # Not those that a review takes out of the queue: its own event names them.
    """
    CREATE OR REPLACE FUNCTION tell_updated_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(
            u.project_id, u.status = 'pending', array_agg(u.requirement_id), array_agg(u.test_case_id))
        FROM updated u JOIN previous p ON p.id = u.id
        WHERE u.status = 'pending' AND p.status <> 'pending' OR p.status = 'pending' AND u.status = 'expired'
        GROUP BY u.project_id, u.status;
        RETURN NULL;
    END
    $$
    """,
    # Of a project that is deleted everybody removes everything by themselves.
    """
    CREATE OR REPLACE FUNCTION tell_deleted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(project_id, false, array_agg(requirement_id), array_agg(test_case_id))
        FROM deleted WHERE status = 'pending' AND NOT EXISTS
            (SELECT FROM projects WHERE projects.project_id = deleted.project_id AND projects.deleted)
        GROUP BY project_id;
        RETURN NULL;
    END
    $$
    """,
)

"""The copy of the items, what is to be scored, runs, suggestions and their acceptance."""

from alembic import op

from chassis.messaging.migration import create_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the messaging tables and those of the review queue."""
    create_tables()
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE items (
        id uuid NOT NULL,
        side text NOT NULL,
        external_id text,
        title text NOT NULL,
        module text,
        tags text[] NOT NULL,
        priority text NOT NULL,
        text jsonb NOT NULL,
        terms jsonb NOT NULL,
        text_sequence bigint NOT NULL,
        sequence bigint NOT NULL,
        change bigint NOT NULL,
        deleted boolean NOT NULL,
        CONSTRAINT pk_items PRIMARY KEY (id),
        CONSTRAINT ck_items_side CHECK (side IN ('requirement', 'test_case'))
    )
    """,
    "CREATE INDEX ix_items_change_id ON items (change, id)",
    "COMMENT ON COLUMN items.sequence IS 'place in the feed of the event that was applied last: the order key'",
    "COMMENT ON COLUMN items.text_sequence IS 'place in the feed of the event that last changed the text'",
    "COMMENT ON COLUMN items.change IS 'corpus_head.head when what scoring reads was last changed'",
    # Whoever changes what scoring reads moves the head, whoever writes suggestions locks it: one at a time, and
    # changes commit in the order of their numbers.
    "CREATE TABLE corpus_head (only_row boolean CONSTRAINT pk_corpus_head PRIMARY KEY, head bigint NOT NULL)",
    "INSERT INTO corpus_head VALUES (true, 0)",
    """
    CREATE TABLE linked_pairs (
        link_id uuid NOT NULL,
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        sequence bigint NOT NULL,
        deleted boolean NOT NULL,
        CONSTRAINT pk_linked_pairs PRIMARY KEY (link_id)
    )
    """,
    "CREATE INDEX ix_linked_pairs_requirement_id_test_case_id ON linked_pairs (requirement_id, test_case_id)"
    " WHERE NOT deleted",
    """
    CREATE TABLE scoring_queue (
        item_id uuid NOT NULL,
        sequence bigint NOT NULL,
        actor_id bigint,
        actor_email text NOT NULL,
        correlation_id text NOT NULL,
        due_at timestamptz NOT NULL DEFAULT now(),
        claimed_until timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        CONSTRAINT pk_scoring_queue PRIMARY KEY (item_id)
    )
    """,
    "CREATE INDEX ix_scoring_queue_due_at ON scoring_queue (due_at)",
    """
    CREATE TABLE runs (
        id uuid NOT NULL,
        status text NOT NULL,
        algorithm text NOT NULL,
        threshold double precision NOT NULL,
        progress double precision NOT NULL DEFAULT 0,
        pairs_analyzed bigint NOT NULL DEFAULT 0,
        suggestions_created bigint NOT NULL DEFAULT 0,
        suggestions_skipped bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        created_by text NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        error text,
        actor_id bigint,
        correlation_id text NOT NULL,
        claim uuid,
        claimed_until timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        CONSTRAINT pk_runs PRIMARY KEY (id),
        CONSTRAINT ck_runs_status CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
        CONSTRAINT ck_runs_algorithm CHECK (algorithm IN ('tfidf', 'keyword', 'hybrid')),
        CONSTRAINT ck_runs_threshold CHECK (threshold BETWEEN 0 AND 1),
        CONSTRAINT ck_runs_progress CHECK (progress BETWEEN 0 AND 1)
    )
    """,
    "CREATE INDEX ix_runs_created_at_id ON runs (created_at, id)",
    "CREATE INDEX ix_runs_unfinished ON runs (created_at) WHERE status IN ('queued', 'running')",
    """
    CREATE TABLE suggestions (
        id uuid NOT NULL,
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        similarity_score double precision NOT NULL,
        suggestion_method text NOT NULL,
        suggestion_reason text,
        suggestion_metadata jsonb,
        status text NOT NULL,
        created_at timestamptz NOT NULL,
        reviewed_at timestamptz,
        reviewed_by varchar(100),
        feedback text,
        link_id uuid,
        run_id uuid,
        requirement_text_sequence bigint NOT NULL,
        test_case_text_sequence bigint NOT NULL,
        CONSTRAINT pk_suggestions PRIMARY KEY (id),
        CONSTRAINT ck_suggestions_similarity_score CHECK (similarity_score BETWEEN 0 AND 1),
        CONSTRAINT ck_suggestions_suggestion_method CHECK
            (suggestion_method IN ('semantic_similarity', 'keyword_match', 'heuristic', 'hybrid')),
        CONSTRAINT ck_suggestions_status CHECK (status IN ('pending', 'accepted', 'rejected', 'expired'))
    )
    """,
    "CREATE UNIQUE INDEX uq_suggestions_pending_pair ON suggestions (requirement_id, test_case_id)"
    " WHERE status = 'pending'",
    "CREATE INDEX ix_suggestions_requirement_id_test_case_id ON suggestions (requirement_id, test_case_id)",
    "CREATE INDEX ix_suggestions_test_case_id ON suggestions (test_case_id)",
    "CREATE INDEX ix_suggestions_created_at_id ON suggestions (created_at, id)",
    "CREATE INDEX ix_suggestions_similarity_score_id ON suggestions (similarity_score, id)",
    "COMMENT ON COLUMN suggestions.requirement_text_sequence IS"
    " 'items.text_sequence of the text that was scored, or reviewed'",
    "COMMENT ON COLUMN suggestions.test_case_text_sequence IS"
    " 'items.text_sequence of the text that was scored, or reviewed'",
    """
    CREATE TABLE accept_intents (
        suggestion_id uuid NOT NULL,
        reviewer_id bigint,
        reviewer_email text NOT NULL,
        feedback text,
        link_type text NOT NULL,
        correlation_id text NOT NULL,
        created_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        CONSTRAINT pk_accept_intents PRIMARY KEY (suggestion_id),
        CONSTRAINT fk_accept_intents_suggestion_id_suggestions FOREIGN KEY (suggestion_id)
            REFERENCES suggestions (id) ON DELETE CASCADE,
        CONSTRAINT ck_accept_intents_link_type CHECK (link_type IN ('covers', 'verifies', 'validates', 'related'))
    )
    """,
    "CREATE INDEX ix_accept_intents_due_at ON accept_intents (due_at)",
)

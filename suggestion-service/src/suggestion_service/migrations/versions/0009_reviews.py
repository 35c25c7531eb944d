"""Reviews by their ids, so that each can be undone, and the undoing that is under way."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add tables and columns, which programs of the version before leave empty; it takes a moment."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE reviews (
        id uuid NOT NULL,
        action text NOT NULL,
        suggestion_ids uuid[] NOT NULL,
        reviewed_by text NOT NULL,
        reviewed_at timestamptz NOT NULL,
        undone_at timestamptz,
        undone_by text,
        CONSTRAINT pk_reviews PRIMARY KEY (id),
        CONSTRAINT ck_reviews_action CHECK (action IN ('accept', 'reject'))
    )
    """,
    "COMMENT ON TABLE reviews IS 'one row a request; suggestions.review_id says which of them still stand'",
    "COMMENT ON COLUMN reviews.suggestion_ids IS 'in the order in which they were asked for'",
    "COMMENT ON COLUMN reviews.undone_at IS 'when some of it, or all, was last undone'",
    "CREATE INDEX ix_reviews_undone_at ON reviews (undone_at)",
    "ALTER TABLE suggestions ADD COLUMN review_id uuid, ADD COLUMN pending_since timestamptz",
    "COMMENT ON COLUMN suggestions.pending_since IS 'since when it is pending again; null: since created_at'",
    "ALTER TABLE accept_intents ADD COLUMN review_id uuid, ADD COLUMN link_id uuid",
    "COMMENT ON COLUMN accept_intents.link_id IS 'of an acceptance that was lost with an older backup'",
    """
    CREATE TABLE undo_intents (
        suggestion_id uuid NOT NULL,
        actor_id bigint,
        actor_email text NOT NULL,
        correlation_id text NOT NULL,
        created_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        CONSTRAINT pk_undo_intents PRIMARY KEY (suggestion_id),
        CONSTRAINT fk_undo_intents_suggestion_id_suggestions FOREIGN KEY (suggestion_id)
            REFERENCES suggestions (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_undo_intents_due_at ON undo_intents (due_at)",
)

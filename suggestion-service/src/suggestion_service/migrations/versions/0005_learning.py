"""Learning from reviews: an order of what is pending beside its score, why it is so, and whether it helps."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what reviews say of a suggestion, the order that follows, and what was measured last."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    # A generated column: it follows the score and the adjustment, whoever changes one of them.
    """
    ALTER TABLE suggestions ADD COLUMN review_adjustment double precision, ADD COLUMN review_evidence jsonb,
        ADD COLUMN relevance double precision GENERATED ALWAYS AS (
            ln((0.001::double precision + 0.98::double precision * similarity_score)
                / (0.999::double precision - 0.98::double precision * similarity_score))
            + coalesce(review_adjustment, 0::double precision)) STORED
    """,
    "COMMENT ON COLUMN suggestions.review_adjustment IS 'in log-odds; null where reviews say nothing, or do not help'",
    "CREATE INDEX ix_suggestions_relevance_id ON suggestions (relevance, id)",
    "CREATE INDEX ix_suggestions_reviewed ON suggestions (reviewed_at) WHERE status IN ('accepted', 'rejected')",
    """
    CREATE TABLE learning (
        only_row boolean NOT NULL,
        seen text NOT NULL,
        active boolean NOT NULL,
        since timestamptz,
        measured_at timestamptz,
        accepted integer NOT NULL,
        rejected integer NOT NULL,
        by_score double precision,
        with_reviews double precision,
        error double precision,
        CONSTRAINT pk_learning PRIMARY KEY (only_row)
    )
    """,
    "INSERT INTO learning (only_row, seen, active, accepted, rejected) VALUES (true, '', false, 0, 0)",
)

"""What is pending in suggestion-service, as its events tell; and coverage day by day, from now on."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty: the feed of suggestion-service fills the one, the days to come the other."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE pending_pairs (
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        pending boolean NOT NULL,
        sequence bigint NOT NULL,
        CONSTRAINT pk_pending_pairs PRIMARY KEY (requirement_id, test_case_id)
    )
    """,
    "COMMENT ON TABLE pending_pairs IS 'pairs that wait for a review, and tombstones of those that did'",
    "COMMENT ON COLUMN pending_pairs.sequence IS 'place of the event in the feed of suggestion-service'",
    "CREATE INDEX ix_pending_pairs_test_case_id ON pending_pairs (test_case_id) WHERE pending",
    """
    CREATE TABLE pending_pairs_state (
        only_row boolean NOT NULL,
        state uuid NOT NULL,
        CONSTRAINT pk_pending_pairs_state PRIMARY KEY (only_row)
    )
    """,
    "COMMENT ON TABLE pending_pairs_state IS 'another value after each change of pending_pairs'",
    "INSERT INTO pending_pairs_state VALUES (true, gen_random_uuid())",
    """
    CREATE TABLE coverage_days (
        overall boolean NOT NULL,
        module text NOT NULL,
        day date NOT NULL,
        total_requirements integer NOT NULL,
        covered_requirements integer NOT NULL,
        suspect_links bigint NOT NULL,
        CONSTRAINT pk_coverage_days PRIMARY KEY (overall, module, day)
    )
    """,
    "COMMENT ON TABLE coverage_days IS 'a row a day and module, as it was at the end of the day, UTC'",
    "COMMENT ON COLUMN coverage_days.module IS 'empty for what is in none, and for the whole record'",
)

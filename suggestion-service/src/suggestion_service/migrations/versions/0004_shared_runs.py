"""Runs shared among workers: the parts that a run is cut into, each claimed by one worker at a time."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of parts. A run that goes on has none, and is planned by whoever takes it up again."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE run_parts (
        run_id uuid NOT NULL,
        number integer NOT NULL,
        first_id uuid NOT NULL,
        until_id uuid,
        done boolean NOT NULL DEFAULT false,
        progress double precision NOT NULL DEFAULT 0,
        pairs_analyzed bigint NOT NULL DEFAULT 0,
        suggestions_created bigint NOT NULL DEFAULT 0,
        suggestions_skipped bigint NOT NULL DEFAULT 0,
        claim uuid,
        claimed_until timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        CONSTRAINT pk_run_parts PRIMARY KEY (run_id, number),
        CONSTRAINT fk_run_parts_run_id_runs FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT ck_run_parts_progress CHECK (progress BETWEEN 0 AND 1)
    )
    """,
    "COMMENT ON TABLE run_parts IS 'the parts of runs that have not ended'",
    "COMMENT ON COLUMN run_parts.first_id IS 'the part is the requirements with this id or a later one'",
    "COMMENT ON COLUMN run_parts.until_id IS '... and before this id; null: to the last'",
)

"""Uploads of results that go on after their first answer."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty."""
    for statement in (*STATEMENTS, *isolate("result_jobs")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE result_jobs (
        id uuid NOT NULL,
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        status text NOT NULL CONSTRAINT ck_result_jobs_status CHECK (status IN ('running', 'completed', 'failed')),
        created_at timestamptz NOT NULL,
        ended_at timestamptz,
        outcome json,
        claim uuid,
        claimed_until timestamptz,
        CONSTRAINT pk_result_jobs PRIMARY KEY (id)
    )
    """,
    "COMMENT ON TABLE result_jobs IS 'uploads of results that were answered before they were stored'",
    "COMMENT ON COLUMN result_jobs.outcome IS 'the answer without its run, whose id it has, or the problem'",
)

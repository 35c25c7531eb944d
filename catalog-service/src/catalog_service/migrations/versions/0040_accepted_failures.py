"""Failures that people know of and accept for a while."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty."""
    for statement in (*STATEMENTS, *isolate("accepted_failures")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE accepted_failures (
        id uuid NOT NULL,
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        test_id bigint,
        test_case_id uuid,
        reason text NOT NULL,
        until timestamptz NOT NULL,
        issue_url text,
        settled integer[] NOT NULL DEFAULT '{}',
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        ended_at timestamptz,
        ended_by text,
        ended_because text CONSTRAINT ck_accepted_failures_ended_because
            CHECK (ended_because IN ('until', 'no_longer_needed', 'person')),
        CONSTRAINT pk_accepted_failures PRIMARY KEY (id),
        CONSTRAINT fk_accepted_failures_test_id_automated_tests FOREIGN KEY (test_id)
            REFERENCES automated_tests (id) ON DELETE CASCADE,
        CONSTRAINT ck_accepted_failures_of_one CHECK (num_nonnulls(test_id, test_case_id) = 1)
    )
    """,
    "CREATE INDEX ix_accepted_failures_created_at_id ON accepted_failures (project_id, created_at DESC, id)",
    "CREATE UNIQUE INDEX uq_accepted_failures_test_id ON accepted_failures (project_id, test_id)"
    " WHERE ended_at IS NULL",
    "CREATE UNIQUE INDEX uq_accepted_failures_test_case_id ON accepted_failures (project_id, test_case_id)"
    " WHERE ended_at IS NULL",
    "COMMENT ON TABLE accepted_failures IS 'failures that people know of and accept until a time'",
    "COMMENT ON COLUMN accepted_failures.test_id IS 'the automated test, or else the test case'",
    "COMMENT ON COLUMN accepted_failures.settled IS"
    " 'branches, environments and lanes where it has passed three whole runs since: it is not accepted there any more'",
)

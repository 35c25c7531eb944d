"""What projects want of their record, as auth-service tells, and which are deleted."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty: the feed of auth-service fills it."""
    for statement in (*STATEMENTS, *isolate("projects")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE projects (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        sequence bigint NOT NULL,
        deleted boolean NOT NULL,
        removed boolean NOT NULL DEFAULT false,
        coverage_threshold double precision,
        CONSTRAINT pk_projects PRIMARY KEY (project_id),
        CONSTRAINT ck_projects_coverage_threshold CHECK (coverage_threshold BETWEEN 0 AND 1)
    )
    """,
    "COMMENT ON TABLE projects IS 'what projects want otherwise than the settings say; of deleted ones the tombstone'",
    "COMMENT ON COLUMN projects.sequence IS 'place in the feed of auth of the event that was applied last'",
    "COMMENT ON COLUMN projects.removed IS 'deleted, and nothing of it is left here'",
)

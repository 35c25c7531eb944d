"""Which proposals of agents have been applied."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty."""
    for statement in (*STATEMENTS, *isolate("applied_proposals")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE applied_proposals (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        proposal_id uuid NOT NULL,
        made_id uuid,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_applied_proposals PRIMARY KEY (proposal_id)
    )
    """,
    "COMMENT ON TABLE applied_proposals IS 'proposals that people accepted: each is applied once'",
    "COMMENT ON COLUMN applied_proposals.made_id IS 'of the item, link or relation that it made or changed'",
)

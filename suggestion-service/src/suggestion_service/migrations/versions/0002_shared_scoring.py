"""Scoring shared among workers: whose claim it is, what jobs were sent for, and how far everything is settled."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what the scoring queue, the copy of the items, and settling remember."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE scoring_queue ADD COLUMN claim uuid, ADD COLUMN announced_until timestamptz",
    "ALTER TABLE items ADD COLUMN actor_id bigint, ADD COLUMN actor_email text, ADD COLUMN correlation_id text",
    "COMMENT ON COLUMN items.actor_email IS 'who last changed what scoring reads; unknown before 0002'",
    "CREATE TABLE settlement (only_row boolean CONSTRAINT pk_settlement PRIMARY KEY, position bigint NOT NULL)",
    "COMMENT ON COLUMN settlement.position IS 'corpus_head.head up to which pending suggestions are complete'",
    "INSERT INTO settlement VALUES (true, 0)",
)

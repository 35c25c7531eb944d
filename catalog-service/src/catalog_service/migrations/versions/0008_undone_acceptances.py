"""Acceptances of suggestions that were undone."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE undone_acceptances (
        suggestion_id uuid NOT NULL,
        review_id uuid NOT NULL,
        CONSTRAINT pk_undone_acceptances PRIMARY KEY (suggestion_id, review_id)
    )
    """,
    "COMMENT ON TABLE undone_acceptances IS 'acceptances that make no link any more, however late they come again'",
)

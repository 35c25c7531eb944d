"""Scoring in the background goes on with the trace of the change that it is for."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which programs of the version before leave empty; it takes a moment."""
    op.execute("ALTER TABLE scoring_queue ADD COLUMN traceparent text")

"""The index by which a link knows the suggestion that it was accepted from."""

from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index."""
    op.execute("CREATE INDEX ix_accepted_suggestions_link_id ON accepted_suggestions (link_id)")

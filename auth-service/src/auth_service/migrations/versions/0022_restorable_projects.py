"""Deleted projects can be restored for some days."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Note until when; those that are deleted already are gone."""
    op.execute("ALTER TABLE projects ADD COLUMN restorable_until timestamptz")
    op.execute("COMMENT ON COLUMN projects.restorable_until IS 'of a deleted one that is not gone yet'")

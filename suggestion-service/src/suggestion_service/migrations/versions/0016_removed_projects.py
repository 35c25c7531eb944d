"""Of which deleted projects nothing is left: they are looked at no more."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it takes a moment."""
    op.execute("ALTER TABLE projects ADD COLUMN removed boolean NOT NULL DEFAULT false")
    op.execute("COMMENT ON COLUMN projects.removed IS 'deleted, and nothing of it is left here'")

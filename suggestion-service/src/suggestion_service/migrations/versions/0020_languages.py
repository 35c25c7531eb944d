"""The language that the terms of an item were counted in."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it takes a moment. 0019 has all texts read anew, which fills it."""
    op.execute("ALTER TABLE items ADD COLUMN language text")
    op.execute("COMMENT ON COLUMN items.language IS 'ISO 639-1, of the terms; unknown before 0020'")

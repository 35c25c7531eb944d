"""The language that a project says its texts are in."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it takes a moment."""
    op.execute("ALTER TABLE projects ADD COLUMN language text")
    op.execute(
        "COMMENT ON COLUMN projects.language IS 'ISO 639-1, of all texts; else each is read in the one that it shows'"
    )

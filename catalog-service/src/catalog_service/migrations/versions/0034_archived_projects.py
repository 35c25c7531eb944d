"""Whether a project is archived: what works on it for long, as an import does, ends then."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of projects that are archived already it is told with the next event about them."""
    op.execute("ALTER TABLE projects ADD COLUMN archived boolean NOT NULL DEFAULT false")
    op.execute("COMMENT ON COLUMN projects.archived IS 'nothing in it is changed any more'")

"""Lanes that the commits of a branch are to have, as a project wants it."""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what a project wants stands there with the next event about it."""
    op.execute("ALTER TABLE projects ADD COLUMN expected_lanes json")
    op.execute(
        "COMMENT ON COLUMN projects.expected_lanes IS 'lanes that commits of branches are to have, as its settings say'"
    )

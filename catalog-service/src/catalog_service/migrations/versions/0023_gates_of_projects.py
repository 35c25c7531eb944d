"""The rules of the gate that a project wants."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what a project wants stands there with the next event about it."""
    op.execute("ALTER TABLE projects ADD COLUMN gate json")
    op.execute("COMMENT ON COLUMN projects.gate IS 'rules of its gate, as its settings say'")

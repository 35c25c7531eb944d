"""Projects that are deleted and may be restored: nobody sees anything of them."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Note which these are."""
    op.execute("ALTER TABLE projects ADD COLUMN hidden boolean NOT NULL DEFAULT false")
    op.execute("COMMENT ON COLUMN projects.hidden IS 'deleted, and may be restored'")

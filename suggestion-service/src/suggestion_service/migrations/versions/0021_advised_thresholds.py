"""Which threshold would leave what a person can go through, worked out once at the end of a run."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it takes a moment."""
    op.execute("ALTER TABLE runs ADD COLUMN advised_threshold double precision")
    op.execute(
        "COMMENT ON COLUMN runs.advised_threshold IS 'would leave three a requirement, where more than ten are left'"
    )

"""What failed of a test when its failure was accepted.

Of what is accepted already nobody knows: it stays whatever fails of the test.
"""

from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE accepted_failures ADD COLUMN iterations text[]")
    op.execute(
        "COMMENT ON COLUMN accepted_failures.iterations IS"
        " 'hashes of the names of what failed of the test when it was accepted; null: whatever fails of it'"
    )

"""Which test cases are named by another branch than the default one, or by a selection of its tests alone.

Of what is there nobody knows: it stays as if the default branch had named it.
"""

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE automated_test_cases ADD COLUMN is_aside boolean NOT NULL DEFAULT false")
    op.execute(
        "COMMENT ON COLUMN automated_test_cases.is_aside IS"
        " 'named by another branch or a selection of tests alone, which takes nothing away'"
    )

"""No counts of each test and day: nothing reads them. The trend counts runs, which are kept."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop the table, which no version that was released has."""
    op.execute("DROP TABLE daily_counts")

"""What the feed is pruned by."""

from chassis.messaging.migration import create_pruning_tables

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; nothing of the feed is pruned yet."""
    create_pruning_tables()

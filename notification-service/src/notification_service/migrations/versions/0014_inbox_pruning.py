"""What an inbox needs to forget events that were received long ago."""

from chassis.messaging.migration import forget_received_events

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; nothing is forgotten yet."""
    forget_received_events()

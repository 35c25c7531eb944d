"""Events that erase people are found without reading the whole feed: the worker looks for them every few seconds."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Index them, of whom there are few."""
    op.execute("CREATE INDEX ix_outbox_user_erased ON outbox (id) WHERE wire_name = 'auth.user.erased'")

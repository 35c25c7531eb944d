"""The schema of version 0.1.0, the oldest that is taken over. A new database is made of the models instead."""

revision = "0015"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: what has this schema was made by version 0.1.0."""

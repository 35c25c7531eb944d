"""Who has a password that somebody else chose, and has to change it first."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the column; whoever is there keeps the password."""
    op.execute("ALTER TABLE users ADD COLUMN must_change_password boolean NOT NULL DEFAULT false")

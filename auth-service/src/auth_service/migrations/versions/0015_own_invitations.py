"""Invitations that nobody made: of people who register and have to show that the address is theirs."""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Let an invitation be without an admin who made it."""
    op.execute("ALTER TABLE invitations ALTER created_by DROP NOT NULL")
    op.execute("COMMENT ON COLUMN invitations.created_by IS 'an admin; null: whoever registered asked for it'")

"""The session that a browser has while somebody signs in at the identity provider, which ends with that."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the column; sign-ins that are under way end none."""
    op.execute("ALTER TABLE begun_sign_ins ADD COLUMN earlier_session text")
    op.execute("COMMENT ON COLUMN begun_sign_ins.earlier_session IS 'of this browser, which ends with the sign-in'")

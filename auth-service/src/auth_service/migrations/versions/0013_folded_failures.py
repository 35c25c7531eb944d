"""Failed log-ins that follow one another are told together."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column, empty."""
    op.execute("ALTER TABLE login_attempts ADD COLUMN untold jsonb")
    op.execute("COMMENT ON COLUMN login_attempts.untold IS 'the failure, until it is told with others like it'")
    op.execute("CREATE INDEX ix_login_attempts_untold ON login_attempts (at) WHERE untold IS NOT NULL")

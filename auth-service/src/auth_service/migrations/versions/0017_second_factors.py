"""Second factors of local accounts."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Create the table."""
    op.execute(
        """
        CREATE TABLE second_factors (
            user_id integer CONSTRAINT pk_second_factors PRIMARY KEY
                CONSTRAINT fk_second_factors_user_id_users REFERENCES users (id),
            secret text NOT NULL,
            confirmed_at timestamptz,
            last_step bigint NOT NULL DEFAULT 0,
            recovery_hashes text[] NOT NULL DEFAULT '{}'
        )
        """
    )
    op.execute("COMMENT ON COLUMN second_factors.secret IS 'of RFC 6238, in base 32: codes are worked out from it'")
    op.execute("COMMENT ON COLUMN second_factors.confirmed_at IS 'null: begun, and counts for nothing yet'")
    op.execute("COMMENT ON COLUMN second_factors.last_step IS 'the newest time step of which a code was used'")
    op.execute("COMMENT ON COLUMN second_factors.recovery_hashes IS 'SHA-256, in hexadecimal, of those left'")

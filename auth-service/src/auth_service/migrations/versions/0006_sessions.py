"""Who is logged in where; who logged in before is not listed until their session is renewed."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table, empty."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE sessions (
        id text CONSTRAINT pk_sessions PRIMARY KEY,
        user_id integer NOT NULL,
        created_at timestamptz NOT NULL,
        last_seen_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        address text NOT NULL,
        agent text NOT NULL,
        CONSTRAINT fk_sessions_user_id_users FOREIGN KEY (user_id) REFERENCES users (id)
    )
    """,
    "COMMENT ON COLUMN sessions.id IS 'the claim sid of its tokens'",
    "COMMENT ON COLUMN sessions.expires_at IS 'when the last of its tokens does'",
    "CREATE INDEX ix_sessions_user_id ON sessions (user_id)",
    "CREATE INDEX ix_sessions_expires_at ON sessions (expires_at)",
    "CREATE INDEX ix_sessions_last_seen_at ON sessions (last_seen_at)",
)

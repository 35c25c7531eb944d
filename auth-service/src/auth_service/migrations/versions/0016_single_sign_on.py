"""Who people are at an identity provider, sign-ins there that are under way, and the sessions there."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the tables, empty, and the column."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE identities (
        issuer text NOT NULL,
        subject text NOT NULL,
        user_id integer NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_identities PRIMARY KEY (issuer, subject),
        CONSTRAINT fk_identities_user_id_users FOREIGN KEY (user_id) REFERENCES users (id),
        CONSTRAINT uq_identities_user_id_issuer UNIQUE (user_id, issuer)
    )
    """,
    """
    CREATE TABLE begun_sign_ins (
        state_hash text NOT NULL,
        browser_hash text NOT NULL,
        return_to text NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT pk_begun_sign_ins PRIMARY KEY (state_hash)
    )
    """,
    "COMMENT ON COLUMN begun_sign_ins.state_hash IS 'SHA-256, in hexadecimal: the state itself is nowhere'",
    "COMMENT ON COLUMN begun_sign_ins.browser_hash IS 'of the secret in the cookie of whoever began it'",
    "CREATE INDEX ix_begun_sign_ins_expires_at ON begun_sign_ins (expires_at)",
    """
    CREATE TABLE used_logout_tokens (
        token_id text NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT pk_used_logout_tokens PRIMARY KEY (token_id)
    )
    """,
    "CREATE INDEX ix_used_logout_tokens_expires_at ON used_logout_tokens (expires_at)",
    "ALTER TABLE sessions ADD COLUMN provider_session text",
    """
    COMMENT ON COLUMN sessions.provider_session IS
        'its id at the identity provider, empty where that gives none; null: begun with a password'
    """,
    "CREATE INDEX ix_sessions_provider_session ON sessions (provider_session) WHERE provider_session IS NOT NULL",
)

"""From where API tokens were used: whoever uses one from elsewhere is told of in the audit log."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Create the table, empty."""
    op.execute(
        """
        CREATE TABLE api_token_networks (
            token_id integer NOT NULL,
            network text NOT NULL,
            at timestamptz NOT NULL,
            CONSTRAINT pk_api_token_networks PRIMARY KEY (token_id, network),
            CONSTRAINT fk_api_token_networks_token_id_api_tokens
                FOREIGN KEY (token_id) REFERENCES api_tokens (id) ON DELETE CASCADE
        )
        """
    )
    op.execute("COMMENT ON COLUMN api_token_networks.at IS 'of the last use from there, to the hour'")
    op.execute("CREATE INDEX ix_api_token_networks_at ON api_token_networks (at)")

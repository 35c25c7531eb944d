"""From where somebody has logged in to an account: such an address stays open while strangers guess."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table, empty."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE known_networks (
        account text NOT NULL,
        network text NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_known_networks PRIMARY KEY (account, network)
    )
    """,
    "COMMENT ON COLUMN known_networks.account IS 'the email of a user'",
    "CREATE INDEX ix_known_networks_at ON known_networks (at)",
)

"""What strangers do that is counted: registrations, so many an hour from one address."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table, empty."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE counted_actions (
        id bigint GENERATED ALWAYS AS IDENTITY,
        action text NOT NULL,
        network text NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_counted_actions PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX ix_counted_actions_action_network_at ON counted_actions (action, network, at)",
    "CREATE INDEX ix_counted_actions_at ON counted_actions (at)",
)

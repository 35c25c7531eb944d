"""Whether anybody has logged in from an address, whatever their account: asked when passwords have to wait."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the index; log-ins wait for it, much less than a second."""
    op.execute("CREATE INDEX ix_known_networks_network ON known_networks (network, at)")

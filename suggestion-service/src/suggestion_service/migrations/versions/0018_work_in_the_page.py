"""Whether somebody accepts or undoes in the page, so that they are not told as news what they have just seen."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_WHO = {"accept_intents": "reviewer", "undo_intents": "actor"}


def upgrade() -> None:
    """Add the columns."""
    for table, who in _WHO.items():
        comment = f"done in the page, by the {who}'s own hands"
        column = sa.Column("at_page", sa.Boolean, nullable=False, server_default=sa.false(), comment=comment)
        op.add_column(table, column)

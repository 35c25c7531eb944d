"""Room in the pages of rows of imports, each of which planning updates once."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave half of each new page free: a planned row beside the read one needs no new index entry."""
    op.execute("ALTER TABLE import_rows SET (fillfactor = 50)")

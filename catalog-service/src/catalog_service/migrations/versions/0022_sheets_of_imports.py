"""In which sheet of a workbook a row of an import stands."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE import_rows ADD COLUMN sheet text")
    op.execute("COMMENT ON COLUMN import_rows.sheet IS 'of a workbook'")

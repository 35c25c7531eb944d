"""Which pending suggestions of a requirement are of variants of one test case."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which takes a moment, and its index, which is empty. Scoring anew fills it."""
    op.execute("ALTER TABLE suggestions ADD COLUMN variant_group text")
    op.execute(
        "COMMENT ON COLUMN suggestions.variant_group IS 'of those of its requirement whose test cases are variants'"
    )
    op.execute(
        "CREATE INDEX ix_suggestions_variant_group ON suggestions (project_id, requirement_id, variant_group)"
        " WHERE variant_group IS NOT NULL"
    )

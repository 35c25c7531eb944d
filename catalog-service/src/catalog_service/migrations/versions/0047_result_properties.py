"""Properties of results that name test cases and requirements, as a project wants it."""

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what a project wants stands there with the next event about it."""
    op.execute("ALTER TABLE projects ADD COLUMN result_properties json")
    op.execute(
        "COMMENT ON COLUMN projects.result_properties IS 'what names test cases in results, as its settings say'"
    )

"""What in names of tests names test cases, as a project wants it, and names to try that on."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what a project wants stands there with the next event about it, a name with the next result."""
    op.execute("ALTER TABLE projects ADD COLUMN name_patterns json")
    op.execute(
        "COMMENT ON COLUMN projects.name_patterns IS 'what in names of tests names test cases, as its settings say'"
    )
    op.execute("ALTER TABLE automated_tests ADD COLUMN full_name text")
    op.execute(
        "COMMENT ON COLUMN automated_tests.full_name IS 'a name with parameters that it ran by, where it has any'"
    )

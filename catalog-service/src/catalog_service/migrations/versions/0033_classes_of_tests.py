"""Automated tests in the order of their classes alone: an entry a test took half of storing tests that are new."""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put the new index in the place of the old; the tests of a class are sorted by their names when they are read."""
    op.execute("CREATE INDEX ix_automated_tests_class_name ON automated_tests (project_id, class_name)")
    op.execute("DROP INDEX ix_automated_tests_name")

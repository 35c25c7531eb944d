"""Audit entries that are about many resources at once: one entry, found by each of them.

Writers wait while it runs, less than a second each million entries.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which only such entries have, and its index."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE audit_entries ADD COLUMN resource_ids text[]",
    "COMMENT ON COLUMN audit_entries.resource_ids IS 'of an entry that is about several; then resource_id is null'",
    "CREATE INDEX ix_audit_entries_resource_ids ON audit_entries USING gin (resource_ids)"
    " WHERE resource_ids IS NOT NULL",
)

"""Which items an audit entry is about beside its resource: links, reviews and imports are in an item's activity.

Writers wait while it runs, some seconds each 100,000 entries; readers do not.
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and its index; the entries that are there name their items in `details`."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE audit_entries ADD COLUMN item_ids text[]",
    "COMMENT ON COLUMN audit_entries.item_ids IS"
    " 'what activity finds it by beside its resource; says nothing of its own, and is not sealed'",
    # Nothing that is counted changes.
    "ALTER TABLE audit_entries DISABLE TRIGGER USER",
    """
    UPDATE audit_entries SET
        item_ids = array_remove(ARRAY[details ->> 'requirement_id', details ->> 'test_case_id'], NULL)
    WHERE resource_type IN ('link', 'suggestion')
        AND (details ->> 'requirement_id' IS NOT NULL OR details ->> 'test_case_id' IS NOT NULL)
    """,
    "ALTER TABLE audit_entries ENABLE TRIGGER USER",
    "CREATE INDEX ix_audit_entries_item_ids ON audit_entries USING gin (item_ids) WHERE item_ids IS NOT NULL",
)

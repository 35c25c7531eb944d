"""What imports have changed that are not told as a whole yet: it is scored together, at their end."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE import_items (
        import_id uuid NOT NULL,
        item_id uuid NOT NULL,
        settled boolean NOT NULL,
        noted_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_import_items PRIMARY KEY (import_id, item_id)
    )
    """,
    "COMMENT ON TABLE import_items IS 'items that say something new by an import whose end is not told yet'",
    "COMMENT ON COLUMN import_items.settled IS 'what was pending was complete just before'",
)

"""What taking back an applied proposal needs."""

from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, empty: what was applied before cannot be taken back."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    "ALTER TABLE applied_proposals ADD COLUMN undo json, ADD COLUMN undone json",
    "COMMENT ON COLUMN applied_proposals.undo IS 'what taking it back needs; null: it cannot be taken back'",
    "COMMENT ON COLUMN applied_proposals.undone IS 'what is another target since it was taken back; null: it is not'",
)

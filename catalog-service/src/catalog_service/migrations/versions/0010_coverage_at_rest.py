"""Since when a change of coverage waits to be judged."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, empty: nothing waits."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE coverage_state ADD COLUMN unjudged_since timestamptz",
    "ALTER TABLE coverage_state ADD COLUMN changed_at timestamptz",
    "ALTER TABLE coverage_state ADD COLUMN cause json",
    "COMMENT ON COLUMN coverage_state.unjudged_since IS 'of the first change since coverage was judged'",
    "COMMENT ON COLUMN coverage_state.changed_at IS 'of the last change since coverage was judged'",
    "COMMENT ON COLUMN coverage_state.cause IS 'what names the event of the last change'",
)

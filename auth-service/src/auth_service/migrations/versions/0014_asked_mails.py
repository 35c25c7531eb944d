"""Mails that somebody asked for and the worker has not sent."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the table, empty."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE asked_mails (
        id bigint GENERATED ALWAYS AS IDENTITY,
        kind text NOT NULL,
        email text NOT NULL,
        tries integer NOT NULL DEFAULT 0,
        due_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_asked_mails PRIMARY KEY (id)
    )
    """,
    "COMMENT ON COLUMN asked_mails.email IS 'as it was typed, of a user or of nobody'",
    "CREATE INDEX ix_asked_mails_due_at ON asked_mails (due_at)",
)

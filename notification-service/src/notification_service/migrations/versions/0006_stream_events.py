"""The events of the stream that those who are connected follow, kept for a while so that they can go on after a break.

An empty table: nobody waits.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE stream_events (
        position bigint GENERATED ALWAYS AS IDENTITY,
        name text NOT NULL,
        data json NOT NULL,
        stored_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_stream_events PRIMARY KEY (position)
    )
    """,
    "COMMENT ON COLUMN stream_events.position IS"
    " 'given under the lock of the inbox: in the order in which they become visible'",
)

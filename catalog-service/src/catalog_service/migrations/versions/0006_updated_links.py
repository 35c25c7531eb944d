"""When a link was changed last.

Who reads or writes links waits while it runs, some seconds each 100,000 of them.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the time; for programs that do not know it, it is that of making. Old links have theirs from the feed."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE links ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now()",
    """
    UPDATE links SET updated_at = greatest(links.created_at, links.confirmed_at, told.time)
    FROM links AS known LEFT JOIN (
        SELECT (envelope::json ->> 'subject')::uuid AS id, max((envelope::json ->> 'time')::timestamptz) AS time
        FROM outbox WHERE wire_name = 'catalog.link.updated' GROUP BY 1
    ) AS told USING (id)
    WHERE links.id = known.id
    """,
    "CREATE INDEX ix_links_updated_at_id ON links (updated_at DESC, id)",
)

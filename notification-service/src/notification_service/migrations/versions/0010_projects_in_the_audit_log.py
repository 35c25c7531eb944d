"""Audit entries of projects and their members, which are no work on items, and which activity does not show."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave such entries, of which there are none yet, out of the counts and the index of activity."""
    for statement in STATEMENTS:
        op.execute(statement)


_SHOWN = "resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL"
_COUNT = f"""
    INSERT INTO audit_entry_counts AS counted (hour, total, activity)
    SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, sum(n), coalesce(sum(n) FILTER (WHERE {_SHOWN}), 0)
    FROM ({{rows}}) changed
    GROUP BY hour
    HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE {_SHOWN}) <> 0
    ORDER BY hour
    ON CONFLICT (hour) DO UPDATE
    SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity
"""
_ADDED = "SELECT *, 1 AS n FROM added"
_REMOVED = "SELECT *, -1 AS n FROM removed"

STATEMENTS = (
    f"""
    CREATE OR REPLACE FUNCTION count_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
            {_COUNT.format(rows=_ADDED)};
        ELSIF TG_OP = 'UPDATE' THEN
            {_COUNT.format(rows=f"{_ADDED} UNION ALL {_REMOVED}")};
        ELSIF TG_OP = 'DELETE' THEN
            {_COUNT.format(rows=_REMOVED)};
        ELSE
            DELETE FROM audit_entry_counts;
        END IF;
        RETURN NULL;
    END
    $$
    """,
    "DROP INDEX ix_audit_entries_activity",
    f"CREATE INDEX ix_audit_entries_activity ON audit_entries (occurred_at, id) WHERE {_SHOWN}",
)

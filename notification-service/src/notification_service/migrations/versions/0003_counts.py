"""What every client asks again and again: how many notifications and audit entries there are, kept and not counted.

Writers wait while it runs, less than a second each 100,000 rows; readers do not.
"""

from alembic import op

from chassis.db.count_triggers import count_trigger

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count the rows, and keep the counts by triggers, which older programs cannot forget."""
    # Nobody else changes them until the counts are there and kept; in the order in which events are applied.
    op.execute("LOCK TABLE audit_entries, notifications IN SHARE ROW EXCLUSIVE MODE")
    for statement in STATEMENTS:
        op.execute(statement)
    for table in ("notifications", "audit_entries"):
        op.execute(count_trigger(table, "INSERT", f"count_{table}", new="added"))
        op.execute(count_trigger(table, "UPDATE", f"count_{table}", old="removed", new="added"))
        op.execute(count_trigger(table, "DELETE", f"count_{table}", old="removed"))
        op.execute(count_trigger(table, "TRUNCATE", f"count_{table}"))


# Room in the page for the versions to come: a row changes with each batch of events.
TABLES = (
    """
    CREATE TABLE notification_counts (
        user_id bigint NOT NULL,
        total bigint NOT NULL,
        unread bigint NOT NULL,
        CONSTRAINT pk_notification_counts PRIMARY KEY (user_id)
    ) WITH (fillfactor = 20)
    """,
    "COMMENT ON TABLE notification_counts IS 'how many notifications each user has; kept by triggers'",
    """
    CREATE TABLE audit_entry_counts (
        hour timestamptz NOT NULL,
        total bigint NOT NULL,
        activity bigint NOT NULL,
        CONSTRAINT pk_audit_entry_counts PRIMARY KEY (hour)
    ) WITH (fillfactor = 20)
    """,
    "COMMENT ON TABLE audit_entry_counts IS 'how many entries are of each hour; kept by triggers'",
    "COMMENT ON COLUMN audit_entry_counts.activity IS 'those that are not about accounts'",
)

# Always in the same order, so that no two writers wait for each other; what is as it was waits for nobody.
_COUNTS = {
    "notifications": """
        INSERT INTO notification_counts AS counted (user_id, total, unread)
        SELECT user_id, sum(n), coalesce(sum(n) FILTER (WHERE read_at IS NULL), 0)
        FROM ({rows}) changed
        GROUP BY user_id
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE read_at IS NULL) <> 0
        ORDER BY user_id
        ON CONFLICT (user_id) DO UPDATE
        SET total = counted.total + excluded.total, unread = counted.unread + excluded.unread
    """,
    "audit_entries": """
        INSERT INTO audit_entry_counts AS counted (hour, total, activity)
        SELECT date_trunc('hour', occurred_at, 'UTC') AS hour,
               sum(n), coalesce(sum(n) FILTER (WHERE resource_type <> 'user'), 0)
        FROM ({rows}) changed
        GROUP BY hour
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE resource_type <> 'user') <> 0
        ORDER BY hour
        ON CONFLICT (hour) DO UPDATE
        SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity
    """,
}
_KEPT = {"notifications": "notification_counts", "audit_entries": "audit_entry_counts"}

_ADDED = "SELECT *, 1 AS n FROM added"
_REMOVED = "SELECT *, -1 AS n FROM removed"


def _function(table: str) -> str:
    count = _COUNTS[table]
    return f"""
    CREATE FUNCTION count_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
            {count.format(rows=_ADDED)};
        ELSIF TG_OP = 'UPDATE' THEN
            {count.format(rows=f"{_ADDED} UNION ALL {_REMOVED}")};
        ELSIF TG_OP = 'DELETE' THEN
            {count.format(rows=_REMOVED)};
        ELSE
            DELETE FROM {_KEPT[table]};
        END IF;
        RETURN NULL;
    END
    $$
    """


STATEMENTS = (
    *TABLES,
    *(_function(table) for table in _COUNTS),
    *(count.format(rows=f"SELECT *, 1 AS n FROM {table}") for table, count in _COUNTS.items()),
)

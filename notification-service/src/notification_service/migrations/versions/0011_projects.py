"""Each row belongs to a project, and each project sees its own rows alone; who may see which project.

Readers and writers wait while it runs, some seconds each 100,000 entries.
"""

from alembic import op

from chassis.db.isolation import add_project, isolate

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give what is there to MAIN, begin keys and indexes with the project, and put up the walls."""
    for table in TABLES:
        for statement in add_project(table):
            op.execute(statement)
    for statement in STATEMENTS:
        op.execute(statement)
    for table in TABLES:
        for statement in isolate(table):
            op.execute(statement)


TABLES = ("notifications", "notification_counts", "audit_entries", "audit_entry_counts", "stream_events")

_COUNTS = {
    "notifications": """
        INSERT INTO notification_counts AS counted (project_id, user_id, total, unread)
        SELECT project_id, user_id, sum(n), coalesce(sum(n) FILTER (WHERE read_at IS NULL), 0)
        FROM ({rows}) changed
        GROUP BY project_id, user_id
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE read_at IS NULL) <> 0
        ORDER BY user_id, project_id
        ON CONFLICT (user_id, project_id) DO UPDATE
        SET total = counted.total + excluded.total, unread = counted.unread + excluded.unread
    """,
    "audit_entries": """
        INSERT INTO audit_entry_counts AS counted (project_id, hour, total, activity)
        SELECT project_id, date_trunc('hour', occurred_at, 'UTC') AS hour, sum(n),
            coalesce(sum(n) FILTER (WHERE {shown}), 0)
        FROM ({rows}) changed
        GROUP BY project_id, hour
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE {shown}) <> 0
        ORDER BY project_id, hour
        ON CONFLICT (project_id, hour) DO UPDATE
        SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity
    """,
}
_KEPT = {"notifications": "notification_counts", "audit_entries": "audit_entry_counts"}
_SHOWN = "resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL"
_ADDED = "SELECT *, 1 AS n FROM added"
_REMOVED = "SELECT *, -1 AS n FROM removed"


def _function(table: str) -> str:
    def count(rows: str) -> str:
        return _COUNTS[table].format(rows=rows, shown=_SHOWN)

    return f"""
    CREATE OR REPLACE FUNCTION count_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
            {count(_ADDED)};
        ELSIF TG_OP = 'UPDATE' THEN
            {count(f"{_ADDED} UNION ALL {_REMOVED}")};
        ELSIF TG_OP = 'DELETE' THEN
            {count(_REMOVED)};
        ELSE
            DELETE FROM {_KEPT[table]};
        END IF;
        RETURN NULL;
    END
    $$
    """


STATEMENTS = (
    "ALTER TABLE notification_counts DROP CONSTRAINT pk_notification_counts,"
    " ADD CONSTRAINT pk_notification_counts PRIMARY KEY (user_id, project_id)",
    "ALTER TABLE audit_entry_counts DROP CONSTRAINT pk_audit_entry_counts,"
    " ADD CONSTRAINT pk_audit_entry_counts PRIMARY KEY (project_id, hour)",
    *(_function(table) for table in _COUNTS),
    # Of a person's notifications there are few in each project. This one is for when a project goes.
    "CREATE INDEX ix_notifications_project_id ON notifications (project_id)",
    "CREATE INDEX ix_stream_events_project_id_position ON stream_events (project_id, position)",
    "DROP INDEX ix_audit_entries_occurred_at_id, ix_audit_entries_activity",
    "CREATE INDEX ix_audit_entries_project_id_occurred_at_id ON audit_entries (project_id, occurred_at, id)",
    f"CREATE INDEX ix_audit_entries_activity ON audit_entries (project_id, occurred_at, id) WHERE {_SHOWN}",
    *(
        statement
        for column in ("actor", "action", "resource_type", "resource_id")
        for statement in (
            f"DROP INDEX ix_audit_entries_{column}_occurred_at_id",
            f"CREATE INDEX ix_audit_entries_project_id_{column}_occurred_at_id"
            f" ON audit_entries (project_id, {column}, occurred_at, id)",
        )
    ),
    """
    CREATE TABLE projects (
        key text COLLATE "C" CONSTRAINT pk_projects PRIMARY KEY,
        visibility text NOT NULL,
        sequence bigint NOT NULL,
        deleted_at timestamptz
    )
    """,
    "COMMENT ON TABLE projects IS 'the projects of the installation, by which people may see what; with tombstones'",
    """
    CREATE TABLE removed_projects (
        key text COLLATE "C" CONSTRAINT pk_removed_projects PRIMARY KEY,
        removed_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "COMMENT ON TABLE removed_projects IS 'deleted projects of which nothing is left here'",
    "INSERT INTO projects (key, visibility, sequence) VALUES ('MAIN', 'open', 0)",
    """
    CREATE TABLE members (
        project_key text COLLATE "C" NOT NULL,
        user_id bigint NOT NULL,
        role text,
        sequence bigint NOT NULL,
        CONSTRAINT pk_members PRIMARY KEY (project_key, user_id)
    )
    """,
    "COMMENT ON TABLE members IS 'who is a member of which project of the installation; with tombstones'",
    "COMMENT ON COLUMN members.role IS 'null: no member any more'",
    "CREATE INDEX ix_members_user_id ON members (user_id)",
)

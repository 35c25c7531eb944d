"""Recipients, notifications, audit entries."""

from alembic import op

from chassis.messaging import migration as messaging_migration

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the messaging tables and those of this service."""
    messaging_migration.create_tables()
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE recipients (
        user_id bigint CONSTRAINT pk_recipients PRIMARY KEY,
        email text NOT NULL,
        full_name text NOT NULL,
        role text NOT NULL,
        is_active boolean NOT NULL,
        sequence bigint NOT NULL
    )
    """,
    """
    CREATE TABLE notifications (
        id bigint GENERATED ALWAYS AS IDENTITY,
        event_id uuid NOT NULL,
        user_id bigint NOT NULL,
        type text NOT NULL,
        title text NOT NULL,
        message text NOT NULL,
        data json NOT NULL,
        created_at timestamptz NOT NULL,
        read_at timestamptz,
        CONSTRAINT pk_notifications PRIMARY KEY (id),
        CONSTRAINT uq_notifications_event_id_user_id UNIQUE (event_id, user_id)
    )
    """,
    "CREATE INDEX ix_notifications_user_id_created_at_id ON notifications (user_id, created_at, id)",
    "CREATE INDEX ix_notifications_unread ON notifications (user_id, created_at, id) WHERE read_at IS NULL",
    """
    CREATE TABLE audit_entries (
        id bigint GENERATED ALWAYS AS IDENTITY,
        occurred_at timestamptz NOT NULL,
        actor text NOT NULL,
        actor_id bigint,
        action text NOT NULL,
        resource_type text NOT NULL,
        resource_id text,
        resource_title text,
        summary text NOT NULL,
        before json,
        after json,
        details json,
        request_id text NOT NULL,
        CONSTRAINT pk_audit_entries PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX ix_audit_entries_occurred_at_id ON audit_entries (occurred_at, id)",
    "CREATE INDEX ix_audit_entries_actor ON audit_entries (actor)",
    "CREATE INDEX ix_audit_entries_resource_id ON audit_entries (resource_id)",
)

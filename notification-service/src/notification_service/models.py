"""The tables of this service, for Alembic and for reading; the running service speaks SQL."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import new_metadata

metadata = new_metadata()

# A copy of auth's users; `sequence` is the place in auth's feed, by which the newest state wins.
recipients = sa.Table(
    "recipients",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("full_name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

notifications = sa.Table(
    "notifications",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("event_id", sa.Uuid, nullable=False),
    sa.Column("user_id", sa.BigInteger, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("read_at", sa.DateTime(timezone=True)),
    sa.UniqueConstraint("event_id", "user_id"),
)
sa.Index(None, notifications.c.user_id, notifications.c.created_at, notifications.c.id)
sa.Index(None, notifications.c.user_id, notifications.c.type, notifications.c.created_at, notifications.c.id)
sa.Index(
    "ix_notifications_unread",
    notifications.c.user_id,
    notifications.c.created_at,
    notifications.c.id,
    postgresql_where=notifications.c.read_at.is_(None),
)

notification_counts = sa.Table(
    "notification_counts",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("unread", sa.BigInteger, nullable=False),
    comment="how many notifications each user has; kept by triggers",
)

audit_entries = sa.Table(
    "audit_entries",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("resource_type", sa.Text, nullable=False),
    sa.Column("resource_id", sa.Text),
    sa.Column("resource_title", sa.Text),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("before", sa.JSON),
    sa.Column("after", sa.JSON),
    sa.Column("details", sa.JSON),
    sa.Column("request_id", sa.Text, nullable=False),
    sa.Column("gateway_request_id", sa.Text),
    sa.Column(
        "resource_ids",
        pg.ARRAY(sa.Text),
        comment="of an entry that is about several; then resource_id is null",
    ),
    sa.Column("batch_id", sa.Uuid, comment="of one of many changes by an import, which activity shows as one"),
)
sa.Index(
    None,
    audit_entries.c.resource_ids,
    postgresql_using="gin",
    postgresql_where=audit_entries.c.resource_ids.is_not(None),
)
sa.Index(None, audit_entries.c.occurred_at, audit_entries.c.id)
sa.Index(
    "ix_audit_entries_activity",
    audit_entries.c.occurred_at,
    audit_entries.c.id,
    postgresql_where=sa.and_(audit_entries.c.resource_type != "user", audit_entries.c.batch_id.is_(None)),
)
for _filter in ("actor", "action", "resource_type", "resource_id"):
    sa.Index(None, audit_entries.c[_filter], audit_entries.c.occurred_at, audit_entries.c.id)

audit_entry_counts = sa.Table(
    "audit_entry_counts",
    metadata,
    sa.Column("hour", sa.DateTime(timezone=True), primary_key=True),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("activity", sa.BigInteger, nullable=False, comment="those that activity shows"),
    comment="how many entries are of each hour; kept by triggers",
)

stream_events = sa.Table(
    "stream_events",
    metadata,
    sa.Column(
        "position",
        sa.BigInteger,
        sa.Identity(always=True),
        primary_key=True,
        comment="given under the lock of the inbox: in the order in which they become visible",
    ),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
)
